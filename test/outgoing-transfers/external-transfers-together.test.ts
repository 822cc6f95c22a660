import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type ApiResponse, type Json, startApi, type TestApi } from '../harness/api.ts';
import { type MoneyWorld, moneyWorld } from '../harness/money.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';
import { until } from '../harness/stage.ts';

// External transfers are decided without locks and created in batches, if the facts still hold. Whatever happens in
// between, each ends as if it had been decided on its own under locks.

let database: TestDatabase;
let api: TestApi;
let world: MoneyWorld;
let payer: string;
let bankAccount: string;
let hand: postgres.Sql;

beforeAll(async () => {
  database = await createTestDatabase('external-together');
  api = await startApi(database, { configuration: (configuration) => ({ ...configuration, prices: [] }) });
  world = moneyWorld(api);
  payer = await world.client('Ada');
  bankAccount = await world.beneficiary(payer);
  hand = postgres(database.ownerUrl, { max: 2, onnotice: () => {} });
});

afterEach(() => world.invariantsHold());

afterAll(async () => {
  await hand?.end();
  await api.stop();
  await database.drop();
});

function body(source: string, change: Json = {}): Json {
  const outgoingTransfer = {
    clientId: payer,
    currency: 'GBP',
    amount: 10,
    scope: 'external',
    scheme: 'faster-payments',
    source: { type: 'client-account', accountId: source },
    destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccount },
    ...change,
  };
  return { workflow: { code: 'client.direct' }, data: { outgoingTransfer } };
}

function send(sent: Json, key: string = randomUUID()): Promise<ApiResponse> {
  return api.call('POST', '/outgoing-transfers', sent, { key });
}

function statuses(answers: readonly ApiResponse[]): number[] {
  return answers.map(({ status }) => status);
}

interface Kept {
  readonly id: string;
  readonly status: string;
  readonly waiting_for: string | null;
  readonly committed_by: string;
}

async function kept(description: string): Promise<Kept[]> {
  return hand<Kept[]>`
    SELECT id, status, waiting_for, xmin::text AS committed_by FROM outgoing_transfers WHERE description = ${description} ORDER BY id`;
}

/** Rows of a transfer: a created one has them, a rejected one must not. */
async function belongings(id: string): Promise<{ events: number; wakeups: number }> {
  const [row] = await hand<{ events: number; wakeups: number }[]>`
    SELECT (SELECT count(*)::integer FROM events WHERE resource_id = ${id}) AS events,
      (SELECT count(*)::integer FROM workflow_wakeups WHERE workflow_id = ${`outgoing-transfer/${id}`}) AS wakeups`;
  return row ?? { events: -1, wakeups: -1 };
}

test('at one moment share statements, and each has its events and the wake-up of its workflow', async () => {
  const accounts = await Promise.all(Array.from({ length: 4 }, () => world.account(payer, { amount: 1_000 })));
  const sources = Array.from({ length: 40 }, (_, number) => accounts[number % 4] ?? '');
  const answers = await Promise.all(sources.map((source) => send(body(source, { description: 'shared' }))));
  expect(statuses(answers)).toEqual(sources.map(() => 201));
  const made = await kept('shared');
  expect(made.map(({ status }) => status)).toEqual(sources.map(() => 'processing'));
  // Timing decides how many share a commit; unshared, each would have its own.
  expect(new Set(made.map(({ committed_by }) => committed_by)).size).toBeLessThan(sources.length);
  for (const { id } of made) expect(await belongings(id)).toEqual({ events: 1, wakeups: 1 });
  for (const account of accounts) expect((await world.balance(account)).available).toBe(900);
});

test('reserve what there is and not more; the others wait, and their account is marked for the next credit', async () => {
  const source = await world.account(payer, { amount: 100 });
  const answers = await Promise.all(Array.from({ length: 25 }, () => send(body(source, { description: 'scarce' }))));
  expect(statuses(answers)).toEqual(answers.map(() => 201));
  const waiting = () =>
    kept('scarce').then((made) => made.filter(({ waiting_for }) => waiting_for === 'balance').length);
  expect(await waiting()).toBe(15);
  expect((await world.balance(source)).available).toBe(0);
  const [account] = await hand<{ has_waiters: boolean }[]>`SELECT has_waiters FROM accounts WHERE id = ${source}`;
  expect(account?.has_waiters).toBe(true);
});

test('of one key at one moment are one transfer with one answer; with another body they are rejected', async () => {
  const source = await world.account(payer, { amount: 1_000 });
  const key = randomUUID();
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => send(body(source, { description: 'one key' }), key)),
  );
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(statuses(answers)).toEqual(answers.map(() => 201));
  expect(await kept('one key')).toHaveLength(1);
  const other = await send(body(source, { description: 'one key', amount: 11 }), key);
  expect(other.body.code).toBe('common.idempotency.key_reused');
  expect((await world.balance(source)).available).toBe(990);
});

test('are decided again, from the facts after the lock, if their account was locked meanwhile', async () => {
  const [held, free] = [await world.account(payer, { amount: 100 }), await world.account(payer, { amount: 100 })];
  const blocker = await hand.reserve();
  onTestFinished(() => blocker.release());
  await blocker`BEGIN`;
  await blocker`SELECT FROM accounts WHERE id = ${held} FOR UPDATE`;
  const waits = send(body(held, { description: 'held' }));
  expect((await send(body(free, { description: 'free' }))).status).toBe(201);
  await until(
    async () => {
      const [row] = await hand<{ waiting: number }[]>`
        SELECT count(*)::integer AS waiting FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%open_outgoing_transfer%'`;
      return row?.waiting ?? 0;
    },
    (waiting) => waiting === 1,
  );
  await blocker`UPDATE accounts SET status = 'suspended' WHERE id = ${held}`;
  await blocker`COMMIT`;
  expect((await waits).status).toBe(201);
  expect(await kept('held')).toMatchObject([{ status: 'pending', waiting_for: 'account' }]);
  expect((await world.balance(held)).available).toBe(100);
});

test('that the database rejects fail on their own: the others are made, and the key of the failed one is free', async () => {
  const source = await world.account(payer, { amount: 1_000 });
  await hand.unsafe(`
    CREATE FUNCTION reject_poison() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF NEW.description = 'poison' THEN RAISE EXCEPTION 'poison'; END IF; RETURN NEW; END $$;
    CREATE TRIGGER reject_poison BEFORE INSERT ON outgoing_transfers FOR EACH ROW EXECUTE FUNCTION reject_poison()`);
  const key = randomUUID();
  const [poisoned, ...others] = await Promise.all([
    send(body(source, { description: 'poison' }), key),
    ...Array.from({ length: 8 }, () => send(body(source, { description: 'sent with a poisoned one' }))),
  ]);
  expect(poisoned?.status).toBe(500);
  expect(statuses(others)).toEqual(others.map(() => 201));
  expect(await kept('poison')).toEqual([]);
  expect((await world.balance(source)).available).toBe(920);
  await hand.unsafe('DROP TRIGGER reject_poison ON outgoing_transfers');
  expect((await send(body(source, { description: 'poison' }), key)).status).toBe(201);
});
