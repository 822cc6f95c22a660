import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../db/client.ts';
import { type IncomingTransferFilter, listIncomingTransfers } from '../../db/incoming-transfers/reads.ts';
import { listOutgoingTransfers, type OutgoingTransferFilter } from '../../db/outgoing-transfers/reads.ts';
import type { Database } from '../../db/query/database.ts';
import { advanceTransferCounts, type TransferDirection } from '../../db/transfers/transfer-counts.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

const CLIENTS = [1, 2].map((number) => `0190c8a0-0000-7000-8000-00000000000${number}`);
const ACCOUNTS = [1, 2, 3, 4].map((number) => `0190c8a0-0000-7000-8000-0000000001${number}0`);

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase('transfer-counts');
  database = createDatabase({
    url: testDatabase.url,
    maxConnections: 4,
    applicationName: 'counts-test',
    deadlineMs: 60_000,
  });
});

afterAll(async () => {
  await database?.close();
  await testDatabase?.drop();
});

/** Transfers of the given age in seconds, whose ids were made then; statuses, accounts and days by turns. */
async function makeTransfers(count: number, ageSeconds: number): Promise<void> {
  await database.statement(
    `INSERT INTO outgoing_transfers (id, transaction_number, client_id, account_id, status, scope, currency,
        amount_minor, transfer_date, original_transfer_date, destination_account_id, authorization_status,
        compliance_check_status, transfer_date_status, balance_check_status, method, provider, waiting_for, created_at, updated_at)
      SELECT uuidv7(make_interval(secs => -$2::integer)), '20260101-' || gen_random_uuid(),
        ($3::uuid[])[1 + n % 2], ($4::uuid[])[1 + n % 4],
        (ARRAY['completed', 'failed', 'pending', 'cancelled', 'released', 'completed', 'completed'])[1 + n % 7], 'internal',
        CASE n % 3 WHEN 0 THEN 'EUR' ELSE 'GBP' END, 1, date '2026-01-01' + n % 11, '2026-01-01', gen_random_uuid(),
        'not-required', 'not-required', 'fulfilled', 'fulfilled', 'built-in', CASE n % 50 WHEN 0 THEN 'other' ELSE 'bank' END,
        CASE n % 7 WHEN 2 THEN 'account' WHEN 4 THEN 'provider' END, now(), now()
      FROM generate_series(1, $1::integer) n`,
    [count, ageSeconds, CLIENTS, ACCOUNTS],
  );
  // Some have neither client nor account, and none a date before it has arrived.
  await database.statement(
    `INSERT INTO incoming_transfers (id, transaction_number, client_id, account_id, status, scope, currency, amount_minor,
        transfer_date, provider, method, sender_name, waiting_for, created_at, updated_at)
      SELECT uuidv7(make_interval(secs => -$2::integer)), '20260101-' || gen_random_uuid(),
        CASE WHEN n % 7 <> 2 THEN ($3::uuid[])[1 + n % 2] END, CASE WHEN n % 7 <> 2 THEN ($4::uuid[])[1 + n % 4] END,
        (ARRAY['completed', 'pending', 'failed', 'on-hold', 'completed', 'completed', 'completed'])[1 + n % 7], 'external',
        CASE n % 3 WHEN 0 THEN 'EUR' ELSE 'GBP' END, 1, CASE WHEN n % 7 NOT IN (1, 2, 3) THEN date '2026-01-01' + n % 11 END,
        CASE n % 50 WHEN 0 THEN 'other' ELSE 'bank' END, 'built-in', CASE n % 2 WHEN 0 THEN 'Ann' END,
        CASE n % 7 WHEN 1 THEN 'provider' WHEN 3 THEN 'account' END, now(), now()
      FROM generate_series(1, $1::integer) n`,
    [count, ageSeconds, CLIENTS, ACCOUNTS],
  );
}

const RANGE = { transferDateFrom: '2026-01-03', transferDateTo: '2026-01-05' };
const IN_RANGE = `transfer_date BETWEEN '2026-01-03' AND '2026-01-05'`;

const FILTERS: readonly (readonly [OutgoingTransferFilter & IncomingTransferFilter, string])[] = [
  [{}, 'true'],
  [{ status: 'completed' }, `status = 'completed'`],
  [{ status: 'pending' }, `status = 'pending'`],
  [{ status: 'failed', currency: 'EUR' }, `status = 'failed' AND currency = 'EUR'`],
  [{ clientId: CLIENTS[0] }, `client_id = '${CLIENTS[0]}'`],
  [{ accountId: ACCOUNTS[1], status: 'completed' }, `account_id = '${ACCOUNTS[1]}' AND status = 'completed'`],
  [{ accountId: ACCOUNTS[2], clientId: CLIENTS[1] }, `account_id = '${ACCOUNTS[2]}' AND client_id = '${CLIENTS[1]}'`],
  [{ serviceProvider: 'other' }, `provider = 'other'`],
  [{ amountFrom: '0.01', status: 'completed' }, `status = 'completed'`],
  [RANGE, IN_RANGE],
  [{ ...RANGE, currency: 'EUR' }, `${IN_RANGE} AND currency = 'EUR'`],
  [{ ...RANGE, status: 'failed' }, `${IN_RANGE} AND status = 'failed'`],
  [{ ...RANGE, status: 'pending' }, `${IN_RANGE} AND status = 'pending'`],
  [
    { ...RANGE, serviceProvider: 'other', status: 'completed' },
    `${IN_RANGE} AND provider = 'other' AND status = 'completed'`,
  ],
  [{ ...RANGE, accountId: ACCOUNTS[1] }, `${IN_RANGE} AND account_id = '${ACCOUNTS[1]}'`],
  [
    { ...RANGE, clientId: CLIENTS[1], status: 'completed' },
    `${IN_RANGE} AND client_id = '${CLIENTS[1]}' AND status = 'completed'`,
  ],
  [{ accountId: ACCOUNTS[3], amountFrom: '0.01' }, `account_id = '${ACCOUNTS[3]}'`],
  [{ transferDateFrom: '2026-01-10' }, `transfer_date >= '2026-01-10'`],
  [{ transferDateTo: '2026-01-02', currency: 'GBP' }, `transfer_date <= '2026-01-02' AND currency = 'GBP'`],
  [{ ...RANGE, amountFrom: '0.01' }, IN_RANGE],
  [{ waitingFor: 'account' }, `waiting_for = 'account'`],
  [{ waitingFor: 'provider', currency: 'EUR' }, `waiting_for = 'provider' AND currency = 'EUR'`],
  [{ ...RANGE, waitingFor: 'provider' }, `${IN_RANGE} AND waiting_for = 'provider'`],
  [{ waitingFor: 'account', accountId: ACCOUNTS[2] }, `waiting_for = 'account' AND account_id = '${ACCOUNTS[2]}'`],
  [{ waitingFor: 'compliance' }, 'false'],
];

const BY_SENDER: readonly (readonly [IncomingTransferFilter, string])[] = [
  [{ senderName: 'ann' }, `sender_name = 'Ann'`],
  [{ clientId: CLIENTS[1], senderName: 'ann' }, `client_id = '${CLIENTS[1]}' AND sender_name = 'Ann'`],
];

const OFFSETS = [0, 7, 40, 700];

/** Totals and pages, against a plain query for each. */
async function listsAreExact(): Promise<void> {
  for (const [filter, where] of FILTERS) {
    for (const offset of OFFSETS) {
      const page = { size: 10, offset };
      const outgoing = await listOutgoingTransfers(database.reader, filter, page);
      expect([where, offset, ...shown(outgoing)]).toEqual([
        where,
        offset,
        ...(await plainly('outgoing', where, offset)),
      ]);
      const incoming = await listIncomingTransfers(database.reader, filter, page);
      expect([where, offset, ...shown(incoming)]).toEqual([
        where,
        offset,
        ...(await plainly('incoming', where, offset)),
      ]);
    }
  }
  for (const [filter, where] of BY_SENDER) {
    const page = { size: 10, offset: 7 };
    const incoming = await listIncomingTransfers(database.reader, filter, page);
    expect([where, ...shown(incoming)]).toEqual([where, ...(await plainly('incoming', where, page.offset))]);
  }
}

function shown({
  rows,
  totalElements,
}: {
  rows: readonly { id: string }[];
  totalElements: number;
}): [number, string[]] {
  return [totalElements, rows.map(({ id }) => id)];
}

async function plainly(direction: TransferDirection, where: string, offset: number): Promise<[number, string[]]> {
  // The rows one by one, so that no index and no count has a part in it.
  const rows = await database.statement<{ id: string }>(
    `SELECT id FROM (SELECT * FROM ${direction}_transfers OFFSET 0) AS every WHERE ${where} ORDER BY id`,
    [],
  );
  return [rows.length, rows.slice(offset, offset + 10).map(({ id }) => id)];
}

async function keptCount(): Promise<number> {
  const [row] = await database.statement<{ kept: number }>(
    `SELECT coalesce(sum(transfer_count), 0)::integer AS kept FROM transfer_counts
      WHERE direction = 'outgoing' AND account_id = '00000000-0000-0000-0000-000000000000'`,
    [],
  );
  return row?.kept ?? 0;
}

async function keepCounts(limit: number): Promise<number> {
  const [outgoing, incoming] = [
    await advanceTransferCounts(database, 'outgoing', limit),
    await advanceTransferCounts(database, 'incoming', limit),
  ];
  return Math.max(outgoing, incoming);
}

test('pages and totals are exact at every step of the counting in the background', async () => {
  await makeTransfers(1_400, 3_600);
  await listsAreExact();
  expect(await keepCounts(500)).toBe(500);
  await listsAreExact();
  while ((await keepCounts(500)) > 0) {}
  await listsAreExact();
  // Two of seven are open.
  expect(await keptCount()).toBe(1_000);

  await makeTransfers(70, 600);
  await listsAreExact();
  await database.statement(
    `UPDATE outgoing_transfers SET status = 'completed', waiting_for = NULL WHERE status = 'released'`,
    [],
  );
  await database.statement(
    `UPDATE incoming_transfers SET status = 'completed', waiting_for = NULL, transfer_date = '2026-01-04' WHERE status = 'on-hold'`,
    [],
  );
  await listsAreExact();
  while ((await keepCounts(1_000)) > 0) {}
  await listsAreExact();
  expect(await keptCount()).toBe(1_260);
});

test('transfers young enough that an older one could still be committed are not counted ahead', async () => {
  const before = await keptCount();
  await makeTransfers(70, 0);
  expect(await keepCounts(1_000)).toBe(0);
  expect(await keptCount()).toBe(before);
  await listsAreExact();
});

test('several processes that count at once count each transfer once', async () => {
  await makeTransfers(700, 300);
  await Promise.all(Array.from({ length: 4 }, () => keepCounts(100)));
  while ((await keepCounts(100)) > 0) {}
  await listsAreExact();
});

test('small groups of transfers fill a range of ids before the next one begins', async () => {
  const idRanges = async () => {
    const [row] = await database.statement<{ idRanges: number; rows: number }>(
      `SELECT (SELECT count(*)::integer FROM transfer_ranges WHERE direction = 'outgoing') AS "idRanges",
        (SELECT count(*)::integer FROM outgoing_transfers WHERE id <= last_id) AS rows
      FROM transfer_counting WHERE direction = 'outgoing'`,
      [],
    );
    return row;
  };
  await makeTransfers(1_100, 200);
  while ((await keepCounts(33)) > 0) {}
  const counted = await idRanges();
  expect(counted?.idRanges).toBe(Math.ceil((counted?.rows ?? 0) / 128));
  await listsAreExact();
});
