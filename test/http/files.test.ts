import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Logger, pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fileRoute } from '../../api/http/files/file-route.ts';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { until } from '../harness/stage.ts';

// A file that is sent while it is read: complete, or visibly truncated; never faster than its caller; only while its caller stays.

const CHUNK = 'x'.repeat(64 * 1024);
/** More than all buffers between the two processes' ends hold. */
const CHUNKS_ENDLESS = 100_000;

const seen = { asked: 0, isOver: false };

async function* endless(): AsyncGenerator<string> {
  try {
    for (seen.asked = 0; seen.asked < CHUNKS_ENDLESS; seen.asked += 1) yield CHUNK;
  } finally {
    seen.isOver = true;
  }
}

async function* broken(): AsyncGenerator<string> {
  yield 'the first half';
  throw new Error('the second half is lost');
}

async function* brokenAtOnce(): AsyncGenerator<string> {
  if (seen.isOver) yield '';
  throw new Error('nothing to send');
}

async function* whole(): AsyncGenerator<string> {
  yield 'a';
  yield 'ä';
}

const FILES = { endless, broken, 'broken-at-once': brokenAtOnce, whole };

const routes = Object.entries(FILES).map(([name, chunks]) =>
  fileRoute(
    {
      path: `/files/${name}`,
      operationId: `get-${name}`,
      summary: name,
      tag: 'Accounts',
      files: { 'text/plain': name },
    },
    async () => ({ mediaType: 'text/plain; charset=utf-8', name: `${name}.txt`, chunks: chunks() }),
  ),
);

let database: TestDatabase;
let api: TestApi;
const lines: Json[] = [];

function recorder(): Logger {
  return pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
}

beforeAll(async () => {
  database = await createTestDatabase('files');
  api = await startApi(database, { routes, logger: recorder() });
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

const get = (name: string) => {
  const headers = { authorization: `Bearer ${api.users.viewer.token}` };
  return fetch(`${api.url}/files/${name}`, { headers });
};
const logged = (name: string) =>
  lines.filter(({ route, msg }) => route === `/files/${name}` && msg === 'request').map(({ status }) => status);

const ended = (name: string) =>
  until(
    async () => logged(name).length,
    (count) => count === 1,
  );

test('a whole file arrives as it is, under its name, and is logged when it has', async () => {
  const answer = await get('whole');
  expect(await answer.text()).toBe('aä');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="whole.txt"');
  await ended('whole');
  expect(logged('whole')).toEqual([200]);
});

test.each(['broken', 'broken-at-once'])(
  'a failure in the middle of a file cuts the connection, and log and metrics show it (%s)',
  async (name) => {
    await expect(get(name).then((answer) => answer.text())).rejects.toThrow();
    await ended(name);
    expect(logged(name)).toEqual([500]);
    expect(lines.filter(({ msg }) => msg === 'request failed').length).toBeGreaterThan(0);
    const metrics = await (await fetch(api.metricsUrl)).text();
    expect(metrics).toMatch(new RegExp(`route="/files/${name}",status="500"`));
  },
);

test('a caller of HTTP/1.0, which could not detect a truncated file, gets none', async () => {
  const { hostname, port } = new URL(api.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write(
    `GET /files/whole HTTP/1.0\r\nhost: localhost\r\nauthorization: Bearer ${api.users.viewer.token}\r\n\r\n`,
  );
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.[01] 400 /);
  expect(answer).toContain('common.validation.field_invalid');
});

test('a file is read no faster than its caller takes it, and no further once the caller is gone', async () => {
  const headers = { authorization: `Bearer ${api.users.viewer.token}` };
  const call = request(`${api.url}/files/endless`, { headers }).end();
  const answer = await new Promise<NodeJS.ReadableStream & { destroy(): void }>((resolve) =>
    call.once('response', (response) => resolve(response.pause())),
  );
  let before = -1;
  const isStill = (asked: number) => {
    const is = asked > 0 && asked === before;
    before = asked;
    return is;
  };
  await until(async () => seen.asked, isStill);
  const filled = seen.asked;
  expect(filled).toBeLessThan(CHUNKS_ENDLESS / 10);
  answer.resume();
  await until(
    async () => seen.asked,
    (asked) => asked > filled + 10,
  );
  answer.destroy();
  await until(
    async () => seen.isOver,
    (isOver) => isOver,
  );
  expect(seen.asked).toBeLessThan(CHUNKS_ENDLESS);
  await ended('endless');
  expect(logged('endless')).toEqual([499]);
});
