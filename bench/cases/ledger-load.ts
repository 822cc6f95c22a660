import type postgres from 'postgres';
import { ACCOUNT_COUNT } from '../accounts.ts';

const CHUNK = 250_000;
/** One in this many transfers has a fee, which is a separate posting. */
const FEE_EVERY = 10;
const POSTINGS_PER_TRANSFER = 1 + 1 / FEE_EVERY;

/**
 * Writes straight-through transfers between the first `accounts` accounts of `createAccounts`, as the service would: rows
 * of both sides, postings with versions and balances, and events. Returns the number of postings.
 */
export async function loadLedger(sql: postgres.Sql, postings: number, accounts = ACCOUNT_COUNT): Promise<number> {
  let left = Math.ceil(postings / POSTINGS_PER_TRANSFER);
  for (; left > 0; left -= CHUNK) await loadChunk(sql, Math.min(CHUNK, left), accounts);
  const [row] = await sql<{ postings: number }[]>`SELECT count(*)::integer AS postings FROM postings`;
  return row?.postings ?? 0;
}

async function loadChunk(sql: postgres.Sql, transfers: number, accounts: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx.unsafe(`SET LOCAL work_mem = '256MB'; SET LOCAL synchronous_commit = off`);
    await tx.unsafe(TRANSFERS.replace('$transfers', String(transfers)).replaceAll('$accounts', String(accounts)));
    await tx.unsafe(ENTRIES);
    for (const statement of ROWS) await tx.unsafe(statement);
    await tx.unsafe('DROP TABLE loaded_transfers, loaded_entries');
  });
}

const TRANSFERS = `
  CREATE TEMP TABLE loaded_transfers AS
  WITH numbered AS (SELECT id, client_id, row_number() OVER (ORDER BY id) - 1 AS number FROM accounts WHERE ledger_number LIKE 'bench-%'),
  earlier AS (SELECT coalesce(max(id), 0) AS posting_id, clock_timestamp() AS now FROM postings)
  SELECT n, uuidv7() AS outgoing_id, uuidv7() AS incoming_id, source.id AS source_id, source.client_id, destination.id AS destination_id,
    destination.client_id AS receiver_id, 1 + n % 100 AS amount_minor, CASE WHEN n % ${FEE_EVERY} = 0 THEN 1 ELSE 0 END AS fee_minor,
    to_char(now, 'YYYYMMDD') || '-A' || posting_id + n AS outgoing_number, to_char(now, 'YYYYMMDD') || '-M' || posting_id + n AS incoming_number,
    now + interval '1 microsecond' * n AS at
  FROM earlier CROSS JOIN generate_series(1, $transfers) AS n
    JOIN numbered source ON source.number = n * 7 % $accounts
    JOIN numbered destination ON destination.number = (n * 7 + 1) % $accounts
  ORDER BY n`;

/** Each transfer as each of its accounts sees it, with version and balance after it. `part` 1 is the principal, 2 the fee. */
const ENTRIES = `
  CREATE TEMP TABLE loaded_entries AS
  SELECT n, part, account_id, signed_minor,
    account.version + row_number() OVER entries AS version,
    account.posted_minor + sum(signed_minor) OVER entries AS balance_minor
  FROM (
    SELECT n, 1 AS part, source_id AS account_id, -amount_minor AS signed_minor FROM loaded_transfers
    UNION ALL SELECT n, 1, destination_id, amount_minor FROM loaded_transfers
    UNION ALL SELECT n, 2, source_id, -fee_minor FROM loaded_transfers WHERE fee_minor > 0
  ) AS side JOIN accounts account ON account.id = side.account_id
  WINDOW entries AS (PARTITION BY account_id ORDER BY n, part);
  ANALYZE loaded_transfers, loaded_entries`;

const ROWS = [
  `INSERT INTO outgoing_transfers (id, transaction_number, client_id, account_id, status, scope, currency, amount_minor, fee_minor,
      transfer_date, original_transfer_date, description, destination_account_id, incoming_transfer_id, authorization_status,
      compliance_check_status, transfer_date_status, balance_check_status, method, provider, event_sequence, created_at, updated_at)
    SELECT outgoing_id, outgoing_number, client_id, source_id, 'completed', 'internal', 'GBP', amount_minor, fee_minor, at::date, at::date,
      'Bench', destination_id, incoming_id, 'not-required', 'not-required', 'fulfilled', 'fulfilled', 'built-in', 'sandbox-bank', 4, at, at
    FROM loaded_transfers ORDER BY n`,
  `INSERT INTO incoming_transfers (id, transaction_number, client_id, account_id, status, scope, currency, amount_minor, transfer_date,
      outgoing_transfer_id, sender_account_id, provider, method, sender_information, event_sequence, created_at, updated_at)
    SELECT incoming_id, incoming_number, receiver_id, destination_id, 'completed', 'internal', 'GBP', amount_minor, at::date, outgoing_id,
      source_id, 'sandbox-bank', 'built-in', 'Bench', 2, at, at
    FROM loaded_transfers ORDER BY n`,
  `INSERT INTO postings (posted_at, debit_account_id, credit_account_id, amount_minor, debit_version, debit_balance_after_minor,
      credit_version, credit_balance_after_minor, outgoing_transfer_id, incoming_transfer_id, currency, debit_transaction_number,
      credit_transaction_number, debit_transaction_type, credit_transaction_type, entry_type)
    SELECT at, source_id, coalesce(credited.account_id, system_account('sandbox-bank', 'GBP', 'fee-revenue')), -debited.signed_minor,
      debited.version, debited.balance_minor, credited.version, credited.balance_minor, outgoing_id,
      CASE part WHEN 1 THEN incoming_id END, 'GBP', outgoing_number, CASE part WHEN 1 THEN incoming_number ELSE outgoing_number END,
      'outgoing-transfer', CASE part WHEN 1 THEN 'incoming-transfer' ELSE 'outgoing-transfer' END,
      CASE part WHEN 1 THEN 'principal' ELSE 'fee' END
    FROM loaded_transfers JOIN (SELECT * FROM loaded_entries WHERE signed_minor < 0) AS debited USING (n)
      LEFT JOIN (SELECT * FROM loaded_entries WHERE signed_minor > 0) AS credited USING (n, part)
    ORDER BY n, part`,
  `WITH announced AS (
      SELECT n, k, module, resource_id, at, CASE k WHEN 1 THEN 4 ELSE 2 END AS entry_count,
        last_position + sum(CASE k WHEN 1 THEN 4 ELSE 2 END) OVER (ORDER BY n, k) AS up_to
      FROM loaded_transfers, event_sequencer, LATERAL (VALUES (1, 'outgoing-transfers', outgoing_id), (2, 'incoming-transfers', incoming_id)) AS row (k, module, resource_id)
    )
    INSERT INTO events (id, first_position, entry_count, module, resource_id, first_sequence, occurred_at, entries)
    SELECT (left(uuidv7()::text, 35) || '0')::uuid, up_to - entry_count + 1, entry_count, module, resource_id, 1, at,
      ('[' || rtrim(repeat('{"type":"bench","data":{"status":"completed","rollCount":0}},', entry_count), ',') || ']')::json
    FROM announced ORDER BY n, k`,
  `UPDATE event_sequencer SET last_position = (SELECT max(first_position + entry_count - 1) FROM events WHERE first_position IS NOT NULL)`,
  `UPDATE accounts SET posted_minor = last.balance_minor, version = last.version, last_entry_at = last.at FROM (
      SELECT DISTINCT ON (account_id) account_id, balance_minor, version, at FROM loaded_entries JOIN loaded_transfers USING (n)
      ORDER BY account_id, version DESC) AS last
    WHERE accounts.id = last.account_id`,
] as const;
