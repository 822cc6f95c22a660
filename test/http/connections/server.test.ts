import { execFileSync } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { clientRoutes } from '../../../api/clients/routes.ts';
import { numberEvents } from '../../../db/webhooks/event-sequencer.ts';
import { startApi, type TestApi } from '../../harness/api.ts';
import { dummyRoutes, gateOf } from '../../harness/http/dummy-routes.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';
import { until } from '../../harness/stage.ts';

let database: TestDatabase;
let api: TestApi;
const logLines: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase('api-server');
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      logLines.push(String(chunk));
      done();
    },
  });
  api = await startApi(database, {
    routes: dummyRoutes,
    logger: pino({ level: 'info' }, sink),
  });
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

function socketTo(target: TestApi): Promise<Socket> {
  const socket = connect(Number(new URL(target.url).port), '127.0.0.1');
  socket.on('error', () => {});
  return new Promise((resolve) => socket.once('connect', () => resolve(socket)));
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.once('close', () => resolve());
    socket.resume();
  });
}

function head(target: TestApi, lines: readonly string[]): string {
  const { token } = target.users.operator;
  const fixed = [
    'POST /things HTTP/1.1',
    'host: x',
    `authorization: Bearer ${token}`,
    'content-type: application/json',
  ];
  return `${[...fixed, ...lines].join('\r\n')}\r\n\r\n`;
}

/** Sends while the server accepts it, and returns the answer. */
async function pour(socket: Socket, chunk: Buffer, totalBytes: number): Promise<string> {
  let answer = '';
  socket.on('data', (data) => {
    answer += String(data);
  });
  for (let sent = 0; sent < totalBytes && !socket.destroyed && answer === ''; sent += chunk.length) {
    await new Promise<void>((resolve) => {
      socket.write(chunk, () => resolve());
    });
  }
  while (answer === '' && !socket.destroyed) await sleep(20);
  socket.destroy();
  return answer;
}

const BODY_BYTES = 100 * 1024 * 1024;

test('a body of 100 MB with its length announced is 413 before it is sent', async () => {
  const socket = await socketTo(api);
  socket.write(head(api, [`content-length: ${BODY_BYTES}`]));
  const answer = await pour(socket, Buffer.alloc(65_536, 0x20), BODY_BYTES);
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(answer).toContain('common.validation.limit_exceeded');
});

test('a body of 100 MB without a length is 413 after the first MiB, and memory stays flat', async () => {
  const before = process.memoryUsage().rss;
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(0x10000, 0x20), Buffer.from('\r\n')]);
  for (let round = 0; round < 5; round += 1) {
    const socket = await socketTo(api);
    socket.write(head(api, ['transfer-encoding: chunked']));
    expect(await pour(socket, chunk, BODY_BYTES)).toMatch(/^HTTP\/1\.1 413 /);
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
});

test('a body of just under 1 MiB is read', async () => {
  const { status, body } = await api.call('POST', '/things', `{"workflow":"${'x'.repeat(1_000_000)}","data":{}}`);
  expect(status).toBe(400);
  expect(body.messageParameters.slice(0, 2)).toEqual(['body', 'workflow']);
});

test('a caller that goes away in the middle of its body leaves nothing broken', async () => {
  for (let count = 0; count < 20; count += 1) {
    const socket = await socketTo(api);
    socket.write(`${head(api, ['content-length: 1000'])}{"workflow"`);
    await sleep(5);
    socket.destroy();
  }
  expect((await api.call('GET', '/things')).status).toBe(200);
});

test('slow headers, slow bodies and 1,000 idle sockets are closed, and others are answered meanwhile', async () => {
  // The limits of production, a tenth as long.
  const limits = { headersMs: 1_000, requestMs: 3_000, checkMs: 200 };
  const hurried = await startApi(database, { routes: dummyRoutes, users: api.users, limits });
  onTestFinished(() => hurried.stop());
  const idle = await Promise.all(Array.from({ length: 1_000 }, () => socketTo(hurried)));
  const slowHeaders = await socketTo(hurried);
  slowHeaders.write('GET /things HTTP/1.1\r\nhost: x\r\n');
  const dripHeaders = setInterval(() => slowHeaders.write('x-drip: 1\r\n'), 200);
  const slowBody = await socketTo(hurried);
  slowBody.write(`${head(hurried, ['content-length: 1000'])}{`);
  const dripBody = setInterval(() => slowBody.write(' '), 200);
  let answered = 0;
  let open = true;
  const others = (async () => {
    while (open) {
      expect((await hurried.call('GET', '/things')).status).toBe(200);
      answered += 1;
      await sleep(50);
    }
  })();
  // Bounded by the test's own limit: without the timeouts this never ends.
  await Promise.all([...idle, slowHeaders, slowBody].map(closed));
  open = false;
  clearInterval(dripHeaders);
  clearInterval(dripBody);
  await others;
  expect(answered).toBeGreaterThan(0);
});

/** Each idle socket takes a descriptor at both ends, and both are this process. */
function idleSocketsMax(): number {
  const limit = Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }));
  return Number.isNaN(limit) ? 5_000 : Math.min(5_000, Math.floor((limit - 1_000) / 2));
}

test('5,000 idle sockets, as far as the machine has descriptors, do not keep requests from being answered', async () => {
  // They stay for as long as the test needs them.
  const patient = { headersMs: 600_000, requestMs: 600_000, checkMs: 200 };
  const crowded = await startApi(database, { routes: dummyRoutes, users: api.users, limits: patient });
  const idle: Socket[] = [];
  try {
    while (idle.length < idleSocketsMax()) {
      idle.push(...(await Promise.all(Array.from({ length: 100 }, () => socketTo(crowded)))));
    }
    const body = { workflow: { code: 'direct' }, data: { thing: { amount: 1, currency: 'EUR' } } };
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        index % 2 === 0 ? crowded.call('GET', '/things') : crowded.call('POST', '/things', body),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 201]));
    expect(idle.filter((socket) => socket.destroyed)).toHaveLength(0);
  } finally {
    for (const socket of idle) socket.destroy();
    await crowded.stop();
  }
});

test('a connection stays open for longer than the minute after which load balancers give theirs up', async () => {
  const { headers } = await api.call('GET', '/things');
  const [, seconds] = /timeout=(\d+)/.exec(headers.get('keep-alive') ?? '') ?? [];
  expect(Number(seconds)).toBeGreaterThan(60);
});

test.each([
  ['no HTTP', 'hello\r\n\r\n', 400],
  ['headers of 100 kB', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(100_000)}\r\n\r\n`, 431],
  ['a header with a NUL', 'GET / HTTP/1.1\r\nhost: x\r\nx: a\0b\r\n\r\n', 400],
  ['two lengths', 'POST /things HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}', 400],
  [
    'a length and chunks',
    'POST /things HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
])('%s is rejected in the error shape, and the connection closed', async (_, request, status) => {
  const socket = await socketTo(api);
  let answer = '';
  socket.on('data', (data) => {
    answer += String(data);
  });
  socket.write(request);
  await closed(socket);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '').code).toBe('common.validation.field_invalid');
});

test.each(['GET http://[ HTTP/1.1', 'GET //evil/things HTTP/1.1', 'GET /things\\..\\x HTTP/1.1', 'GET * HTTP/1.1'])(
  '%s with odd targets and hosts is a 4xx',
  async (line) => {
    for (const host of ['x', '', 'a b', '[', 'x:99999', '%00']) {
      const socket = await socketTo(api);
      let answer = '';
      socket.on('data', (data) => {
        answer += String(data);
      });
      socket.write(`${line}\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
      await closed(socket);
      expect(answer).toMatch(/^HTTP\/1.1 4\d\d /);
    }
  },
);

test('readiness depends on Postgres, and shows Temporal and the calendars as information only', async () => {
  expect((await api.call('GET', '/health/live', undefined, { as: null })).status).toBe(200);
  const ready = await api.call('GET', '/health/ready', undefined, { as: null });
  expect(ready.status).toBe(200);
  expect(ready.body).toMatchObject({ status: 'ready', postgres: 'reachable', temporal: 'unreachable' });
  expect(Object.keys(ready.body.calendars)).toEqual(['gb', 'target', 'us-fed', 'cn', 'kr', 'jp']);
  expect(ready.body.calendars.gb).toEqual({
    publishedUntil: '2028-12-31',
    daysLeft: expect.any(Number),
    warning: Date.now() < Date.parse('2028-01-01') ? null : 'ends-soon',
  });
});

test('without Postgres: 503 with Retry-After and an error body, not ready, still alive', async () => {
  const away = await startApi({ ...database, url: 'postgres://unknown:x@127.0.0.1:9/none' }, { users: api.users });
  try {
    const { status, body, headers, text } = await away.call('GET', '/machine-users', undefined, { as: 'admin' });
    expect(status).toBe(503);
    expect(body.code).toBe('common.dependency.unavailable');
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(text).not.toMatch(/127\.0\.0\.1|unknown:|ECONN/);
    expect((await away.call('GET', '/health/ready', undefined, { as: null })).status).toBe(503);
    expect((await away.call('GET', '/health/live', undefined, { as: null })).status).toBe(200);
  } finally {
    await away.stop();
  }
});

test('on a read-only Postgres, such as a demoted primary: not ready, still alive, and ready again once it takes writes', async () => {
  const own = await createTestDatabase('read-only');
  const name = new URL(own.url).pathname.slice(1);
  const started = await startApi(own, { users: api.users });
  const readiness = async () => {
    const { status, body, headers } = await started.call('GET', '/health/ready', undefined, { as: null });
    expect((await started.call('GET', '/health/live', undefined, { as: null })).status).toBe(200);
    return { status, state: body.status, postgres: body.postgres, retryAfter: headers.get('retry-after') };
  };
  /** Sets what new sessions may do, and ends those that there are, as a failover does. */
  const turn = async (to: 'on' | 'off') => {
    await database.asOwner(`ALTER DATABASE ${name} SET default_transaction_read_only = ${to}`);
    await api.database.reader.statement('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [
      name,
    ]);
  };
  try {
    const ready = { status: 200, state: 'ready', postgres: 'reachable', retryAfter: null };
    const unavailable = { status: 503, state: 'unavailable', postgres: 'read-only', retryAfter: '2' };
    expect(await readiness()).toEqual(ready);
    await turn('on');
    await until(readiness, ({ postgres }) => postgres === 'read-only');
    for (let probe = 0; probe < 40; probe += 1) expect(await readiness()).toEqual(unavailable);
    // The sessions that began while the database was read-only stay open, and nothing ends them.
    await database.asOwner(`ALTER DATABASE ${name} SET default_transaction_read_only = off`);
    await until(readiness, ({ status }) => status === 200);
    for (let probe = 0; probe < 40; probe += 1) expect(await readiness()).toEqual(ready);
  } finally {
    await started.stop();
    await own.drop();
  }
});

test('metrics count requests by route and status, never by id', async () => {
  const id = api.users.viewer.id;
  await api.call('GET', `/machine-users/${id}`, undefined, { as: 'admin' });
  const text = await (await fetch(api.metricsUrl)).text();
  expect(text).toContain(
    'http_request_duration_seconds_count{method="GET",route="/machine-users/{machineUserId}",status="200"}',
  );
  for (const name of ['transitions_total', 'relay_lag_seconds', 'webhook_backlog'])
    expect(text).toContain(`# TYPE ${name}`);
  expect(text).not.toContain(id);
});

test('transitions are counted once their events are numbered, each once', async () => {
  const counted = async (): Promise<number> => {
    const text = await (await fetch(api.metricsUrl)).text();
    return Number(/^transitions_total\{module="clients",type="created"\} (\d+)$/m.exec(text)?.[1] ?? 0);
  };
  const before = await counted();
  const [postClient] = clientRoutes.filter(
    ({ contract }) => contract.method === 'POST' && contract.path === '/clients',
  );
  const example = postClient?.contract.examples.requests?.direct;
  const body = { workflow: { code: 'direct' }, data: example?.data };
  for (let count = 0; count < 3; count += 1) expect((await api.call('POST', '/clients', body)).status).toBe(201);
  await numberEvents(api.database, 100, null);
  expect(await counted()).toBe(before + 3);
  expect(await counted()).toBe(before + 3);
});

test('one wide log line per request, without bodies, query values or tokens', async () => {
  logLines.length = 0;
  const body = { workflow: { code: 'direct' }, data: { thing: { name: 'canary-name', amount: 1, currency: 'EUR' } } };
  await api.call('POST', '/things', body, { headers: { 'request-id': 'log-test' }, key: 'canary-key' });
  await api.call('GET', '/things?data.thing.status=canary-query');
  await api.call('GET', '/faults');
  const lines = logLines.map((line) => JSON.parse(line));
  const requests = lines.filter((line) => line.msg === 'request');
  expect(requests).toHaveLength(3);
  expect(requests[0]).toMatchObject({
    requestId: 'log-test',
    method: 'POST',
    route: '/things',
    status: 201,
    machineUserId: api.users.operator.id,
  });
  expect(requests[0].durationMs).toBeGreaterThan(0);
  const fault = lines.find((line) => line.msg === 'request failed');
  expect(fault.err.stack).toContain('dummy-routes');
  expect(logLines.join('')).not.toMatch(/canary|Bearer|eyJ/);
});

test('a rate limit rejects with 429 and Retry-After, per machine user', async () => {
  const limited = await startApi(database, {
    routes: dummyRoutes,
    users: api.users,
    configuration: (configuration) => ({ ...configuration, rateLimit: { requestsPerSecond: 2 } }),
  });
  try {
    const answers = await Promise.all(Array.from({ length: 8 }, () => limited.call('GET', '/things')));
    const rejected = answers.filter(({ status }) => status === 429);
    expect(rejected.length).toBeGreaterThanOrEqual(5);
    expect(rejected[0]?.body.code).toBe('common.rate.limited');
    expect(Number(rejected[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await limited.call('GET', '/things', undefined, { as: 'viewer' })).status).toBe(200);
  } finally {
    await limited.stop();
  }
});

test('a drain answers what is in flight, accepts nothing more and closes idle connections', async () => {
  const draining = await startApi(database, { routes: dummyRoutes, users: api.users });
  const idle = await socketTo(draining);
  const gate = gateOf('in flight');
  const thing = { name: 'in flight', amount: 1, currency: 'EUR' };
  const inFlight = draining.call('POST', '/things', { workflow: { code: 'direct' }, data: { thing } });
  await gate.reached;
  const stopped = draining.stop();
  const rejected = () =>
    fetch(`${draining.url}/health/live`).then(
      () => false,
      () => true,
    );
  while (!(await rejected())) await sleep(20);
  // It never sent a request, and does not hold the drain until everything is cut off.
  await closed(idle);
  gate.open();
  expect((await inFlight).status).toBe(201);
  await stopped;
});
