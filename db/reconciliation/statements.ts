import { and, asc, eq, sql } from 'drizzle-orm';
import { isUuid } from '../../domain/common/ids.ts';
import type {
  Difference,
  PaymentDifference,
  PaymentKey,
  Standing,
} from '../../domain/reconciliation/reconciliation.ts';
import { newId } from '../common/ids.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type Given, prepared, type RowOf } from '../query/queries.ts';
import { lockBreaks } from './found-breaks.ts';
import { type Position, reconciliationBreaks, statementComparisons } from './schema.ts';

/** The currencies in which we have, or may have, money at the provider. */
export async function listCurrencies(reader: Reader, provider: string): Promise<string[]> {
  const rows = await reader.execute<{ currency: string }>(sql`
    SELECT currency FROM accounts WHERE provider = ${provider}
    UNION SELECT currency FROM system_accounts WHERE provider = ${provider} ORDER BY currency`);
  return rows.map(({ currency }) => currency);
}

interface StandingRow extends Standing {
  readonly reference: string;
}

// $1 provider, $2 currency, $3 references
const STANDINGS: Readonly<Record<PaymentKey['direction'], string>> = {
  out: `
    SELECT transfer.id::text AS reference, transfer.amount_minor AS "amountMinor",
      transfer.status IN ('released', 'completed') AND NOT transfer.returned AS moved,
      CASE WHEN transfer.returned THEN (
        SELECT sum(amount_minor)::bigint FROM incoming_transfers WHERE return_of = transfer.id
      ) WHEN transfer.status = 'failed' THEN transfer.amount_minor END AS "undoneMinor",
      (SELECT greatest(count(*), 1)::integer FROM incoming_transfers WHERE return_of = transfer.id) AS "undoneTimes"
    FROM outgoing_transfers transfer WHERE transfer.id IN (SELECT jsonb_array_elements_text($3::jsonb)::uuid)
      AND transfer.provider = $1 AND transfer.currency = $2 AND transfer.scope = 'external'`,
  in: `
    SELECT service_provider_id AS reference, amount_minor AS "amountMinor", send_back_status <> 'done' AS moved,
      CASE WHEN send_back_status = 'done' THEN amount_minor END AS "undoneMinor"
    FROM incoming_transfers
    WHERE provider = $1 AND currency = $2 AND service_provider_id IN (SELECT jsonb_array_elements_text($3::jsonb))`,
  opening: `
    SELECT account_id::text AS reference, amount_minor AS "amountMinor", true AS moved, NULL::bigint AS "undoneMinor"
    FROM balance_adjustments JOIN accounts ON accounts.id = account_id
    WHERE workflow_type = 'opening-balance' AND account_id IN (SELECT jsonb_array_elements_text($3::jsonb)::uuid)
      AND provider = $1 AND accounts.currency = $2`,
};

/** These payments according to our ledger, by reference; unknown ones are absent. */
export async function readStandings(
  reader: Reader,
  { provider, currency }: Position,
  direction: PaymentKey['direction'],
  references: readonly string[],
): Promise<ReadonlyMap<string, Standing>> {
  // The provider's references are its own; all others are our ids.
  const known = [...new Set(references)].filter((reference) => direction === 'in' || isUuid(reference));
  const rows = await reader.statement<StandingRow>(STANDINGS[direction], [provider, currency, JSON.stringify(known)]);
  return new Map(rows.map(({ reference, ...standing }) => [reference, standing]));
}

const COMPARISON = prepared((db, given: Given<Position>) =>
  db
    .select({ comparedUntil: statementComparisons.comparedUntil, postingId: statementComparisons.postingId })
    .from(statementComparisons)
    .where(and(eq(statementComparisons.provider, given.provider), eq(statementComparisons.currency, given.currency))),
);

export type Comparison = RowOf<typeof COMPARISON>;

export function readComparison(reader: Reader, position: Position): Promise<Comparison | null> {
  return reader.first(COMPARISON, position);
}

export async function saveComparison(
  reader: Reader,
  { provider, currency }: Position,
  { comparedUntil, postingId }: Comparison,
): Promise<void> {
  await reader.execute(sql`
    INSERT INTO statement_comparisons (provider, currency, compared_until, posting_id)
    VALUES (${provider}, ${currency}, ${comparedUntil.toISOString()}::timestamptz, ${postingId.toString()}::bigint)
    ON CONFLICT (provider, currency) DO UPDATE SET compared_until = excluded.compared_until, posting_id = excluded.posting_id`);
}

/** A payment in our ledger, in order of posting. */
export interface BookedPayment extends PaymentKey {
  readonly postingId: bigint;
}

/**
 * Payments whose principal was posted between the position's settlement account and a client, and opening balances, after a
 * given posting and within a period, oldest first. A returned payment is listed under its outgoing transfer. Other balance
 * adjustments have an empty reference: no statement has them.
 */
export async function listBooked(
  reader: Reader,
  { provider, currency }: Position,
  range: { readonly after: bigint; readonly from: Date; readonly until: Date; readonly limit: number },
): Promise<BookedPayment[]> {
  // Each side's page by its index: a limit on both together would read all that follows.
  const wanted = sql`id > ${range.after.toString()}::bigint
    AND posted_at >= ${range.from.toISOString()}::timestamptz AND posted_at < ${range.until.toISOString()}::timestamptz
    AND entry_type = 'principal'
    AND (num_nonnulls(outgoing_transfer_id, incoming_transfer_id) = 1 OR debit_transaction_type = 'balance-adjustment')`;
  return reader.execute<BookedPayment>(sql`
    WITH settlement AS MATERIALIZED (
      SELECT id FROM system_accounts WHERE provider = ${provider} AND currency = ${currency} AND kind = 'settlement'
    ), page AS MATERIALIZED (
      SELECT id, outgoing_transfer_id, incoming_transfer_id FROM (
        (SELECT * FROM postings WHERE credit_account_id = (SELECT id FROM settlement) AND credit_version IS NULL AND ${wanted} ORDER BY id LIMIT ${range.limit})
        UNION ALL
        (SELECT * FROM postings WHERE debit_account_id = (SELECT id FROM settlement) AND debit_version IS NULL AND ${wanted} ORDER BY id LIMIT ${range.limit})
      ) AS moved ORDER BY id LIMIT ${range.limit}
    )
    SELECT page.id AS "postingId",
      CASE WHEN opening.account_id IS NOT NULL THEN 'opening' WHEN arrived.service_provider_id IS NULL THEN 'out' ELSE 'in' END AS direction,
      coalesce(opening.account_id::text, arrived.service_provider_id, page.outgoing_transfer_id::text, arrived.return_of::text, '') AS reference
    FROM page
      LEFT JOIN balance_adjustments opening ON opening.posting_id = page.id AND opening.workflow_type = 'opening-balance'
      LEFT JOIN incoming_transfers arrived ON arrived.id = page.incoming_transfer_id
    ORDER BY page.id`);
}

const LEFT_OUT = `
  WITH settlement AS MATERIALIZED (
    SELECT id FROM system_accounts WHERE provider = $1 AND currency = $2 AND kind = 'settlement'
  )
  SELECT min(id) AS id FROM (
    (SELECT id FROM postings WHERE credit_account_id = (SELECT id FROM settlement) AND credit_version IS NULL
      AND id > $3::bigint AND posted_at >= $4::timestamptz ORDER BY id LIMIT 1)
    UNION ALL
    (SELECT id FROM postings WHERE debit_account_id = (SELECT id FROM settlement) AND debit_version IS NULL
      AND id > $3::bigint AND posted_at >= $4::timestamptz ORDER BY id LIMIT 1)
  ) AS first`;

/**
 * Where the next comparison begins: after the last posting that this one has passed, but before the first one that it has
 * left out as later. The order of ids does not exactly follow time.
 */
export async function cursorAfter(
  reader: Reader,
  { provider, currency }: Position,
  { after, until }: { readonly after: bigint; readonly until: Date },
  passed: bigint,
): Promise<bigint> {
  const [row] = await reader.statement<{ id: bigint | null }>(LEFT_OUT, [provider, currency, after, until]);
  const leftOut = row?.id ?? null;
  return leftOut === null || leftOut > passed ? passed : leftOut - 1n;
}

const RECORD = `
  WITH known AS (
    SELECT id, status, coalesce(details ->> 'goneByItself', '') = 'true' AS is_gone FROM reconciliation_breaks
    WHERE provider = $1 AND currency = $2 AND kind = $3 AND kind LIKE 'statement-%' AND our_reference = $4
  ), reopened AS (
    UPDATE reconciliation_breaks SET status = 'open', details = (details - 'goneByItself') || $5::jsonb, found_at = service_now(),
      resolved_at = NULL, note = NULL
    WHERE id = (SELECT id FROM known WHERE status = 'resolved' AND is_gone ORDER BY id DESC LIMIT 1)
      AND NOT EXISTS (SELECT FROM known WHERE status = 'open')
    RETURNING id
  ), added AS (
    INSERT INTO reconciliation_breaks (id, provider, kind, our_reference, details, found_at, currency)
    SELECT $6::uuid, $1, $3, $4, $5::jsonb, service_now(), $2 WHERE NOT EXISTS (SELECT FROM known)
    RETURNING id
  )
  SELECT id FROM reopened UNION ALL SELECT id FROM added`;

/**
 * Records a difference for a person to resolve. It concerns the payment as a whole, so any of the payment's breaks of that kind
 * covers it: returns false if one is open already or a person has resolved all; reopens the last that had disappeared by itself.
 */
export async function recordDifference(
  tx: Transaction,
  position: Position,
  { direction, reference }: PaymentKey | { readonly direction: null; readonly reference: string },
  difference: Difference,
): Promise<boolean> {
  await lockBreaks(tx, position);
  const { provider, currency } = position;
  const details = JSON.stringify({ currency, direction });
  const rows = await tx.statement(RECORD, [provider, currency, difference, reference, details, newId()]);
  return rows.length > 0;
}

export interface OpenDifference extends PaymentKey {
  readonly id: string;
  readonly difference: PaymentDifference;
}

/**
 * Open differences of a position that a look-up may resolve, oldest first. All others stay for the next comparison of their day, or
 * for a person: no answer about the payment overrides a day's statement.
 */
export async function listOpenDifferences(
  reader: Reader,
  { provider, currency }: Position,
  limit: number,
): Promise<OpenDifference[]> {
  return reader.execute<OpenDifference>(sql`
    SELECT id, kind AS difference, our_reference AS reference, details ->> 'direction' AS direction
    FROM reconciliation_breaks
    WHERE status = 'open' AND day IS NULL AND provider = ${provider} AND kind LIKE 'statement-%' AND details ->> 'currency' = ${currency}
      AND kind IN ('statement-unknown-payment', 'statement-not-booked', 'statement-not-at-provider')
    ORDER BY id LIMIT ${limit}`);
}

/** Resolves a difference that has disappeared by itself. */
export async function resolveDifference(reader: Reader, id: string): Promise<void> {
  await reader.execute(sql`
    UPDATE reconciliation_breaks
    SET status = 'resolved', resolved_at = service_now(), details = details || '{"goneByItself": true}'
    WHERE id = ${id}::uuid AND status = 'open'`);
}

const isOpen = eq(reconciliationBreaks.status, 'open');

const COUNT_OPEN = prepared((db) =>
  db.select({ count: sql<number>`count(*)::integer` }).from(reconciliationBreaks).where(isOpen),
);

/** Open breaks of every kind, including those that callbacks revealed. */
export async function countOpenBreaks(reader: Reader): Promise<number> {
  return (await reader.first(COUNT_OPEN, {}))?.count ?? 0;
}

const OPEN = prepared((db, given: Given<{ limit: number }>) => {
  const { kind, provider, ourReference, id } = reconciliationBreaks;
  return db
    .select({ kind, provider, reference: ourReference })
    .from(reconciliationBreaks)
    .where(isOpen)
    .orderBy(asc(id))
    .limit(given.limit);
});

export type OpenBreak = RowOf<typeof OPEN>;

/** Unresolved breaks of every kind, oldest first. */
export function listOpenBreaks(reader: Reader, limit: number): Promise<OpenBreak[]> {
  return reader.run(OPEN, { limit });
}
