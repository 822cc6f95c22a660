import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient, type FinancialAccountsClient, type LogEntry } from '../../client/index.ts';
import { startApi, TEST_AUDIENCE, type TestApi } from '../harness/api.ts';
import {
  answered,
  cutAfter,
  cutBefore,
  cutWithin,
  doubled,
  type Fault,
  type FaultyServer,
  inTurn,
  passThrough,
  silent,
  silentAfter,
  startFaultyServer,
} from '../harness/faults/faulty-server.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

// The client before a server that cuts, delays and repeats: what is repeated has one effect, by the ledger.

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let server: FaultyServer;
let client: FinancialAccountsClient;
let clientId: string;
let source: string;
let destination: string;
const logged: LogEntry[] = [];

const PAID_IN = 1_000;
/** Of an attempt whose answer comes, however busy the machine: it is not repeated meanwhile. */
const ATTEMPT_TIMEOUT_MS = 60_000;
/** Of one whose answer never comes; the next one has as long. */
const SILENT_ATTEMPT_MS = 5_000;

beforeAll(async () => {
  database = await createTestDatabase('client-retries');
  api = await startApi(database);
  world = moneyWorld(api);
  clientId = await world.client();
  source = await world.account(clientId, { amount: PAID_IN });
  destination = await world.account(clientId);
  server = await startFaultyServer(api.url);
  const { id, kid, privateKey } = api.users.operator;
  client = createClient({
    ...{ baseUrl: server.url, machineUser: id, key: { kid, privateKey }, audience: TEST_AUDIENCE },
    attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
    log: (entry) => logged.push(entry),
  });
});

afterAll(async () => {
  await server?.close();
  await api?.stop();
  await database?.drop();
});

function payment(amount = 1) {
  return {
    clientId,
    currency: 'GBP',
    amount,
    scope: 'internal',
    source: { type: 'client-account', accountId: source },
    destination: { type: 'client-account', accountId: destination },
  } as const;
}

/** What the ledger says was paid. */
async function paid(): Promise<number> {
  const { available } = await world.balance(source);
  expect((await world.balance(destination)).available).toBe(PAID_IN - available);
  return PAID_IN - available;
}

/** The requests that reached the service while the work was done under the fault. */
async function under<Result>(fault: Fault, work: () => Promise<Result>) {
  const before = server.exchanges.length;
  logged.length = 0;
  const result = await server.during(fault, work);
  return { result, arrived: server.exchanges.slice(before).map(({ method }) => method) };
}

function rejectedBy(status: number, code: string, headers: Readonly<Record<string, string>> = {}): Fault {
  return answered({ status, body: JSON.stringify({ code, message: code, messageParameters: ['', '', ''] }), headers });
}

const inProgress = rejectedBy(409, 'common.idempotency.in_progress');
const unavailable = rejectedBy(503, 'common.dependency.unavailable', { 'retry-after': '0' });
const proxyFailed = answered({
  status: 502,
  body: '<html>Bad gateway</html>',
  headers: { 'content-type': 'text/html' },
});

describe('a payment is made once', () => {
  test.each<[name: string, faults: readonly Fault[], arrivals: number]>([
    ['its request is lost', [cutBefore], 1],
    ['its answer is lost', [cutAfter], 2],
    ['its answer is cut, twice', [cutWithin, cutWithin], 3],
    ['its answer does not come in time', [silentAfter], 2],
    ['it is repeated on the way', [doubled], 2],
    ['it is repeated on the way, and the answer lost', [cutAfter, doubled], 3],
    ['a proxy fails after the service has answered', [cutAfter, proxyFailed], 2],
    ['the service is unavailable, and then still busy with it', [cutAfter, unavailable, inProgress], 2],
  ])('when %s', async (_, faults, arrivals) => {
    const before = await paid();
    const options = faults.includes(silentAfter) ? { attemptTimeoutMs: SILENT_ATTEMPT_MS } : {};
    const { result, arrived } = await under(inTurn(...faults), () =>
      client.outgoingTransfers.create(payment(), options),
    );
    expect(result).toMatchObject({ clientId, amount: 1 });
    expect(arrived).toHaveLength(arrivals);
    expect((await paid()) - before).toBe(1);
    expect(new Set(logged.map(({ requestId }) => requestId)).size).toBe(1);
  });

  test('when the client gives up, and the caller repeats it under the key of the error', async () => {
    const before = await paid();
    const { result: error } = await under(silentAfter, () =>
      client.outgoingTransfers.create(payment(2), { timeoutMs: 3_000 }).catch((reason: unknown) => reason),
    );
    expect(error).toMatchObject({ code: 'client.deadline.exceeded', status: null, idempotencyKey: expect.any(String) });
    expect(error).toMatchObject({ isOutcomeUnknown: true });
    const { idempotencyKey } = error as { idempotencyKey: string };
    const again = await client.outgoingTransfers.create(payment(2), { idempotencyKey }).withAnswer();
    expect(again).toMatchObject({ replayed: true, resource: { clientId, amount: 2 } });
    expect((await paid()) - before).toBe(2);
  });

  test('when it is lost, and its repetition stopped by a limit: the error says that its outcome is unknown', async () => {
    const before = await paid();
    const limited = rejectedBy(429, 'common.rate.limited');
    const { result } = await under(inTurn(cutAfter, limited), () =>
      client.outgoingTransfers
        .create(payment(), { retriesMax: 1, idempotencyKey: 'limited' })
        .catch((reason) => reason),
    );
    expect(result).toMatchObject({ status: 429, isOutcomeUnknown: true, idempotencyKey: 'limited' });
    const tooMuch = { ...payment(), amount: 5_000_000 };
    const rejected = client.outgoingTransfers.create(tooMuch).catch((reason: unknown) => reason);
    expect(await rejected).toMatchObject({ isOutcomeUnknown: false });
    expect((await paid()) - before).toBe(1);
  });

  test('when the caller ends the call, and repeats it under its own key', async () => {
    const before = await paid();
    const controller = new AbortController();
    const options = { signal: controller.signal, idempotencyKey: 'ended' };
    const ending: Fault = async (forward) => {
      await forward();
      controller.abort();
    };
    const { result: error, arrived } = await under(ending, () =>
      client.outgoingTransfers.create(payment(), options).catch((reason: unknown) => reason),
    );
    expect(error).toMatchObject({ code: 'client.aborted', idempotencyKey: 'ended' });
    expect(arrived).toHaveLength(1);
    await client.outgoingTransfers.create(payment(), { idempotencyKey: 'ended' });
    expect((await paid()) - before).toBe(1);
  });

  afterAll(() => world.invariantsHold());
});

describe('what is not safe is sent once:', () => {
  test.each<[name: string, fault: Fault, code: string]>([
    ['a change whose answer is lost', cutAfter, 'client.connection.failed'],
    ['a change that found the service unavailable', unavailable, 'common.dependency.unavailable'],
    [
      'a change whose token was rejected',
      rejectedBy(401, 'common.security.unauthenticated'),
      'common.security.unauthenticated',
    ],
  ])('%s', async (_, fault, code) => {
    const account = { alias: 'Savings' };
    const { result } = await under(fault, () => client.accounts.update(source, account).catch((reason) => reason));
    expect(result).toMatchObject({ code, idempotencyKey: null });
    expect(logged.map(({ retryInMs }) => retryInMs)).toEqual([null]);
  });

  test.each<[name: string, fault: Fault]>([
    ['after its answer is lost', cutAfter],
    ['after a 503', unavailable],
    ['after a 401', rejectedBy(401, 'common.security.unauthenticated')],
    ['after a 429', rejectedBy(429, 'common.rate.limited', { 'retry-after': '0' })],
    ['by its path, after a 503', unavailable],
  ])('the authentication of a user, %s', async (name, fault) => {
    const data = { user: { email: 'ada@example.com' }, password: 'wrong' };
    const body = { workflow: { code: 'password' }, data } as const;
    const { result } = await under(fault, () =>
      (name.startsWith('by its path')
        ? client.request('POST', '/user-authentications', { body })
        : client.userAuthentications.authenticate(data)
      ).catch((reason: unknown) => reason),
    );
    expect(result).toBeInstanceOf(Error);
    expect(logged).toHaveLength(1);
  });

  test('a payment under a key that another request has', async () => {
    const reused = rejectedBy(409, 'common.idempotency.key_reused');
    const { result } = await under(reused, () => client.outgoingTransfers.create(payment()).catch((reason) => reason));
    expect(result).toMatchObject({ code: 'common.idempotency.key_reused', status: 409 });
    expect(logged).toHaveLength(1);
  });
});

describe('an answer that is not the service’s is no success:', () => {
  const page = answered({ status: 200, body: '<html>Sign in</html>', headers: { 'content-type': 'text/html' } });
  const other = answered({ status: 200, body: '{"data":{}}', headers: { 'content-type': 'application/json' } });

  test.each<[name: string, fault: Fault]>([
    ['a page', page],
    ['other JSON', other],
  ])('%s after a payment, whose outcome is then unknown', async (_, fault) => {
    const { result } = await under(fault, () =>
      client.outgoingTransfers.create(payment(), { idempotencyKey: 'paged' }).catch((reason: unknown) => reason),
    );
    const found = { code: 'client.answer.invalid', status: 200, idempotencyKey: 'paged', isOutcomeUnknown: true };
    expect(result).toMatchObject(found);
  });

  test('a page after a read, and after a write by its path', async () => {
    const { result } = await under(page, () => client.accounts.get(source).catch((reason: unknown) => reason));
    expect(result).toMatchObject({ code: 'client.answer.invalid', isOutcomeUnknown: false });
    const written = await under(page, () =>
      client.request('PATCH', `/accounts/${source}`, { body: {} }).catch((reason: unknown) => reason),
    );
    expect(written.result).toMatchObject({ code: 'client.answer.invalid', isOutcomeUnknown: true });
  });
});

describe('a token', () => {
  test('that never comes does not outlast the call', async () => {
    const waiting = createClient({ baseUrl: server.url, token: () => new Promise<string>(() => undefined) });
    const call = waiting.outgoingTransfers.create(payment(), { timeoutMs: 100 });
    await expect(call).rejects.toMatchObject({ code: 'client.deadline.exceeded', isOutcomeUnknown: false });
  });

  test('that cannot be had is an error of the call', async () => {
    const cause = new Error('no key');
    const failing = createClient({ baseUrl: server.url, token: () => Promise.reject(cause) });
    await expect(failing.accounts.get(source)).rejects.toMatchObject({ code: 'client.token.failed', cause });
  });
});

test('the time of an attempt can be given with the call', async () => {
  const { result } = await under(silent, () =>
    client.accounts.get(source, {}, { attemptTimeoutMs: 50, retriesMax: 0 }).catch((reason: unknown) => reason),
  );
  expect(result).toMatchObject({ code: 'client.connection.failed' });
});

test('an export has all the time of its call', async () => {
  const exporting = createClient({ baseUrl: server.url, token: () => api.users.admin.token, attemptTimeoutMs: 100 });
  const { arrived, result } = await under(silent, () =>
    exporting.auditEntries.export({}, { timeoutMs: 500 }).catch((reason: unknown) => reason),
  );
  expect(result).toMatchObject({ code: 'client.deadline.exceeded' });
  expect(arrived.length).toBeLessThanOrEqual(1);
});

test('an open route gets no key, and no second request', async () => {
  const { result, arrived } = await under(cutAfter, () =>
    client.request('POST', '/open-banking/GB/token', { body: {} }).catch((reason: unknown) => reason),
  );
  expect(result).toMatchObject({ code: 'client.connection.failed', idempotencyKey: null, isOutcomeUnknown: true });
  expect(arrived).toHaveLength(1);
});

describe('what is safe is sent again:', () => {
  test('a change that the limit of requests stopped, after the time that the service asks for, and a little more', async () => {
    const limited = rejectedBy(429, 'common.rate.limited', { 'retry-after': '1' });
    await under(inTurn(limited), () => client.accounts.update(source, { alias: 'Savings' }));
    const [first, second] = logged;
    expect(first).toMatchObject({ status: 429, code: 'common.rate.limited', attempt: 1 });
    expect(first?.retryInMs).toBeGreaterThanOrEqual(1_000);
    expect(first?.retryInMs).toBeLessThanOrEqual(1_250);
    expect(second).toMatchObject({ status: 200, attempt: 2, retryInMs: null });
  });

  test('a payment whose token was rejected, with a new token, once', async () => {
    const expired = rejectedBy(401, 'common.security.unauthenticated');
    const before = await paid();
    const { arrived } = await under(inTurn(expired), () => client.outgoingTransfers.create(payment()));
    expect(arrived).toHaveLength(1);
    const { result } = await under(inTurn(expired, expired), () =>
      client.outgoingTransfers.create(payment()).catch((reason: unknown) => reason),
    );
    expect(result).toMatchObject({ code: 'common.security.unauthenticated', status: 401 });
    expect((await paid()) - before).toBe(1);
  });

  test('a change that was never sent, because no connection was made', async () => {
    const away = await startFaultyServer(api.url);
    await away.close();
    logged.length = 0;
    const { token } = api.users.operator;
    const client = createClient({ baseUrl: away.url, token: () => token, log: (entry) => logged.push(entry) });
    const change = client.accounts.update(source, { alias: 'Savings' }, { retriesMax: 1 });
    await expect(change).rejects.toMatchObject({ code: 'client.connection.failed', idempotencyKey: null });
    expect(logged.map(({ code }) => code)).toEqual(['not-sent', 'not-sent']);
  });

  test('a read, as often as was allowed', async () => {
    const { result } = await under(unavailable, () =>
      client.accounts.get(source, {}, { retriesMax: 2 }).catch((reason: unknown) => reason),
    );
    expect(result).toMatchObject({ code: 'common.dependency.unavailable', status: 503 });
    expect(logged.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });

  test('never after its deadline', async () => {
    const { result } = await under(silent, () =>
      client.accounts.get(source, {}, { timeoutMs: 300 }).catch((reason: unknown) => reason),
    );
    expect(result).toMatchObject({ code: 'client.deadline.exceeded' });
    const later = rejectedBy(503, 'common.dependency.unavailable', { 'retry-after': '3600' });
    await under(later, () => client.accounts.get(source).catch((reason: unknown) => reason));
    expect(logged.map(({ retryInMs }) => retryInMs)).toEqual([null]);
  });
});

describe('a wait outlasts what passes, longer than any call is repeated:', () => {
  const TROUBLES: readonly [name: string, fault: Fault][] = [
    ['connections that are lost', cutBefore],
    ['answers that are cut', cutWithin],
    ['a service that is unavailable', unavailable],
    ['a fault of the service', rejectedBy(500, 'common.fault', { 'retry-after': '0' })],
    ['a proxy without the service', proxyFailed],
    ['the limit of requests', rejectedBy(429, 'common.rate.limited', { 'retry-after': '0' })],
  ];

  test.each(TROUBLES)('%s', async (_, fault) => {
    const { token } = api.users.operator;
    const impatient = createClient({ baseUrl: server.url, token: () => token, retriesMax: 0 });
    const { result } = await under(inTurn(fault, fault), () => impatient.accounts.waitFor({ id: source }, 'active'));
    expect(result).toMatchObject({ id: source, status: 'active' });
  });

  test('until its deadline, and then its error has the last cause', async () => {
    const { result } = await under(unavailable, () =>
      client.accounts.waitFor({ id: source }, 'active', { timeoutMs: 5_000 }).catch((reason: unknown) => reason),
    );
    expect(result).toMatchObject({
      code: 'client.deadline.exceeded',
      operation: 'getAccount',
      cause: { code: 'common.dependency.unavailable', status: 503 },
    });
  });

  test('as long as the service asks for, though that is beyond the deadline', async () => {
    const later = rejectedBy(429, 'common.rate.limited', { 'retry-after': '3600' });
    const { result } = await under(later, () =>
      client.accounts.waitFor({ id: source }, 'active', { timeoutMs: 5_000 }).catch((reason: unknown) => reason),
    );
    expect(result).toMatchObject({ code: 'client.deadline.exceeded', cause: { status: 429, retryAfterMs: 3_600_000 } });
    expect(logged).toHaveLength(1);
  });

  test('until the caller ends it', async () => {
    const controller = new AbortController();
    const ending: Fault = async (_forward, response) => {
      response.destroy();
      controller.abort();
    };
    const { result } = await under(inTurn(cutBefore, ending), () =>
      client.accounts.waitFor({ id: source }, 'active', { signal: controller.signal }).catch((reason) => reason),
    );
    expect(result).toMatchObject({ code: 'client.aborted', cause: { code: 'client.connection.failed' } });
  });

  test('and ends at once with what does not pass', async () => {
    const forbidden = rejectedBy(403, 'common.security.forbidden');
    const { result } = await under(forbidden, () =>
      client.accounts.waitFor({ id: source }, 'active').catch((reason: unknown) => reason),
    );
    expect(result).toMatchObject({ code: 'common.security.forbidden', status: 403 });
    expect(logged).toHaveLength(1);
  });
});

test('the error of a list says where it stood', async () => {
  const options = { pageSize: 1, retriesMax: 0 };
  const walked = async (list: AsyncIterable<unknown>) => {
    for await (const _ of list);
  };
  const { result } = await under(inTurn(passThrough, cutBefore), () =>
    walked(client.accounts.list({ clientId }, options)).catch((reason: unknown) => reason),
  );
  expect(result).toMatchObject({ message: expect.stringMatching(/^listAccounts failed at page 1, client\./) });
  const events = await under(unavailable, () =>
    walked(client.events.list({ positionAfter: '17' }, options)).catch((reason: unknown) => reason),
  );
  expect(events.result).toMatchObject({
    message: expect.stringMatching(/^listEvents failed after position 17 with 503/),
  });
});

test('the log has no body, key, token or value of a path', () => {
  const text = JSON.stringify(logged);
  expect(logged.length).toBeGreaterThan(0);
  for (const value of [source, clientId, api.users.operator.kid, 'Bearer']) expect(text).not.toContain(value);
});
