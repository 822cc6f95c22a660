import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServerLimits } from '../../../api/http/connections/limits.ts';
import { fileRoute } from '../../../api/http/files/file-route.ts';
import type { Route } from '../../../api/http/route.ts';
import type { Configuration } from '../../../config/configuration.ts';
import { startApi, type TestApi } from '../../harness/api.ts';
import { nextStatus, requestHead, socketTo } from '../../harness/faults/sockets.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';

/** Callers that do not take their answers, or never stop sending, hold a connection for a limited time only. */

let database: TestDatabase;
let api: TestApi;
const running: TestApi[] = [];

beforeAll(async () => {
  database = await createTestDatabase('unread-answers');
  api = await startApi(database);
});

afterAll(async () => {
  for (const one of running) await one.stop();
  await api?.stop();
  await database?.drop();
});

async function withLimits(
  limits: Partial<ServerLimits>,
  connections: Partial<Configuration['connections']> = {},
  routes: readonly Route[] = [],
): Promise<TestApi> {
  const started = await startApi(database, {
    routes,
    users: api.users,
    configuration: (usual) => ({ ...usual, connections: { ...usual.connections, ...connections } }),
    limits: { checkMs: 50, ...limits },
  });
  running.push(started);
  return started;
}

const SCRIPT = requestHead('GET', '/docs/scalar.js', {});
const closed = (socket: Socket) =>
  new Promise<void>((resolve) => (socket.destroyed ? resolve() : socket.once('close', () => resolve())));

/** Sends without reading: it learns of the end of its connection when it writes. */
async function writeUntilClosed(socket: Socket, data: string): Promise<void> {
  socket.pause();
  const writing = setInterval(() => socket.write(data), 20);
  await closed(socket);
  clearInterval(writing);
}

test('100 connections that ask for a large answer again and again and read none of it are closed', async () => {
  const { url } = await withLimits({ stallMs: 300 });
  const sockets = await Promise.all(Array.from({ length: 100 }, () => socketTo(url)));
  await Promise.all(
    sockets.map((socket) => {
      socket.write(SCRIPT.repeat(20));
      return writeUntilClosed(socket, SCRIPT);
    }),
  );
  expect((await fetch(`${url}/health/live`)).status).toBe(200);
});

test('a connection that takes a few bytes of its answers at a time is closed when the time for one answer is over', async () => {
  const { url } = await withLimits({ stallMs: 600_000, answerMs: 300 });
  const socket = await socketTo(url);
  socket.write(SCRIPT.repeat(20));
  await writeUntilClosed(socket, SCRIPT);
});

const FILE_PART = 'x'.repeat(64 * 1024);
/** Far more than all buffers between the two ends hold. */
const FILE_PARTS = 192;

const exported = fileRoute(
  { path: '/files/long', operationId: 'get-long', summary: 'long', tag: 'Accounts', files: { 'text/plain': 'long' } },
  async () => ({ mediaType: 'text/plain', name: 'long.txt', chunks: parts() }),
);

async function* parts(): AsyncGenerator<string> {
  for (let at = 0; at < FILE_PARTS; at += 1) yield FILE_PART;
}

test('an export that is read slowly, longer than any other answer may take, arrives in full', async () => {
  const { url, users } = await withLimits({ stallMs: 100, answerMs: 100 }, {}, [exported]);
  const socket = await socketTo(url);
  const authorization = `Bearer ${users.viewer.token}`;
  let received = 0;
  socket.on('data', (data) => {
    received += data.length;
    socket.pause();
    setTimeout(() => socket.resume(), 20);
  });
  socket.write(requestHead('GET', '/files/long', { authorization, connection: 'close' }));
  await closed(socket);
  expect(received).toBeGreaterThan(FILE_PART.length * FILE_PARTS);
});

test('requests that are sent ahead are answered one at a time, in order', async () => {
  const socket = await socketTo(api.url);
  const paths = ['/health/live', '/nowhere', '/health/ready', '/things/none', '/docs/start.js', '/health/live'];
  let text = '';
  const answered = new Promise<void>((resolve) => {
    socket.on('data', (data) => {
      text += String(data);
      if (text.split('HTTP/1.1 ').length > paths.length) resolve();
    });
  });
  socket.write(paths.map((path, at) => requestHead('GET', path, { 'request-id': `ahead-${at}` })).join(''));
  await answered;
  socket.destroy();
  const ids = [...text.matchAll(/^request-id: (.*)\r$/gim)].map(([, id]) => id);
  expect(ids).toEqual(paths.map((_, at) => `ahead-${at}`));
});

test('hundreds of requests sent ahead on one connection end it', async () => {
  const socket = await socketTo(api.url);
  socket.resume();
  const isClosed = closed(socket);
  socket.write(requestHead('GET', '/health/ready', {}).repeat(500));
  await isClosed;
});

test('a connection whose caller never stops sending after a rejection is closed, by amount and by time', async () => {
  const head = requestHead('POST', '/clients', { 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
  const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
  const patient = await withLimits({ lingerMs: 600_000, lingerBytes: 256 * 1024 });
  const fast = await socketTo(patient.url);
  const rejectedFast = nextStatus(fast);
  fast.write(head + chunk);
  expect(await rejectedFast).toBe(401);
  const pouring = setInterval(() => fast.write(chunk), 5);
  await closed(fast);
  clearInterval(pouring);
  const brief = await withLimits({ lingerMs: 300 });
  const slow = await socketTo(brief.url);
  const rejectedSlow = nextStatus(slow);
  slow.write(head);
  expect(await rejectedSlow).toBe(401);
  const dripping = setInterval(() => slow.write('1\r\n \r\n'), 20);
  await closed(slow);
  clearInterval(dripping);
});

test('a request after an answer that closes the connection is not carried out', async () => {
  const socket = await socketTo(api.url);
  let text = '';
  socket.on('data', (data) => {
    text += String(data);
  });
  const ended = new Promise<void>((resolve) => socket.once('end', () => resolve()));
  socket.write(requestHead('POST', '/clients', { 'content-type': 'application/json', 'content-length': '5' }));
  await ended;
  socket.write(`hello${requestHead('GET', '/health/live', {})}`);
  socket.end();
  await closed(socket);
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401']);
});

test('an address without a valid token has so many connections at most, and those that carried one do not count', async () => {
  const { url, users } = await withLimits({}, { withoutTokenPerAddress: 3 });
  const known = await socketTo(url);
  const answered = nextStatus(known);
  const authorization = `Bearer ${users.operator.token}`;
  known.write(requestHead('GET', '/clients', { authorization }));
  expect(await answered).toBe(200);
  const strangers = await Promise.all(Array.from({ length: 3 }, () => socketTo(url)));
  const rejected = await socketTo(url);
  rejected.resume();
  await closed(rejected);
  expect([known, ...strangers].filter((socket) => socket.destroyed)).toEqual([]);
  strangers[0]?.destroy();
  // The server learns of that end in its own time.
  for (;;) {
    const next = await socketTo(url);
    const status = nextStatus(next);
    next.write(requestHead('GET', '/health/live', {}));
    const seen = await status;
    next.destroy();
    if (seen === 200) break;
  }
  for (const socket of [known, ...strangers]) socket.destroy();
});
