import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { LIST_LOADS } from '../../../bench/cases/lists.ts';
import { createDatabase } from '../../../db/client.ts';
import { checkpointSystemAccounts } from '../../../db/ledger/system-account-checkpoints.ts';
import type { Database } from '../../../db/query/database.ts';
import { advanceTransferCounts } from '../../../db/transfers/transfer-counts.ts';
import { startApi } from '../../harness/api.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/servers/postgres.ts';
import { type ConsoleWorld, makeConsoleWorld } from '../console-world.ts';

/** Of a million transfers out; everything else is in proportion. */
const WAITING_SHARE = 25;
const INCOMING_SHARE = 5;
const OTHERS_SHARE = 10;

/** The console's world, made by the API, among very many rows, most of them of its one account and client. */
export interface Million {
  readonly testDatabase: TestDatabase;
  readonly database: Database;
  readonly world: ConsoleWorld;
  /** The client and the account that have almost all of them. */
  readonly client: string;
  readonly account: string;
  /** An account with one in ten thousand of them. */
  readonly quiet: string;
  close(): Promise<void>;
}

/** Writes the rows without what they belong to, a second apart, as if the service had run for long. */
export async function createMillion(transfers: number): Promise<Million> {
  const testDatabase = await createTestDatabase('million');
  const api = await startApi(testDatabase);
  const world = await makeConsoleWorld(api).finally(() => api.stop());
  const { client, account } = world;
  const quiet = randomUUID();
  const database = createDatabase({
    url: testDatabase.url,
    maxConnections: 2,
    applicationName: 'million',
    deadlineMs: 600_000,
  });
  const hand = postgres(testDatabase.ownerUrl, { max: 1, onnotice: () => {} });
  try {
    await hand`SET session_replication_role = replica`;
    await createTransfers(hand, transfers, { client, account, quiet });
    const others = transfers / OTHERS_SHARE;
    for (const text of LIST_LOADS) await hand.unsafe(`${text} ON CONFLICT DO NOTHING`, [others]);
    await createPostings(hand, others, account);
    await createDeliveries(hand, others, world.ids.webhooks ?? '');
    await createRecords(hand, others);
    await hand`VACUUM (ANALYZE)`;
    for (const direction of ['outgoing', 'incoming'] as const) {
      for (let counted = 1; counted > 0; ) counted = await advanceTransferCounts(database, direction, 20_000);
    }
    await checkpointSystemAccounts(database.reader);
    await hand`VACUUM (ANALYZE) transfer_range_counts, transfer_ranges, transfer_day_counts, transfers_not_counted`;
  } finally {
    await hand.end();
  }
  const close = async () => {
    await database.close();
    await testDatabase.drop();
  };
  return { testDatabase, database, world, client, account, quiet, close };
}

type Owners = Pick<Million, 'client' | 'account' | 'quiet'>;

async function createTransfers(hand: postgres.Sql, count: number, { client, account, quiet }: Owners): Promise<void> {
  const waiting = count / WAITING_SHARE;
  await hand`
    INSERT INTO outgoing_transfers (id, transaction_number, client_id, account_id, status, scope, scheme, currency, amount_minor,
      transfer_date, original_transfer_date, beneficiary_bank_account_id, authorization_status, compliance_check_status,
      transfer_date_status, balance_check_status, method, provider, waiting_for, waiting_since, next_check_at, failure_code,
      created_at, updated_at)
    SELECT uuidv7(at - now()), 'out ' || n, ${client}, CASE WHEN n % 10000 = 0 THEN ${quiet}::uuid ELSE ${account}::uuid END,
      CASE WHEN waits THEN 'pending' WHEN n % 100 = 7 THEN 'failed' ELSE 'completed' END::outgoing_transfer_status, 'external', 'swift',
      CASE WHEN n < 4 THEN 'JPY' WHEN n % 5 = 0 THEN 'EUR' ELSE 'GBP' END, 100, at::date, at::date, ${client}, 'not-required',
      'not-required', 'fulfilled', 'fulfilled', 'built-in', CASE WHEN n % 5 = 0 THEN 'custom-bank' ELSE 'sandbox-bank' END,
      CASE WHEN waits THEN CASE n % 4 WHEN 0 THEN 'balance' WHEN 1 THEN 'provider' ELSE 'date' END END::outgoing_transfer_wait,
      CASE WHEN waits THEN at END, CASE WHEN waits THEN at END, CASE WHEN n % 100 = 7 AND NOT waits THEN 'AC03' END, at, at
    FROM generate_series(1, ${count}::integer) AS n
      CROSS JOIN LATERAL (SELECT now() - make_interval(secs => ${count}::integer - n) - interval '10 minutes' AS at,
        n > ${count - waiting}::integer AS waits) AS one
    ORDER BY n`;
  await hand`
    INSERT INTO incoming_transfers (id, transaction_number, client_id, account_id, status, scope, scheme, currency, amount_minor,
      transfer_date, provider, method, service_provider_id, created_at, updated_at)
    SELECT uuidv7(created_at - now()), 'in ' || transaction_number, client_id, account_id, 'completed', 'external', 'swift', currency,
      100, transfer_date, provider, 'built-in', transaction_number, created_at, updated_at
    FROM outgoing_transfers
    WHERE id IN (SELECT id FROM outgoing_transfers ORDER BY id DESC LIMIT ${count / INCOMING_SHARE}::integer) ORDER BY id`;
}

/** Entries of one account on both sides of the settlement account, after those that it has. */
async function createPostings(hand: postgres.Sql, count: number, account: string): Promise<void> {
  await hand`
    INSERT INTO postings (posted_at, debit_account_id, credit_account_id, amount_minor, debit_version, debit_balance_after_minor,
      currency, debit_transaction_number, credit_transaction_number, debit_transaction_type, credit_transaction_type, entry_type)
    SELECT now() + make_interval(secs => n * 0.001), account.id, settlement.id, 100, account.version + n, account.posted_minor,
      account.currency, 'out ' || n, 'out ' || n, 'outgoing-transfer', 'outgoing-transfer', 'principal'
    FROM generate_series(1, ${count}::integer) AS n, accounts AS account
      JOIN system_accounts AS settlement ON settlement.provider = account.provider AND settlement.currency = account.currency
        AND settlement.kind = 'settlement'
    WHERE account.id = ${account} ORDER BY n`;
  await hand`UPDATE accounts SET version = version + ${count} WHERE id = ${account}`;
}

async function createDeliveries(hand: postgres.Sql, count: number, subscription: string): Promise<void> {
  await hand`
    INSERT INTO webhook_deliveries (id, subscription_id, event_id, position, resource_id, module, type, body, status, attempt_count,
      next_attempt_at, created_at, completed_at)
    SELECT uuidv7(at - now()), ${subscription}, uuidv7(at - now()), n, uuidv7(), 'outgoing-transfers', 'outgoing-transfer-created', '{}',
      CASE WHEN n % 1000 = 7 THEN 'failed' ELSE 'succeeded' END, 1, at, at, at
    FROM generate_series(1, ${count}::integer) AS n
      CROSS JOIN LATERAL (SELECT now() - make_interval(secs => ${count}::integer - n) AS at) AS one ORDER BY n`;
  await hand`
    INSERT INTO webhook_attempts (delivery_id, number, attempted_at, duration_ms, response_code)
    SELECT id, 1, created_at, 12, CASE status WHEN 'failed' THEN 500 ELSE 200 END FROM webhook_deliveries
    WHERE id NOT IN (SELECT delivery_id FROM webhook_attempts)`;
}

/** What callers of the interface did, and consents of third parties. */
async function createRecords(hand: postgres.Sql, count: number): Promise<void> {
  await hand`
    INSERT INTO audit_entries (id, occurred_at, actor, action, resource, resource_id, request_id, after)
    SELECT uuidv7(at - now()), at, 'caller ' || n % 5, 'changed', 'account', gen_random_uuid()::text, 'request ' || n, '{}'
    FROM generate_series(1, ${count}::integer) AS n
      CROSS JOIN LATERAL (SELECT now() - make_interval(secs => ${count}::integer - n) AS at) AS one ORDER BY n`;
  await hand`
    INSERT INTO open_banking_consents (id, third_party_provider_id, status, scope, redirect_uri, state, nonce, request_expires_at, created_at)
    SELECT uuidv7(at - now()), consent.third_party_provider_id, 'rejected', 'accounts', consent.redirect_uri, 's', 'n', at, at
    FROM (SELECT third_party_provider_id, redirect_uri FROM open_banking_consents LIMIT 1) AS consent,
      generate_series(1, ${count}::integer) AS n
      CROSS JOIN LATERAL (SELECT now() - make_interval(secs => ${count}::integer - n) AS at) AS one ORDER BY n`;
}
