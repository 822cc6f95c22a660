import { sql } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { lockWaiters } from '../harness/servers/locks.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { until } from '../harness/stage.ts';

// Several changes to one transfer at one instant, and a clock that steps back. Two processes, as behind a load balancer.

let database: TestDatabase;
let apis: readonly [TestApi, TestApi];
let world: MoneyWorld;
let payer: string;
const startedAt = Date.now();
/** Wednesday noon, a business day of every scheme. */
const NOON = Date.parse('2027-06-16T12:00:00Z');
const MINUTE_MS = 60_000;
let aheadMs = 0;

beforeAll(async () => {
  database = await createTestDatabase('instants');
  const clockOffset = () => `${NOON - startedAt + aheadMs} milliseconds`;
  const options = { clockOffset, env: { AUTHORIZATION_RULE: 'always' } };
  const first = await startApi(database, options);
  apis = [first, await startApi(database, { ...options, users: first.users })];
  world = moneyWorld(first);
  payer = await world.client('Ada');
});

afterEach(async () => {
  aheadMs = 0;
  await world.invariantsHold();
});

afterAll(async () => {
  for (const api of apis ?? []) await api.stop();
  await database?.drop();
});

async function make(scope: 'internal' | 'external', from: string): Promise<string> {
  const destination =
    scope === 'internal'
      ? { type: 'client-account', accountId: await world.account(payer) }
      : { type: 'beneficiary-bank-account', beneficiaryBankAccountId: await world.beneficiary(payer) };
  const outgoingTransfer = {
    clientId: payer,
    currency: 'GBP',
    amount: 40,
    scope,
    ...(scope === 'external' ? { scheme: 'faster-payments' } : {}),
    source: { type: 'client-account', accountId: from },
    destination,
  };
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
  const answer = await apis[0].call('POST', '/outgoing-transfers', body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.data.outgoingTransfer.id;
}

const AUTHORIZE = { requirementConfiguration: { authorizationStatus: 'fulfilled' } };
const CANCEL = { status: 'cancelled' };

function wish(index: number, id: string, change: Json): Promise<ApiResponse> {
  const body = { workflow: { code: 'client.direct' }, data: { outgoingTransfer: change } };
  const as = change === AUTHORIZE ? 'approver' : 'operator';
  return apis[index % 2 === 0 ? 0 : 1].call('PATCH', `/outgoing-transfers/${id}`, body, { as });
}

/** Sends the changes once all of them wait for the same lock, and returns their statuses. */
async function atOneInstant(account: string, id: string, changes: readonly Json[]): Promise<number[]> {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let lock = () => {};
  const locked = new Promise<void>((resolve) => {
    lock = resolve;
  });
  const holder = apis[0].database.transaction(async (tx) => {
    await tx.execute(sql`SELECT FROM accounts WHERE id = ${account} FOR UPDATE`);
    lock();
    await held;
  });
  await locked;
  try {
    const answers = changes.map((change, index) => wish(index, id, change));
    await until(
      () => lockWaiters(apis[1].database.reader),
      (waiting) => waiting >= changes.length,
    );
    release();
    return (await Promise.all(answers)).map(({ status }) => status);
  } finally {
    release();
    await holder;
  }
}

async function shown(id: string): Promise<Json> {
  return (await apis[1].call('GET', `/outgoing-transfers/${id}`)).body.data.outgoingTransfer;
}

describe('an authorization and a cancel at one instant', () => {
  test.each(['internal', 'external'] as const)(
    'of an %s transfer have one winner, and money follows it',
    async (scope) => {
      const account = await world.account(payer, { amount: 1000 });
      let available = 1000;
      // The first to get the lock wins; the others are too late.
      for (const first of [AUTHORIZE, CANCEL, AUTHORIZE, CANCEL]) {
        const second = first === AUTHORIZE ? CANCEL : AUTHORIZE;
        const id = await make(scope, account);
        const statuses = await atOneInstant(account, id, [first, second, first, second]);
        expect([...statuses].sort()).toEqual([200, 409, 409, 409]);
        const { status } = await shown(id);
        const authorized = statuses.indexOf(200) % 2 === (first === AUTHORIZE ? 0 : 1);
        expect(status).toBe(authorized ? (scope === 'internal' ? 'completed' : 'processing') : 'cancelled');
        if (authorized) available -= 40;
        expect((await world.balance(account)).available).toBe(available);
        const events = await world.events(id);
        expect(events.includes('outgoing-transfer-cancelled')).toBe(!authorized);
        expect(events.includes('outgoing-transfer-processing')).toBe(authorized);
      }
    },
  );

  test.each([
    ['internal', 'completed', null],
    ['external', 'processing', 'caller'],
  ] as const)(
    'the answer to the authorization of an %s transfer shows it as authorized, pending, though it is %s by then',
    async (scope, status, waitingFor) => {
      const account = await world.account(payer, { amount: 100 });
      const id = await make(scope, account);
      const { requirementConfiguration, ...before } = await shown(id);
      expect(before.status).toBe('pending');
      const answer = await wish(0, id, AUTHORIZE);
      const fulfilled = { ...requirementConfiguration, authorizationStatus: 'fulfilled' };
      expect(answer.body.data.outgoingTransfer).toEqual({
        ...before,
        waitingFor,
        requirementConfiguration: fulfilled,
      });
      expect((await shown(id)).status).toBe(status);
    },
  );

  test('two authorizations of one transfer: it is authorized once', async () => {
    const account = await world.account(payer, { amount: 100 });
    const id = await make('internal', account);
    const statuses = await atOneInstant(account, id, [AUTHORIZE, AUTHORIZE]);
    expect([...statuses].sort()).toEqual([200, 409]);
    expect((await world.balance(account)).available).toBe(60);
  });
});

describe('a clock that steps an hour back', () => {
  test('leaves entries in the order of their versions, and what is created later comes later in every list', async () => {
    const account = await world.account(payer, { amount: 500 });
    const made: string[] = [];
    const numbers = new Set<string>();
    for (const minutes of [0, -60, -59, -120, 0]) {
      aheadMs = minutes * MINUTE_MS;
      made.push(await make('external', account));
      const internal = await make('internal', account);
      expect((await wish(0, internal, AUTHORIZE)).status).toBe(200);
      made.push(internal);
      await world.credit(account, 5);
    }
    aheadMs = 0;
    const entries = await world.statement(account);
    expect(entries).toHaveLength(1 + 5 + 5);
    const times = entries.map(({ entryDateTime }) => entryDateTime);
    expect(times).toEqual([...times].sort());
    for (const { transactionNumber } of entries) numbers.add(transactionNumber);
    expect(numbers.size).toBe(entries.length);
    // Each entry's balance follows from the one before it.
    let balance = 0;
    for (const entry of entries) {
      balance += entry.direction === 'credit' ? entry.amount : -entry.amount;
      expect(entry.balance).toBe(balance);
    }
    const [versions] = await apis[0].database.reader.execute<{ found: number[] }>(sql`
      SELECT array_agg(version ORDER BY posted_at, version)::integer[] AS found FROM (
        SELECT debit_version AS version, posted_at FROM postings WHERE debit_account_id = ${account}
        UNION ALL SELECT credit_version, posted_at FROM postings WHERE credit_account_id = ${account}) AS entries`);
    expect(versions?.found).toEqual(entries.map((_, index) => index + 1));
    const list = await apis[1].call('GET', '/outgoing-transfers?metadata.page.size=100');
    const listed: string[] = list.body.data.outgoingTransfers.map(({ id }: Json) => id);
    expect(listed.filter((id) => made.includes(id))).toEqual(made);
  });
});
