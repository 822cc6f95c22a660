import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { until } from '../harness/stage.ts';

// Callers must not harm each other: one that hangs up, and those that request expensive lists.

const DEADLINE_MS = 120_000;
/** Short, and long enough for a busy machine to see that lists wait, and to answer one that does not. */
const LIST_DEADLINE_MS = 3_000;

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let hand: postgres.Sql;
let payer: string;
let accounts: string[];
let bankAccount: string;

beforeAll(async () => {
  database = await createTestDatabase('callers');
  api = await startApi(database, {
    maxConnections: 2,
    deadlineMs: DEADLINE_MS,
    lists: { maxConnections: 2, deadlineMs: LIST_DEADLINE_MS },
    applicationName: 'callers',
    now,
  });
  world = moneyWorld(api);
  hand = postgres(database.ownerUrl, { max: 3, onnotice: () => {} });
  payer = await world.client();
  accounts = await Promise.all(Array.from({ length: 3 }, () => world.account(payer, { amount: 1_000 })));
  bankAccount = await world.beneficiary(payer);
});

afterAll(async () => {
  await hand?.end();
  await api?.stop();
  await database?.drop();
});

/** How often a token was verified. */
let looked = 0;
// It does not advance, so the key of the callers' tokens is read only once.
const started = new Date();
const now = () => {
  looked += 1;
  return started;
};

function internal(from: number, description: string): Json {
  const account = (at: number) => ({ type: 'client-account', accountId: accounts[at] });
  return {
    clientId: payer,
    currency: 'GBP',
    amount: 1,
    scope: 'internal',
    source: account(from),
    destination: account(2),
    description,
  };
}

const PAYMENTS: Readonly<Record<string, (description: string) => Json>> = {
  'straight through': (description) => internal(1, description),
  'to the outside': (description) => ({
    ...internal(1, description),
    scope: 'external',
    scheme: 'faster-payments',
    transferCustomReason: 'rent',
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
  }),
  'for a later date': (description) => ({ ...internal(1, description), transferDate: '2027-03-01' }),
};

const bodyOf = (outgoingTransfer: Json) => ({ workflow: { code: 'client.direct' }, data: { outgoingTransfer } });
const pay = (outgoingTransfer: Json) => api.call('POST', '/outgoing-transfers', bodyOf(outgoingTransfer));

async function transfersOf(description: string): Promise<number> {
  const rows = await hand`SELECT FROM outgoing_transfers WHERE description = ${description}`;
  return rows.length;
}

async function sessions(name: string, event: string | null = null): Promise<number[]> {
  const rows = await hand<{ pid: number }[]>`
    SELECT pid FROM pg_stat_activity WHERE application_name = ${name} AND datname = current_database()
      AND (${event}::text IS NULL OR wait_event_type = ${event}) ORDER BY pid`;
  return rows.map(({ pid }) => pid);
}

/** Holds what the statement locks until it is released; also when the test fails. */
async function hold(statement: (sql: postgres.TransactionSql) => Promise<unknown>): Promise<() => Promise<void>> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let held = () => {};
  const holding = new Promise<void>((resolve) => {
    held = resolve;
  });
  const transaction = hand.begin(async (sql) => {
    await statement(sql);
    held();
    await released;
  });
  await holding;
  const letGo = async () => {
    release();
    await transaction;
  };
  onTestFinished(letGo);
  return letGo;
}

test.each(Object.entries(PAYMENTS))(
  'a payment %s that waits, and whose caller hangs up, is not made',
  async (_, way) => {
    const letGo = await hold((sql) => sql`SELECT FROM accounts WHERE id = ${accounts[0] ?? ''} FOR UPDATE`);
    // Both connections wait for the lock.
    const before = [0, 0].map(() => pay({ ...internal(0, 'before'), transferDate: '2027-03-01' }));
    await until(
      () => sessions('callers', 'Lock'),
      (pids) => pids.length === 2,
    );
    const description = randomUUID();
    const caller = new AbortController();
    const lookedBefore = looked;
    const left = fetch(`${api.url}/outgoing-transfers`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api.users.operator.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(bodyOf(way(description))),
      signal: caller.signal,
    });
    await until(
      async () => looked,
      (times) => times > lookedBefore,
    );
    caller.abort();
    await expect(left).rejects.toThrow();
    // The server reads of the broken connection before it reads these.
    for (let times = 0; times < 3; times += 1) await fetch(`${api.url}/health/live`);
    await letGo();
    expect((await Promise.all(before)).map(({ status }) => status)).toEqual([201, 201]);
    const after = await pay(way('after'));
    expect(after.status, after.text).toBe(201);
    expect(await transfersOf(description)).toBe(0);
    await world.invariantsHold();
  },
);

test('lists that take too long are 503 with Retry-After, and hold up neither payments nor look-ups, nor cost them a connection', async () => {
  const [first = ''] = accounts;
  await Promise.all([pay(internal(0, 'warm')), pay(internal(1, 'warm'))]);
  const connections = await sessions('callers');
  const letGo = await hold((sql) => sql`LOCK TABLE webhook_subscriptions IN ACCESS EXCLUSIVE MODE`);
  const asked = performance.now();
  const lists = Array.from({ length: 20 }, () => api.call('GET', '/webhook-subscriptions', undefined, { as: 'admin' }));
  await until(
    () => sessions('callers-lists', 'Lock'),
    (pids) => pids.length > 0,
  );
  const [paid, read] = await Promise.all([pay(internal(0, 'at the same time')), api.call('GET', `/accounts/${first}`)]);
  expect([paid.status, read.status]).toEqual([201, 200]);
  for (const { status, body, headers } of await Promise.all(lists)) {
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'common.dependency.unavailable', '2']);
  }
  // The deadline of these calls, not the general one; this limit is a multiple of it.
  expect(performance.now() - asked).toBeLessThan(DEADLINE_MS / 2);
  await letGo();
  expect(await sessions('callers')).toEqual(connections);
  expect((await api.call('GET', '/webhook-subscriptions', undefined, { as: 'admin' })).status).toBe(200);
});
