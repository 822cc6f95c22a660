import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPartyHistory } from '../../../db/compliance/histories.ts';
import { countOpenReviews, listOpenReviews } from '../../../db/compliance/reviews.ts';
import { listUnmatchedMoney, sumUnmatchedMoney } from '../../../db/incoming-transfers/unmatched.ts';
import type { Reader } from '../../../db/query/database.ts';
import { listBreaksOfDay, listNewestBreaks, listOpenBreaks } from '../../../db/reconciliation/break-reads.ts';
import { listPositions, readCalendar } from '../../../db/reconciliation/calendar.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';

// What a page reads is bounded, however much waits: blocks of the database are counted, which are the same on every machine.

const MANY = 20_000;
/** A page of rows, each with its look-ups. */
const BLOCKS_MAX = 900;

let testDatabase: TestDatabase;
let hand: postgres.Sql;
const [client, account] = [randomUUID(), randomUUID()];
let newest: { readonly outgoing: string; readonly incoming: string };

beforeAll(async () => {
  testDatabase = await createTestDatabase('money-plans');
  hand = postgres(testDatabase.ownerUrl, { max: 1, onnotice: () => {} });
  // Rows without what they belong to.
  await hand`SET session_replication_role = replica`;
  await hand`SET plan_cache_mode = force_generic_plan`;
  await createTransfers();
  await createBreaks();
  await hand`VACUUM (ANALYZE) outgoing_transfers, incoming_transfers, reconciliations, reconciliation_breaks`;
  const [row] = await hand<{ outgoing: string; incoming: string }[]>`
    SELECT (SELECT max(id::text) FROM outgoing_transfers) AS outgoing, (SELECT max(id::text) FROM incoming_transfers) AS incoming`;
  if (row === undefined) throw new Error('nothing was created');
  newest = row;
});

afterAll(async () => {
  await hand?.end();
  await testDatabase?.drop();
});

/** Of one client: many that are done, that wait for other things, and that wait for compliance or an owner. */
async function createTransfers(): Promise<void> {
  await hand`
    INSERT INTO outgoing_transfers (id, transaction_number, client_id, account_id, status, scope, scheme, currency, amount_minor,
      transfer_date, original_transfer_date, beneficiary_id, beneficiary_bank_account_id, authorization_status, compliance_check_status,
      transfer_date_status, balance_check_status, method, provider, waiting_for, waiting_since, next_check_at, created_at, updated_at)
    SELECT uuidv7(), 'out ' || n, ${client}, ${account}, (CASE n % 3 WHEN 0 THEN 'completed' ELSE 'pending' END)::outgoing_transfer_status,
      'external', 'swift', 'GBP', 100, current_date, current_date, ${client}, ${client}, 'not-required',
      (CASE n % 3 WHEN 1 THEN 'not-checked' ELSE 'fulfilled' END)::requirement_status, 'fulfilled', 'fulfilled', 'built-in', 'sandbox-bank',
      (CASE n % 3 WHEN 1 THEN 'compliance' WHEN 2 THEN 'date' END)::outgoing_transfer_wait,
      CASE WHEN n % 3 > 0 THEN timestamptz '2026-01-01' + n * interval '1 second' END, CASE WHEN n % 3 > 0 THEN now() END, now(), now()
    FROM generate_series(1, ${MANY * 3}) AS n`;
  await hand`
    INSERT INTO incoming_transfers (id, transaction_number, client_id, account_id, status, scope, scheme, currency, amount_minor, transfer_date,
      provider, method, service_provider_id, compliance_check_status, hold_reason, waiting_for, waiting_since, next_check_at, created_at, updated_at)
    SELECT uuidv7(), 'in ' || n, CASE WHEN n % 2 = 0 THEN ${client}::uuid END, CASE WHEN n % 2 = 0 THEN ${account}::uuid END,
      (CASE n % 2 WHEN 0 THEN 'completed' ELSE 'on-hold' END)::incoming_transfer_status, 'external', 'swift', 'GBP', 100, current_date,
      'sandbox-bank', 'built-in', 'p' || n, 'not-required', (CASE n % 2 WHEN 1 THEN 'no-match' END)::hold_reason,
      (CASE n % 2 WHEN 1 THEN 'match' END)::incoming_transfer_wait, CASE WHEN n % 2 = 1 THEN timestamptz '2026-01-01' + n * interval '1 second' END,
      CASE WHEN n % 2 = 1 THEN now() END, now(), now()
    FROM generate_series(1, ${MANY * 2}) AS n`;
}

/** A year of days, one of which was a catastrophe. */
async function createBreaks(): Promise<void> {
  await hand`INSERT INTO system_accounts (id, provider, currency, kind)
    SELECT uuidv7(), 'sandbox-bank', currency, 'settlement' FROM unnest(ARRAY['GBP', 'EUR']) AS currency`;
  await hand`
    INSERT INTO reconciliations (id, provider, currency, day, provider_credit_count, provider_credit_minor, provider_debit_count,
      provider_debit_minor, ledger_credit_count, ledger_credit_minor, ledger_debit_count, ledger_debit_minor, posting_id, created_at, compared_at)
    SELECT uuidv7(), 'sandbox-bank', currency, date '2026-01-01' + n, 1, 1, 1, 1, 1, 1, 1, 1, n, now(), now()
    FROM generate_series(0, 364) AS n, unnest(ARRAY['GBP', 'EUR']) AS currency`;
  await hand`
    INSERT INTO reconciliation_breaks (id, provider, kind, our_reference, details, status, found_at, currency, day)
    SELECT uuidv7(), 'sandbox-bank', 'statement-payment-missing', 'r' || n, '{}', CASE WHEN n % 2 = 0 THEN 'open' ELSE 'resolved' END, now(), 'GBP',
      CASE WHEN n % 4 = 0 THEN date '2026-03-01' ELSE date '2026-01-01' + n % 365 END
    FROM generate_series(1, ${MANY * 2}) AS n`;
}

interface PlanNode {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
}

/** The blocks that the read's statements touch. */
async function blocksOf(read: (reader: Reader) => Promise<unknown>): Promise<number> {
  let blocks = 0;
  const statement = async (text: string, params: readonly unknown[]): Promise<never[]> => {
    const [row] = await hand.unsafe(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, [...params] as never[]);
    const plan: PlanNode = row?.['QUERY PLAN'][0].Plan;
    blocks += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    return [];
  };
  await read({ statement } as unknown as Reader).catch((error: unknown) => {
    // A read of one row misses it here.
    if (blocks === 0) throw error;
  });
  return blocks;
}

const REVIEWS = { type: null, currency: null, rule: null };
const UNMATCHED = { reason: null, provider: null, currency: null };
const PLACE = { since: '2026-01-01 03:00:00+00', id: '00000000-0000-0000-0000-000000000000' };
const DAY = { day: '2026-03-01', onlyOpen: true };
const POSITIONS = ['GBP', 'EUR'].map((currency) => ({ provider: 'sandbox-bank', currency }));

const READS: Readonly<Record<string, (reader: Reader) => Promise<unknown>>> = {
  'reviews, the first page': (reader) => listOpenReviews(reader, REVIEWS, { after: null, size: 51 }),
  'reviews, a later page': (reader) => listOpenReviews(reader, REVIEWS, { after: PLACE, size: 51 }),
  'reviews of one direction': (reader) =>
    listOpenReviews(reader, { ...REVIEWS, type: 'incoming-transfer' }, { after: null, size: 51 }),
  'reviews, counted': (reader) => countOpenReviews(reader, REVIEWS, 1_001),
  'money without an owner, the first page': (reader) =>
    listUnmatchedMoney(reader, UNMATCHED, { after: null, size: 51 }),
  'money without an owner, a later page': (reader) => listUnmatchedMoney(reader, UNMATCHED, { after: PLACE, size: 51 }),
  'money without an owner, summed': (reader) => sumUnmatchedMoney(reader, UNMATCHED, 1_001),
  'the positions of the calendar': listPositions,
  'a month of the calendar': (reader) => readCalendar(reader, POSITIONS, { from: '2026-03-01', to: '2026-03-31' }),
  'open breaks': (reader) => listOpenBreaks(reader, ['sandbox-bank'], { before: null, size: 51 }),
  'all breaks': (reader) => listNewestBreaks(reader, { before: null, size: 51 }),
};

test.each(Object.keys(READS))('%s: reads a bounded part of the rows', async (name) => {
  expect(await blocksOf(READS[name] ?? (() => Promise.resolve()))).toBeLessThan(BLOCKS_MAX);
});

test('the history of a client with many transfers reads the newest of them only', async () => {
  for (const [type, id] of [
    ['outgoing-transfer', newest.outgoing],
    ['incoming-transfer', newest.incoming],
  ] as const) {
    const blocks = await blocksOf((reader) => readPartyHistory(reader, { type, id }));
    expect(blocks, type).toBeLessThan(5_000);
  }
});

test('the breaks of one day read those of the day, not those of all days', async () => {
  const blocks = await blocksOf((reader) => listBreaksOfDay(reader, POSITIONS, DAY, { before: null, size: 51 }));
  const [{ all } = { all: 0 }] = await hand<{ all: number }[]>`
    SELECT pg_relation_size('reconciliation_breaks')::integer / 8192 AS all`;
  expect(blocks).toBeLessThan(all * 2);
});
