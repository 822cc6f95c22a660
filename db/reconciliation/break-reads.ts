import type { LocalDate } from '../../domain/common/time/dates.ts';
import type { MovementKind } from '../../domain/reconciliation/movements.ts';
import type { Reader } from '../query/database.ts';
import type { ReconciliationBreak } from './breaks.ts';
import type { Position } from './schema.ts';

// Breaks as people look at them: newest first, a slice at a time, each slice found by an index.

const COLUMNS = `row.id, row.provider, row.kind, row.our_reference AS "ourReference", row.details, row.status, row.found_at AS "foundAt",
  row.resolved_at AS "resolvedAt", row.resource_id AS "resourceId", row.currency, row.day, row.part, row.expected, row.actual,
  row.run_id AS "runId", row.note, row.resolved_by AS "resolvedBy", row.credit_count AS "creditCount", row.credit_minor AS "creditMinor",
  row.debit_count AS "debitCount", row.debit_minor AS "debitMinor", row.explained_by AS "explainedBy"`;

/** The slice: rows before this id (null: from the newest on). */
export interface BreakSlice {
  readonly before: string | null;
  readonly size: number;
}

const BEFORE = '($1::uuid IS NULL OR row.id < $1::uuid)';
const NEWEST = 'ORDER BY row.id DESC LIMIT $2::integer';

const OPEN = `
  SELECT row.* FROM unnest($3::text[]) AS asked (provider) CROSS JOIN LATERAL (
    SELECT ${COLUMNS} FROM reconciliation_breaks row WHERE row.provider = asked.provider AND row.status = 'open' AND ${BEFORE} ${NEWEST}
  ) AS row ${NEWEST}`;

export function listOpenBreaks(
  reader: Reader,
  providers: readonly string[],
  { before, size }: BreakSlice,
): Promise<ReconciliationBreak[]> {
  return reader.statement<ReconciliationBreak>(OPEN, [before, size, providers]);
}

const OF_DAY = `
  SELECT row.* FROM unnest($3::text[], $4::text[]) AS asked (provider, currency) CROSS JOIN LATERAL (
    SELECT ${COLUMNS} FROM reconciliation_breaks row
    WHERE row.provider = asked.provider AND row.currency = asked.currency AND row.day = $5::date
      AND row.status = ANY (CASE WHEN $6::boolean THEN ARRAY['open'] ELSE ARRAY['open', 'resolved'] END) AND ${BEFORE} ${NEWEST}
  ) AS row ${NEWEST}`;

/** Of a day in these positions. */
export function listBreaksOfDay(
  reader: Reader,
  positions: readonly Position[],
  { day, onlyOpen }: { readonly day: LocalDate; readonly onlyOpen: boolean },
  { before, size }: BreakSlice,
): Promise<ReconciliationBreak[]> {
  const [providers, currencies] = [
    positions.map(({ provider }) => provider),
    positions.map(({ currency }) => currency),
  ];
  return reader.statement<ReconciliationBreak>(OF_DAY, [before, size, providers, currencies, day, onlyOpen]);
}

const ALL = `SELECT ${COLUMNS} FROM reconciliation_breaks row WHERE ${BEFORE} ${NEWEST}`;

export function listNewestBreaks(reader: Reader, { before, size }: BreakSlice): Promise<ReconciliationBreak[]> {
  return reader.statement<ReconciliationBreak>(ALL, [before, size]);
}

/** What the resource of a break is. */
export type BreakResource = 'outgoing-transfer' | 'incoming-transfer' | 'account';

const RESOURCE = `
  SELECT CASE WHEN EXISTS (SELECT FROM outgoing_transfers WHERE id = $1::uuid) THEN 'outgoing-transfer'
    WHEN EXISTS (SELECT FROM incoming_transfers WHERE id = $1::uuid) THEN 'incoming-transfer'
    WHEN EXISTS (SELECT FROM accounts WHERE id = $1::uuid) THEN 'account' END AS resource`;

export async function findBreakResource(reader: Reader, resourceId: string): Promise<BreakResource | null> {
  const [row] = await reader.statement<{ resource: BreakResource | null }>(RESOURCE, [resourceId]);
  return row?.resource ?? null;
}

/** One movement of money, on our side or the bank's. */
export interface BreakLine {
  readonly side: 'ours' | 'provider';
  readonly at: Date;
  readonly amountMinor: bigint;
  readonly currency: string;
  /** A movement of the statement, or the entry type of a posting. */
  readonly what: MovementKind | string;
  /** Whether the money came in. */
  readonly isCredit: boolean;
}

const LINES_MAX = 50;

// The bank's lines are kept while only one side has them; the postings of a transfer are at most a few.
const LINES = `
  (SELECT 'ours' AS side, posted_at AS at, posting.amount_minor AS "amountMinor", posting.currency, entry_type::text AS what,
      debit.kind = 'settlement' AS "isCredit"
    FROM postings posting
      LEFT JOIN system_accounts debit ON debit.id = posting.debit_account_id
      LEFT JOIN system_accounts credit ON credit.id = posting.credit_account_id
    WHERE (posting.outgoing_transfer_id = $4::uuid OR posting.incoming_transfer_id = $4::uuid) AND 'settlement' IN (debit.kind, credit.kind)
    ORDER BY posted_at LIMIT ${LINES_MAX})
  UNION ALL
  (SELECT side, booked_at, amount_minor, currency, movement, movement IN ('payment-in', 'payment-out-undone', 'opening-balance')
    FROM reconciliation_carry_overs
    WHERE provider = $1 AND currency = $2 AND direction IN ('in', 'out', 'opening') AND reference = $3 AND side = 'provider'
    ORDER BY booked_at LIMIT ${LINES_MAX})
  ORDER BY at`;

/** What both sides have of the payment of a break: our postings at the provider, and those lines of its statements that we lack. */
export async function readBreakLines(
  reader: Reader,
  { provider, currency, ourReference, resourceId }: ReconciliationBreak,
): Promise<BreakLine[]> {
  if (currency === null || (ourReference === null && resourceId === null)) return [];
  return reader.statement<BreakLine>(LINES, [provider, currency, ourReference, resourceId]);
}
