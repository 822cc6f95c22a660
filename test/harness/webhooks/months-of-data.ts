import type postgres from 'postgres';

/** A table's months in the past, and payments in each, made by SQL: what years of payments leave. */

/**
 * So many months up to the present one in place of the first, which ends with it. For a database without rows.
 */
export async function makePastMonths(owner: postgres.Sql, count: number): Promise<void> {
  const tables = await owner<{ name: string; month: string; ends: string }[]>`
    SELECT name, month, uuid_extract_timestamp(to_id)::text AS ends FROM table_months()
    WHERE from_id = '00000000-0000-0000-0000-000000000000'`;
  for (const { name, month, ends } of tables) {
    await owner.unsafe(`DROP TABLE ${month}`);
    for (let back = count - 1; back >= 0; back -= 1) {
      await owner`
        SELECT make_month(${name}, ${name} || to_char(begins AT TIME ZONE 'UTC', '_YYYY_MM'),
          CASE ${back} WHEN ${count - 1} THEN 'MINVALUE' ELSE quote_literal(uuidv7_floor(begins)) END, uuidv7_floor(ends))
        FROM (SELECT (${ends}::timestamptz AT TIME ZONE 'UTC' - make_interval(months => ${back + 1})) AT TIME ZONE 'UTC' AS begins,
          (${ends}::timestamptz AT TIME ZONE 'UTC' - make_interval(months => ${back})) AT TIME ZONE 'UTC' AS ends) AS bounds`;
    }
  }
}

/** What every payment is a copy of: a real one. */
export interface CopiedPayment {
  readonly outgoingTransferId: string;
  /** Accounts without an entry, which then pay in a circle. */
  readonly accountIds: readonly string[];
  readonly subscriptionId: string;
}

const ID_AT = `CREATE FUNCTION pg_temp.id_at(p_at timestamptz, p_salt text) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT (left(uuidv7_floor(p_at)::text, 15) || substr(md5(p_salt), 1, 3) || '-8' || substr(md5(p_salt), 4, 3) || '-' || substr(md5(p_salt), 7, 12))::uuid $$`;

/** Payments of a month, evenly spread, up to now in the present one. Of an account's entries, two are of each round of the circle. */
const PAYMENTS = `CREATE TEMP TABLE payment ON COMMIT DROP AS
  SELECT n, at, to_char(at, 'YYYYMMDD-') || upper(lpad(to_hex(2 * n), 6, '0')) AS outgoing_number,
    to_char(at, 'YYYYMMDD-') || upper(lpad(to_hex(2 * n + 1), 6, '0')) AS incoming_number, pg_temp.id_at(at, 'outgoing ' || n) AS outgoing_id, pg_temp.id_at(at, 'incoming ' || n) AS incoming_id,
    (left(pg_temp.id_at(at, 'outgoing event ' || n)::text, 35) || '0')::uuid AS outgoing_event_id,
    (left(pg_temp.id_at(at, 'incoming event ' || n)::text, 35) || '0')::uuid AS incoming_event_id,
    pg_temp.id_at(at, 'delivery ' || n) AS delivery_id, ($4::uuid[])[n % $5 + 1] AS debit_id, ($4::uuid[])[(n + 1) % $5 + 1] AS credit_id,
    2 * (n / $5) + CASE n % $5 WHEN 0 THEN 1 ELSE 2 END AS debit_version,
    2 * (n / $5) + CASE n % $5 WHEN $5 - 1 THEN 2 ELSE 1 END AS credit_version
  FROM (SELECT $1::bigint * $2 + number AS n, begins + (least(ends, clock_timestamp() - interval '2 minutes') - begins) * (number::float8 / $2) AS at
    FROM (SELECT date_trunc('month', clock_timestamp(), 'UTC') - make_interval(months => $3::integer - 1 - $1::integer) AS begins,
        date_trunc('month', clock_timestamp(), 'UTC') - make_interval(months => $3::integer - 2 - $1::integer) AS ends) AS month,
      generate_series(0, $2::bigint - 1) AS number) AS numbered`;

const COPIES = [
  `INSERT INTO outgoing_transfers SELECT made.* FROM payment, outgoing_transfers copied, LATERAL jsonb_populate_record(copied, jsonb_build_object(
     'id', outgoing_id, 'transaction_number', outgoing_number, 'account_id', debit_id, 'destination_account_id', credit_id, 'incoming_transfer_id', incoming_id,
     'created_at', at, 'updated_at', at, 'transfer_date', at::date, 'original_transfer_date', at::date)) AS made WHERE copied.id = $1`,
  `INSERT INTO incoming_transfers SELECT made.* FROM payment, incoming_transfers copied, LATERAL jsonb_populate_record(copied, jsonb_build_object(
     'id', incoming_id, 'transaction_number', incoming_number, 'account_id', credit_id, 'sender_account_id', debit_id, 'outgoing_transfer_id', outgoing_id,
     'created_at', at, 'updated_at', at, 'transfer_date', at::date)) AS made WHERE copied.outgoing_transfer_id = $1`,
  `INSERT INTO postings (posted_at, debit_account_id, credit_account_id, amount_minor, debit_version, debit_balance_after_minor, credit_version,
       credit_balance_after_minor, outgoing_transfer_id, incoming_transfer_id, currency, debit_transaction_number, credit_transaction_number,
       debit_transaction_type, credit_transaction_type, entry_type)
     SELECT at, debit_id, credit_id, copied.amount_minor, payment.debit_version, 1000, payment.credit_version, 1000 + copied.amount_minor, outgoing_id, incoming_id,
       copied.currency, outgoing_number, incoming_number, 'outgoing-transfer', 'incoming-transfer', 'principal'
     FROM payment, postings copied WHERE copied.outgoing_transfer_id = $1`,
  `INSERT INTO events (id, first_position, entry_count, module, resource_id, first_sequence, occurred_at, entries)
     SELECT CASE module WHEN 'outgoing-transfers' THEN outgoing_event_id ELSE incoming_event_id END,
       n * both_count + CASE module WHEN 'outgoing-transfers' THEN 1 ELSE 1 + both_count - entry_count END, entry_count, module,
       CASE module WHEN 'outgoing-transfers' THEN outgoing_id ELSE incoming_id END, 1, at, entries
     FROM payment, (SELECT *, sum(entry_count) OVER () AS both_count FROM events
       WHERE resource_id IN ($1, (SELECT incoming_transfer_id FROM outgoing_transfers WHERE id = $1))) AS copied`,
  `INSERT INTO webhook_deliveries (id, subscription_id, event_id, position, resource_id, module, type, status, attempt_count, next_attempt_at, created_at, completed_at)
     SELECT delivery_id, $2, outgoing_event_id, n + 1, outgoing_id, 'outgoing-transfers', 'outgoing-transfer-created', 'succeeded', 1, at, at, at FROM payment
     WHERE $1::uuid IS NOT NULL`,
  `INSERT INTO webhook_attempts SELECT delivery_id, 1, at, 20, 200, 'ok' FROM payment`,
  `INSERT INTO audit_entries (id, occurred_at, actor, action, resource, resource_id, request_id, after)
     SELECT pg_temp.id_at(at, 'entry ' || n), at, 'person-' || n % 50, (ARRAY['authorized', 'assigned', 'cancelled'])[n % 3 + 1], 'outgoing-transfer',
       outgoing_id::text, 'request-' || n, '{"authorization": "fulfilled"}' FROM payment`,
];

/** Fills each month with so many copies of a payment: transfers of both sides, postings, events, a delivery with its attempt, an audit entry. */
export async function fillMonths(
  owner: postgres.Sql,
  { outgoingTransferId, accountIds, subscriptionId }: CopiedPayment,
  { months, payments }: { readonly months: number; readonly payments: number },
): Promise<void> {
  for (let month = 0; month < months; month += 1) {
    await owner.begin(async (tx) => {
      await tx`SET LOCAL session_replication_role = replica`;
      if (month === 0) await tx.unsafe(ID_AT);
      await tx.unsafe(PAYMENTS, [month, payments, months, [...accountIds], accountIds.length]);
      for (const copy of COPIES) {
        const params = [outgoingTransferId, subscriptionId].slice(0, /\$2/.test(copy) ? 2 : /\$1/.test(copy) ? 1 : 0);
        await tx.unsafe(copy, params);
      }
    });
  }
  await owner.begin(async (tx) => {
    await tx`SET LOCAL session_replication_role = replica`;
    await tx`UPDATE accounts SET version = 2 * (${months * payments}::bigint / ${accountIds.length}) WHERE id = ANY (${[...accountIds]}::uuid[])`;
    await tx`UPDATE event_sequencer SET last_position = (SELECT max(first_position + entry_count) FROM events)`;
  });
}
