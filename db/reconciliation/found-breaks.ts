import type { LocalDate } from '../../domain/frame/time/dates.ts';
import type { DailyBreak, Facts } from '../../domain/reconciliation/daily-reconciliation.ts';
import { type KnownBreak, placeBreaks } from '../../domain/reconciliation/known-breaks.ts';
import type { BreakStatus, Difference } from '../../domain/reconciliation/reconciliation.ts';
import type { Reader, Transaction } from '../driver/client.ts';
import { newId } from '../frame/ids.ts';
import type { StoredFacts } from './schema.ts';
import type { Position } from './statements.ts';

/** `direction` and `movement` are null for an entry that cannot be read. */
export type FoundBreak = Omit<DailyBreak, 'kind' | 'direction' | 'movement'> & {
  readonly kind: Difference;
  readonly direction: DailyBreak['direction'] | null;
  readonly movement: DailyBreak['movement'] | null;
};

/** A break as a comparison has left it. */
export interface RecordedBreak {
  readonly id: string;
  readonly kind: string;
  readonly reference: string;
  readonly status: BreakStatus;
}

/** A comparison of a day. */
export interface DayRun {
  readonly runId: string;
  readonly day: LocalDate;
  /** The breaks that it has recorded before: none of them stands for another one. */
  readonly recorded: ReadonlySet<string>;
}

const BREAKS_LOCK = 7423054;
const LOCK_BREAKS = 'SELECT pg_advisory_xact_lock(hashtextextended($1, $2))';

/** Of two comparisons of a position at once, the second finds what the first has recorded. Comes after all locks of rows but breaks. */
export async function lockBreaks(tx: Transaction, { provider, currency }: Position): Promise<void> {
  await tx.statement(LOCK_BREAKS, [`${provider} ${currency}`, BREAKS_LOCK]);
}

const KNOWN = `
  SELECT id, kind, our_reference AS reference, details ->> 'movement' AS movement, status, day, part, found_at AS "foundAt", expected, actual
  FROM reconciliation_breaks JOIN (SELECT DISTINCT kind, reference FROM jsonb_to_recordset($3::jsonb) AS sent (kind text, reference text)) AS found
    USING (kind)
  WHERE provider = $1 AND currency = $2 AND kind LIKE 'statement-%' AND our_reference = found.reference`;

type KnownRow = Omit<KnownBreak, 'expected' | 'actual' | 'isTaken'> & Record<'expected' | 'actual', StoredFacts | null>;

async function listKnown(
  tx: Transaction,
  { provider, currency }: Position,
  breaks: readonly FoundBreak[],
  recorded: ReadonlySet<string>,
): Promise<KnownBreak[]> {
  const keys = breaks.map(({ kind, reference }) => ({ kind, reference }));
  const rows = await tx.statement<KnownRow>(KNOWN, [provider, currency, JSON.stringify(keys)]);
  return rows.map((row) => ({
    ...row,
    expected: factsOf(row.expected),
    actual: factsOf(row.actual),
    isTaken: recorded.has(row.id),
  }));
}

// A row whose status is changed meanwhile is judged as it is then.
const RECORD = `
  INSERT INTO reconciliation_breaks AS known (id, provider, kind, our_reference, details, found_at, resource_id, currency, day, part,
    expected, actual, run_id)
  SELECT id, $1, kind, reference, jsonb_build_object('currency', $2::text, 'direction', direction, 'movement', movement), service_now(),
    resource_id, $2, $3::date, part, expected, actual, $4::uuid
  FROM jsonb_to_recordset($5::jsonb) AS found (id uuid, kind text, direction text, reference text, movement text, part integer,
    resource_id uuid, expected jsonb, actual jsonb)
  ON CONFLICT (id) DO UPDATE SET
    details = excluded.details, resource_id = coalesce(excluded.resource_id, known.resource_id),
    day = excluded.day, part = excluded.part, expected = excluded.expected, actual = excluded.actual,
    run_id = greatest(known.run_id, excluded.run_id),
    status = CASE WHEN is_reopened(known, excluded.expected, excluded.actual) THEN 'open' ELSE known.status END,
    found_at = CASE WHEN is_reopened(known, excluded.expected, excluded.actual) THEN excluded.found_at ELSE known.found_at END,
    resolved_at = CASE WHEN is_reopened(known, excluded.expected, excluded.actual) THEN NULL ELSE known.resolved_at END,
    resolved_by = CASE WHEN is_reopened(known, excluded.expected, excluded.actual) THEN NULL ELSE known.resolved_by END,
    note = CASE WHEN is_reopened(known, excluded.expected, excluded.actual) THEN NULL ELSE known.note END
  RETURNING id, kind, our_reference AS reference, status`;

/**
 * Records what a comparison of a day has found. A break that a person has resolved stays resolved unless its facts have
 * changed; one that had gone by itself is open again.
 */
export async function recordBreaks(
  tx: Transaction,
  position: Position,
  { runId, day, recorded }: DayRun,
  breaks: readonly FoundBreak[],
): Promise<RecordedBreak[]> {
  if (breaks.length === 0) return [];
  await lockBreaks(tx, position);
  const places = placeBreaks(breaks, await listKnown(tx, position, breaks, recorded), day);
  const { provider, currency } = position;
  const rows = breaks.map(({ kind, direction, reference, movement, resourceId, expected, actual }, index) => ({
    id: places[index]?.id ?? newId(),
    kind,
    direction,
    reference,
    movement,
    part: places[index]?.part,
    resource_id: resourceId,
    expected: storedFacts(expected, currency),
    actual: storedFacts(actual, currency),
  }));
  return tx.statement<RecordedBreak>(RECORD, [provider, currency, day, runId, JSON.stringify(rows)]);
}

function storedFacts(facts: Facts | null, currency: string): StoredFacts | null {
  return facts && { ...facts, amountMinor: facts.amountMinor.toString(), currency };
}

function factsOf(stored: StoredFacts | null): Facts | null {
  return stored && { amountMinor: BigInt(stored.amountMinor), account: stored.account, date: stored.date };
}

const RESOLVE_GONE = `
  UPDATE reconciliation_breaks SET status = 'resolved', resolved_at = service_now(), details = details || '{"goneByItself": true}'
  WHERE provider = $1 AND currency = $2 AND day = $3::date AND status = 'open' AND run_id < $4::uuid
  RETURNING id, kind, our_reference AS reference, status`;

/**
 * Resolves the breaks of a day that its present comparison no longer finds. Another may compare the day at the same time: what
 * that has found, having begun later, is not gone.
 */
export function resolveGoneBreaks(
  reader: Reader,
  { provider, currency }: Position,
  day: LocalDate,
  runId: string,
): Promise<RecordedBreak[]> {
  return reader.statement<RecordedBreak>(RESOLVE_GONE, [provider, currency, day, runId]);
}

// As many as are late now, of those alike, whatever has been resolved before: a repetition resolves no further one.
const RESOLVE_MISSING = `
  WITH late AS (
    SELECT reference, movement, expected ->> 'date' AS date, expected ->> 'amountMinor' AS amount, row_number() OVER (
      PARTITION BY reference, movement, expected ->> 'date', expected ->> 'amountMinor') AS place
    FROM jsonb_to_recordset($3::jsonb) AS sent (reference text, movement text, expected jsonb)
  ), missing AS (
    SELECT id, our_reference AS reference, details ->> 'movement' AS movement, expected ->> 'date' AS date,
      expected ->> 'amountMinor' AS amount, row_number() OVER (
        PARTITION BY kind, our_reference, details ->> 'movement', expected ->> 'date', expected ->> 'amountMinor'
        ORDER BY status = 'open', id) AS place
    FROM reconciliation_breaks
    WHERE provider = $1 AND currency = $2 AND kind LIKE 'statement-%' AND kind IN ('statement-payment-missing', 'statement-not-at-provider')
      AND our_reference IN (SELECT reference FROM late)
  )
  UPDATE reconciliation_breaks AS known SET status = 'resolved', resolved_at = service_now(),
    details = details || '{"goneByItself": true}'
  FROM missing JOIN late USING (reference, date, amount, place)
  WHERE known.id = missing.id AND known.status = 'open' AND coalesce(missing.movement, late.movement) = late.movement
  RETURNING known.id, known.kind, known.our_reference AS reference, known.status`;

/** Resolves what was missing on its day and is on a later statement: `late` says what our books had. */
export async function resolveMissing(
  tx: Transaction,
  { provider, currency }: Position,
  late: readonly FoundBreak[],
): Promise<RecordedBreak[]> {
  if (late.length === 0) return [];
  const sent = late.map(({ reference, movement, expected }) => ({
    reference,
    movement,
    expected: storedFacts(expected, currency),
  }));
  return tx.statement<RecordedBreak>(RESOLVE_MISSING, [provider, currency, JSON.stringify(sent)]);
}
