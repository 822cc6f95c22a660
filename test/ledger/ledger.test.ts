import { sql } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

/** Two processes of one service on one database, as callers behind a load balancer meet them. */
let database: TestDatabase;
let apis: readonly [TestApi, TestApi];
let world: MoneyWorld;
let client: string;

const CONNECTIONS = 8;

beforeAll(async () => {
  database = await createTestDatabase('ledger');
  const first = await startApi(database, { maxConnections: CONNECTIONS });
  apis = [first, await startApi(database, { users: first.users, maxConnections: CONNECTIONS })];
  world = moneyWorld(first);
  client = await world.client('Ada');
});

afterEach(() => world.invariantsHold());

afterAll(async () => {
  for (const api of apis) await api.stop();
  await database.drop();
});

function send(api: TestApi, from: string, to: string, amount: number, key?: string): Promise<ApiResponse> {
  const outgoingTransfer = {
    clientId: client,
    currency: 'GBP',
    amount,
    scope: 'internal',
    source: { type: 'client-account', accountId: from },
    destination: { type: 'client-account', accountId: to },
  };
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  return api.call('POST', '/outgoing-transfers', body, key === undefined ? {} : { key });
}

function through(index: number): TestApi {
  return index % 2 === 0 ? apis[0] : apis[1];
}

function statuses(answers: readonly ApiResponse[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const outcome = status < 300 ? String(status) : `${status} ${body.code}`;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

/** Deadlocks that Postgres has resolved so far. Every session of both pools is first made to report its own. */
async function deadlocks(): Promise<number> {
  await Promise.all(
    apis.flatMap(({ database: { reader } }) =>
      Array.from({ length: CONNECTIONS }, () => reader.execute(sql`SELECT pg_stat_force_next_flush(), pg_sleep(0.2)`)),
    ),
  );
  const [row] = await apis[0].database.reader.execute<{ count: number }>(
    sql`SELECT deadlocks::integer AS count FROM pg_stat_database WHERE datname = current_database()`,
  );
  return row?.count ?? 0;
}

test('of 100 transfers at once with money for 10, over two processes, 10 are made', async () => {
  const source = await world.account(client, { amount: 100 });
  const destination = await world.account(client);
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) => send(through(index), source, destination, 10)),
  );
  expect(statuses(answers)).toEqual({ 201: 10, '422 account.balance.insufficient': 90 });
  expect(await world.balance(source)).toEqual({ available: 0, receivable: 0 });
  expect(await world.balance(destination)).toEqual({ available: 100, receivable: 0 });
  expect(await world.statement(source)).toHaveLength(11);
});

test('opposite loops of transfers end without a deadlock, and where they began', async () => {
  const accounts = await Promise.all([0, 1, 2].map(() => world.account(client, { amount: 1_000 })));
  const [one = '', two = '', three = ''] = accounts;
  const pairs = [
    [one, two],
    [two, one],
    [two, three],
    [three, two],
    [three, one],
    [one, three],
  ] as const;
  const loop = async (api: TestApi, from: string, to: string) => {
    const answers: ApiResponse[] = [];
    for (let turn = 0; turn < 25; turn += 1) answers.push(await send(api, from, to, 1));
    return answers;
  };
  const before = await deadlocks();
  const loops = await Promise.all(pairs.flatMap(([from, to]) => apis.map((api) => loop(api, from, to))));
  expect(statuses(loops.flat())).toEqual({ 201: 300 });
  expect(await deadlocks()).toBe(before);
  for (const account of accounts) expect((await world.balance(account)).available).toBe(1_000);
});

test('transfers that wait cross straight-through ones the other way without a deadlock', async () => {
  const [one, two] = await Promise.all([0, 1].map(() => world.account(client, { amount: 500 })));
  const before = await deadlocks();
  const dated = (api: TestApi, from: string, to: string) =>
    api.call('POST', '/outgoing-transfers', {
      workflow: { code: 'client.direct' },
      data: {
        outgoingTransfer: {
          clientId: client,
          currency: 'GBP',
          amount: 1,
          scope: 'internal',
          transferDate: new Date().toISOString().slice(0, 10),
          source: { type: 'client-account', accountId: from },
          destination: { type: 'client-account', accountId: to },
        },
      },
    });
  const answers = await Promise.all(
    Array.from({ length: 32 }, (_, index) => {
      const [from = '', to = ''] = index % 4 < 2 ? [one, two] : [two, one];
      return index % 2 === 0 ? dated(through(index / 2), from, to) : send(through(index), from, to, 1);
    }),
  );
  expect(statuses(answers)).toEqual({ 201: 32 });
  expect(await deadlocks()).toBe(before);
  expect((await world.balance(one ?? '')).available).toBe(500);
});

test('one key sent ten times at once over two processes makes one transfer and one answer', async () => {
  const source = await world.account(client, { amount: 100 });
  const destination = await world.account(client);
  // On a busy machine, one that waited too long for the first is asked to retry.
  const ask = async (api: TestApi): Promise<ApiResponse> => {
    const answer = await send(api, source, destination, 10, 'ten-at-once');
    return answer.body.code === 'common.idempotency.in_progress' ? ask(api) : answer;
  };
  const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => ask(through(index))));
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(answers[0]?.status, answers[0]?.text).toBe(201);
  expect((await world.balance(source)).available).toBe(90);
});

test('a credit, a transfer and a close at once leave no money in a closed account', async () => {
  for (let round = 0; round < 12; round += 1) {
    const [account, other] = [await world.account(client), await world.account(client, { amount: 10 })];
    const close = () =>
      through(round).call('PATCH', `/accounts/${account}`, {
        workflow: { code: 'client.direct' },
        data: { account: { status: 'closed' } },
      });
    const [transfer, closed] = await Promise.all([send(through(round + 1), other, account, 10), close()]);
    const outcome: Json = [transfer.status, closed.status];
    expect(
      [
        [201, 422],
        [422, 200],
      ],
      closed.text,
    ).toContainEqual(outcome);
  }
});
