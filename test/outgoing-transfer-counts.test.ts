import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type Database } from '../db/client.ts';
import { keepOutgoingTransferCounts } from '../db/outgoing-transfer-counts.ts';
import { listOutgoingTransfers, type OutgoingTransferFilter } from '../db/outgoing-transfer-reads.ts';
import { createTestDatabase, type TestDatabase } from './harness/postgres.ts';

const CLIENTS = [1, 2].map((number) => `0190c8a0-0000-7000-8000-00000000000${number}`);
const ACCOUNTS = [1, 2, 3, 4].map((number) => `0190c8a0-0000-7000-8000-0000000001${number}0`);

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase('outgoing-transfer-counts');
  database = createDatabase({ url: testDatabase.url, maxConnections: 4, applicationName: 'counts-test' });
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

/** Transfers of the given age, whose ids were made then; statuses and accounts by turns. */
async function makeTransfers(count: number, ageSeconds: number): Promise<void> {
  await database.statement(
    `INSERT INTO outgoing_transfers (id, transaction_number, client_id, account_id, status, scope, currency,
        amount_minor, transfer_date, original_transfer_date, destination_account_id, authorization_status,
        compliance_check_status, transfer_date_status, balance_check_status, method, provider, created_at, updated_at)
      SELECT uuidv7(make_interval(secs => -$2::integer)), '20260101-' || gen_random_uuid(),
        ($3::uuid[])[1 + n % 2], ($4::uuid[])[1 + n % 4],
        (ARRAY['completed', 'failed', 'pending', 'cancelled', 'released', 'completed', 'completed'])[1 + n % 7], 'internal',
        CASE n % 3 WHEN 0 THEN 'EUR' ELSE 'GBP' END, 1, '2026-01-01', '2026-01-01', gen_random_uuid(), 'not-required',
        'not-required', 'fulfilled', 'fulfilled', 'built-in', CASE n % 5 WHEN 0 THEN 'other' ELSE 'bank' END, now(), now()
      FROM generate_series(1, $1::integer) n`,
    [count, ageSeconds, CLIENTS, ACCOUNTS],
  );
}

const FILTERS: readonly (readonly [OutgoingTransferFilter, string])[] = [
  [{}, 'true'],
  [{ status: 'completed' }, `status = 'completed'`],
  [{ status: 'pending' }, `status = 'pending'`],
  [{ status: 'failed', currency: 'EUR' }, `status = 'failed' AND currency = 'EUR'`],
  [{ clientId: CLIENTS[0] }, `client_id = '${CLIENTS[0]}'`],
  [{ accountId: ACCOUNTS[1], status: 'completed' }, `account_id = '${ACCOUNTS[1]}' AND status = 'completed'`],
  [{ accountId: ACCOUNTS[2], clientId: CLIENTS[1] }, `account_id = '${ACCOUNTS[2]}' AND client_id = '${CLIENTS[1]}'`],
  [{ serviceProvider: 'other' }, `provider = 'other'`],
  [{ amountFrom: '0.01', status: 'completed' }, `status = 'completed'`],
];

async function totalsAreExact(): Promise<void> {
  for (const [filter, where] of FILTERS) {
    const { totalElements } = await listOutgoingTransfers(database.reader, filter, { size: 10, offset: 0 });
    const [row] = await database.statement<{ total: number }>(
      `SELECT count(*)::integer AS total FROM outgoing_transfers WHERE ${where}`,
      [],
    );
    expect([where, totalElements]).toEqual([where, row?.total]);
  }
}

async function keptCount(): Promise<number> {
  const [row] = await database.statement<{ kept: number }>(
    `SELECT coalesce(sum(transfer_count), 0)::integer AS kept FROM outgoing_transfer_counts
      WHERE account_id = '00000000-0000-0000-0000-000000000000'`,
    [],
  );
  return row?.kept ?? 0;
}

test('totals are exact at every step of the counting in the background', async () => {
  await makeTransfers(210, 3_600);
  await totalsAreExact();
  expect(await keepOutgoingTransferCounts(database, 100)).toBe(100);
  await totalsAreExact();
  while ((await keepOutgoingTransferCounts(database, 100)) > 0) await totalsAreExact();
  // Two of seven are open.
  expect(await keptCount()).toBe(150);

  await makeTransfers(70, 600);
  await totalsAreExact();
  await database.statement(`UPDATE outgoing_transfers SET status = 'completed' WHERE status = 'released'`, []);
  await totalsAreExact();
  while ((await keepOutgoingTransferCounts(database, 1_000)) > 0) await totalsAreExact();
  expect(await keptCount()).toBe(240);
});

test('transfers young enough that an older one could still be committed are not counted ahead', async () => {
  const before = await keptCount();
  await makeTransfers(70, 0);
  expect(await keepOutgoingTransferCounts(database, 1_000)).toBe(0);
  expect(await keptCount()).toBe(before);
  await totalsAreExact();
});

test('several processes that count at once count each transfer once', async () => {
  await makeTransfers(700, 300);
  await Promise.all(Array.from({ length: 4 }, () => keepOutgoingTransferCounts(database, 100)));
  while ((await keepOutgoingTransferCounts(database, 100)) > 0) await totalsAreExact();
  await totalsAreExact();
});
