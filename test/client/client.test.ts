import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ApiError,
  createClient,
  type FinancialAccountsClient,
  isRejection,
  type LogEntry,
} from '../../client/index.ts';
import { newId } from '../../db/common/ids.ts';
import type { Role } from '../../domain/machine-users/roles.ts';
import { startApi, TEST_AUDIENCE, type TestApi } from '../harness/api.ts';
import { moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { sequence } from '../harness/webhooks/webhooks.ts';

let database: TestDatabase;
let api: TestApi;
let client: FinancialAccountsClient;
const logged: LogEntry[] = [];

beforeAll(async () => {
  database = await createTestDatabase('client');
  api = await startApi(database);
  client = clientOf();
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

function clientOf(role: Role = 'operator', privateKey = api.users[role].privateKey): FinancialAccountsClient {
  const { id, kid } = api.users[role];
  const options = { baseUrl: `${api.url}/`, log: (entry: LogEntry) => logged.push(entry) };
  return createClient({ ...options, machineUser: id, key: { kid, privateKey }, audience: TEST_AUDIENCE });
}

const ADA = {
  identity: { type: 'individual', givenName: 'Ada', familyName: 'Lovelace', birthDate: '1990-12-10', country: 'GB' },
  profile: { identityType: 'individual', residentialAddress: { country: 'GB', city: 'London' } },
} as const;

test('a method may be in small letters, and a token of no value is none', async () => {
  const { id, kid, privateKey } = api.users.operator;
  const options = { machineUser: id, key: { kid, privateKey }, audience: TEST_AUDIENCE, token: undefined };
  const small = createClient({ baseUrl: api.url, ...options });
  expect(await small.request('get', '/clients').withAnswer()).toMatchObject({ status: 200 });
});

test('a base URL with a password is rejected: it would stand in messages', () => {
  const token = () => 'any';
  expect(() => createClient({ baseUrl: 'https://ada:secret@bank.example', token })).toThrow(
    'baseUrl must have no user',
  );
});

describe('a resource', () => {
  test('is sent and answered without the containers around it, which can be had', async () => {
    const call = client.clients.create(ADA, { workflow: { createUser: false } });
    const created = await call;
    expect(created).toMatchObject({ status: 'active', fullName: 'Ada Lovelace' });
    const { resource, body, status, replayed, requestId, text } = await call.withAnswer();
    expect({ status, replayed }).toEqual({ status: 201, replayed: false });
    expect(resource).toEqual(created);
    expect(body).toMatchObject({ workflow: { code: 'direct' }, data: { client: created } });
    expect(JSON.parse(text)).toMatchObject({ data: { client: { id: created.id } } });
    expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(await client.clients.get(created.id)).toEqual({ ...created, profile: expect.anything() });
  });

  test('of a request under the same key comes again, and says so', async () => {
    const first = await client.clients.create(ADA, { idempotencyKey: 'ada' });
    const second = await client.clients.create(ADA, { idempotencyKey: 'ada' }).withAnswer();
    expect(second).toMatchObject({ replayed: true, resource: { id: first.id } });
  });

  test('of any route comes with all four containers', async () => {
    const { id } = await client.clients.create(ADA);
    const { data } = await client.request('GET', '/clients/{clientId}', { parameters: { clientId: id } });
    expect(data.client.id).toBe(id);
    const created = await client.request('POST', '/clients', {
      body: { workflow: { code: 'direct' }, data: { client: ADA } },
    });
    expect(created.data.client.status).toBe('active');
    expect(await client.request('GET', '/health/live').withAnswer()).toMatchObject({ status: 200 });
  });

  test('has dates where the contract has date-times', async () => {
    const entries = await clientOf('admin')
      .auditEntries.list({ occurredFrom: new Date(0) })
      .page();
    expect(entries.resources[0]?.occurredAt).toBeInstanceOf(Date);
  });
});

describe('a wait', () => {
  async function dated() {
    const world = moneyWorld(api);
    const clientId = await world.client();
    const accountId = await world.account(clientId, { amount: 10 });
    return client.outgoingTransfers.create({
      clientId,
      currency: 'GBP',
      amount: 1,
      scope: 'internal',
      transferDate: new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10),
      source: { type: 'client-account', accountId },
      destination: { type: 'client-account', accountId: await world.account(clientId) },
    });
  }

  test('ends at once where the status is reached, and with the event that brings it', async () => {
    const transfer = await dated();
    expect(await client.outgoingTransfers.waitFor(transfer, 'pending')).toMatchObject({ id: transfer.id });
    const waiting = client.outgoingTransfers.waitFor(transfer, 'cancelled');
    await client.outgoingTransfers.update(transfer.id, { status: 'cancelled' });
    await sequence(api.database);
    expect(await waiting).toMatchObject({ id: transfer.id, status: 'cancelled' });
  });

  test('ends also if the status has passed before it was looked at', async () => {
    const world = moneyWorld(api);
    const id = await world.account(await world.client());
    let looked = () => {};
    const first = new Promise<void>((resolve) => {
      looked = resolve;
    });
    const { token } = api.users.operator;
    const waiter = createClient({
      ...{ baseUrl: api.url, token: () => token },
      log: ({ operation }) => operation === 'getAccount' && looked(),
    });
    const waiting = waiter.accounts.waitFor({ id }, 'suspended', { timeoutMs: 120_000 });
    await first;
    await client.accounts.update(id, { status: 'suspended' });
    await client.accounts.update(id, { status: 'active' });
    await sequence(api.database);
    expect(await waiting).toMatchObject({ id, status: 'active' });
  });

  test('is rejected when the status cannot come any more, and at its deadline', async () => {
    const transfer = await dated();
    const late = client.outgoingTransfers.waitFor(transfer, 'completed', { timeoutMs: 1_000 });
    await expect(late).rejects.toMatchObject({ code: 'client.deadline.exceeded', operation: 'getOutgoingTransfer' });
    const waiting = client.outgoingTransfers.waitFor(transfer, 'completed');
    const rejected = expect(waiting).rejects.toMatchObject({ code: 'client.wait.failed' });
    await client.outgoingTransfers.update(transfer.id, { status: 'cancelled' });
    await sequence(api.database);
    await rejected;
  });
});

test('a dry run answers the plan, which has no id', async () => {
  const world = moneyWorld(api);
  const clientId = await world.client();
  const [from, to] = [await world.account(clientId, { amount: 10 }), await world.account(clientId)];
  const { resource, status } = await client.outgoingTransfers
    .dryRun({
      clientId,
      currency: 'GBP',
      amount: 1.5,
      scope: 'internal',
      source: { type: 'client-account', accountId: from },
      destination: { type: 'client-account', accountId: to },
    })
    .withAnswer();
  expect({ status, totalAmount: resource.totalAmount, hasId: 'id' in resource }).toEqual({
    status: 200,
    totalAmount: 1.5,
    hasId: false,
  });
  expect((await world.balance(from)).available).toBe(10);
});

describe('a rejection', () => {
  test('has code, status, request and all problems; its codes are known by operation', async () => {
    const identity = { ...ADA.identity, birthDate: 'yesterday', familyName: '' };
    const error: unknown = await client.clients.create({ ...ADA, identity }).catch((reason: unknown) => reason);
    if (!isRejection(error, 'createClient')) throw error;
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 'common.validation.field_invalid', status: 400, operation: 'createClient' });
    expect(error.problems.map(({ messageParameters }) => messageParameters[1])).toEqual([
      'identity.familyName',
      'identity.birthDate',
    ]);
    expect(error.requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(error.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
    expect(error.help).toBe('/docs/errors/common.validation.field_invalid');
    expect(isRejection(error, 'listClients')).toBe(false);
  });

  test('of a route that is called by its path is known as well', async () => {
    const lost = client.request('GET', '/clients/{clientId}', { parameters: { clientId: newId() } });
    const error: unknown = await lost.catch((reason: unknown) => reason);
    expect(isRejection(error, 'getClient') && error.code === 'common.coding.internal.record_not_found').toBe(true);
  });

  test('of a value that would change the route comes before any request', async () => {
    logged.length = 0;
    for (const id of ['', '.', '..']) await expect(client.clients.get(id)).rejects.toThrow('getClient needs clientId');
    expect(logged).toEqual([]);
  });

  test('of a path that the caller has written itself shows no value of it in log or error', async () => {
    logged.length = 0;
    const error: unknown = await client.request('GET', '/clients/ada@example.com').catch((reason: unknown) => reason);
    expect(error).toMatchObject({ operation: 'request', status: 400 });
    expect(logged).toMatchObject([{ operation: 'request', path: null, status: 400 }]);
  });

  test('of a token is one more attempt with a new one, and then an error', async () => {
    logged.length = 0;
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const stranger = clientOf('operator', privateKey);
    await expect(stranger.clients.list().page()).rejects.toMatchObject({ code: 'common.security.unauthenticated' });
    expect(logged.map(({ attempt, status, retryInMs }) => ({ attempt, status, retryInMs }))).toEqual([
      { attempt: 1, status: 401, retryInMs: 0 },
      { attempt: 2, status: 401, retryInMs: null },
    ]);
  });
});
