import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase } from '../../db/client.ts';
import type { Database } from '../../db/query/database.ts';
import { STAGE_LEDGER_MOVEMENTS } from '../../db/reconciliation/movements.ts';
import { listBooked } from '../../db/reconciliation/statements.ts';
import { createTestDatabase, type TestDatabase } from '../harness/servers/postgres.ts';

const PAGE = 100;
const BUSY = 20_000;

let testDatabase: TestDatabase;
let database: Database;
let hand: postgres.Sql;

beforeAll(async () => {
  testDatabase = await createTestDatabase('reconciliation-plans');
  database = createDatabase({ url: testDatabase.url, maxConnections: 1, applicationName: 'plans', deadlineMs: 60_000 });
  hand = postgres(testDatabase.ownerUrl, { max: 1, onnotice: () => {} });
  // Rows without what they belong to.
  await hand`SET session_replication_role = replica`;
  await hand`SET plan_cache_mode = force_generic_plan`;
  await createPayments('EUR', PAGE);
  await createPayments('GBP', BUSY);
  await hand`VACUUM (ANALYZE) postings, outgoing_transfers, incoming_transfers`;
});

afterAll(async () => {
  await hand?.end();
  await database?.close();
  await testDatabase?.drop();
});

/** As many payments out of one account as into it, in turn, through the provider's settlement in a currency of their own. */
async function createPayments(currency: string, count: number): Promise<void> {
  const [settlement, account, other] = [randomUUID(), randomUUID(), randomUUID()];
  await hand`INSERT INTO system_accounts (id, provider, currency, kind) VALUES (${settlement}, 'sandbox-bank', ${currency}, 'settlement')`;
  await hand`
    WITH paid AS (
      INSERT INTO outgoing_transfers (id, transaction_number, client_id, account_id, status, scope, scheme, currency, amount_minor,
        transfer_date, original_transfer_date, beneficiary_bank_account_id, authorization_status, compliance_check_status,
        transfer_date_status, balance_check_status, method, provider, created_at, updated_at)
      SELECT uuidv7(), ${currency} || ' out ' || n, ${other}, ${account}, 'completed', 'external', 'swift', ${currency}, 100,
        current_date, current_date, ${other}, 'fulfilled', 'fulfilled', 'fulfilled', 'fulfilled', 'built-in', 'sandbox-bank', now(), now()
      FROM generate_series(1, ${count}::integer) AS n RETURNING id, transaction_number
    ), arrived AS (
      INSERT INTO incoming_transfers (id, transaction_number, client_id, account_id, status, scope, scheme, currency, amount_minor,
        transfer_date, provider, method, service_provider_id, created_at, updated_at)
      SELECT uuidv7(), ${currency} || ' in ' || n, ${other}, ${account}, 'completed', 'external', 'swift', ${currency}, 100,
        current_date, 'sandbox-bank', 'built-in', ${currency} || n, now(), now()
      FROM generate_series(1, ${count}::integer) AS n RETURNING id, transaction_number
    ), moved AS (
      SELECT id AS paid_id, NULL::uuid AS arrived_id, transaction_number AS number, 'outgoing-transfer' AS type FROM paid
      UNION ALL SELECT NULL, id, transaction_number, 'incoming-transfer' FROM arrived
    )
    INSERT INTO postings (posted_at, debit_account_id, credit_account_id, amount_minor, debit_version, debit_balance_after_minor,
      credit_version, credit_balance_after_minor, outgoing_transfer_id, incoming_transfer_id, currency, debit_transaction_number,
      credit_transaction_number, debit_transaction_type, credit_transaction_type, entry_type)
    SELECT now() - interval '1 hour',
      CASE WHEN arrived_id IS NULL THEN ${account}::uuid ELSE ${settlement}::uuid END,
      CASE WHEN arrived_id IS NULL THEN ${settlement}::uuid ELSE ${account}::uuid END, 100,
      CASE WHEN arrived_id IS NULL THEN row_number() OVER () END, CASE WHEN arrived_id IS NULL THEN 0 END,
      CASE WHEN paid_id IS NULL THEN row_number() OVER () END, CASE WHEN paid_id IS NULL THEN 0 END,
      paid_id, arrived_id, ${currency}, number, number, type::transaction_type, type::transaction_type, 'principal'
    FROM moved ORDER BY substring(number from ' ([0-9]+)$')::integer, type`;
}

const positionOf = (currency: string) => ({ provider: 'sandbox-bank', currency });

interface PlanNode {
  readonly 'Subplan Name'?: string;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

const blocksOf = (node: PlanNode) => node['Shared Hit Blocks'] + node['Shared Read Blocks'];

test('staging a page of our bookings costs no more for an account with 40,000 of them than for a quiet one', async () => {
  await hand.unsafe(`PREPARE page AS ${STAGE_LEDGER_MOVEMENTS}`);
  const stage = async (currency: string) => {
    const values = `uuidv7(), 'sandbox-bank', '${currency}', 0, now() - interval '1 day', now(), 0, ${PAGE}`;
    const [row] = await hand.unsafe(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE page(${values})`);
    const plan: PlanNode = row?.['QUERY PLAN'][0].Plan;
    // The inserting part runs next to the plan that counts, and is not in its sum.
    const inserting = plan.Plans?.find((node) => node['Subplan Name'] === 'CTE staged');
    if (inserting === undefined) throw new Error('nothing is staged');
    return blocksOf(plan) + blocksOf(inserting);
  };
  const quiet = await stage('EUR');
  expect(await hand`SELECT count(*)::integer AS count FROM reconciliation_movements`).toEqual([{ count: PAGE }]);
  // A look-up in each of its tables for a booking, and its insertion: ten blocks, whatever else the tables hold.
  expect(quiet).toBeLessThan(15 * PAGE);
  expect(await stage('GBP')).toBeLessThan(15 * PAGE);
});

test('pages of our bookings hold each once, in order, whichever way the money went', async () => {
  const range = { from: new Date(0), until: new Date(), limit: 30 };
  const seen: bigint[] = [];
  const directions = new Set<string>();
  for (let after = 0n; ; after = seen.at(-1) ?? after) {
    const page = await listBooked(database.reader, positionOf('EUR'), { ...range, after });
    seen.push(...page.map(({ postingId }) => postingId));
    for (const { direction } of page) directions.add(direction);
    if (page.length < range.limit) break;
  }
  expect(seen).toHaveLength(2 * PAGE);
  expect(seen).toEqual([...new Set(seen)].sort((one, other) => (one < other ? -1 : 1)));
  expect([...directions].sort()).toEqual(['in', 'out']);
});
