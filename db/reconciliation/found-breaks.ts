import type { LocalDate } from '../../domain/common/time/dates.ts';
import type { DailyBreak, Facts } from '../../domain/reconciliation/daily-reconciliation.ts';
import { isNothing, NOTHING, type Totals } from '../../domain/reconciliation/day-balance.ts';
import { type BreakRow, type KnownBreak, matchKnownBreaks } from '../../domain/reconciliation/known-breaks.ts';
import { type BreakStatus, EXPLAINED_DIFFERENCES } from '../../domain/reconciliation/reconciliation.ts';
import { newId } from '../common/ids.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { CARRIED_DAYS_KEPT } from './movements.ts';
import type { Position, StoredFacts } from './schema.ts';

/** A break as a comparison has recorded it. */
export interface RecordedBreak {
  readonly id: string;
  readonly kind: string;
  readonly reference: string;
  readonly status: BreakStatus;
}

/** A break with its stored effect. */
export type EffectiveBreak = RecordedBreak & Totals;

/** A comparison of a day. */
export interface DayRun {
  readonly runId: string;
  readonly day: LocalDate;
  /** The breaks that it has recorded before: none of them is reused for another one. */
  readonly recorded: ReadonlySet<string>;
}

const BREAKS_LOCK = 7423054;
const LOCK_BREAKS = 'SELECT pg_advisory_xact_lock(hashtextextended($1, $2))';

/** The second of two concurrent comparisons of a position finds what the first has recorded. Taken after all locks but those of breaks. */
export async function lockBreaks(tx: Transaction, { provider, currency }: Position): Promise<void> {
  await tx.statement(LOCK_BREAKS, [`${provider} ${currency}`, BREAKS_LOCK]);
}

// Only a difference that changes no sum may be in the row of another day.
const KNOWN = `
  SELECT id, kind, our_reference AS reference, details ->> 'movement' AS movement, status, day, part, found_at AS "foundAt", expected, actual
  FROM reconciliation_breaks JOIN (
      SELECT kind, reference, bool_or(of_any_day) AS of_any_day
      FROM jsonb_to_recordset($3::jsonb) AS sent (kind text, reference text, of_any_day boolean) GROUP BY kind, reference
    ) AS found USING (kind)
  WHERE provider = $1 AND currency = $2 AND kind LIKE 'statement-%' AND our_reference = found.reference
    AND (found.of_any_day OR day IS NULL OR day = $4::date)`;

type KnownRow = Omit<KnownBreak, 'expected' | 'actual' | 'isTaken'> & Record<'expected' | 'actual', StoredFacts | null>;

async function listKnown(
  tx: Transaction,
  { provider, currency }: Position,
  breaks: readonly DailyBreak[],
  { day, recorded }: DayRun,
): Promise<KnownBreak[]> {
  const keys = breaks.map(({ kind, reference, effect }) => ({ kind, reference, of_any_day: isNothing(effect) }));
  const rows = await tx.statement<KnownRow>(KNOWN, [provider, currency, JSON.stringify(keys), day]);
  return rows.map((row) => ({
    ...row,
    expected: factsOf(row.expected),
    actual: factsOf(row.actual),
    isTaken: recorded.has(row.id),
  }));
}

// A concurrent change of a row's status is respected. An explained break needs no person, unless a person has resolved it.
const RECORD = `
  INSERT INTO reconciliation_breaks AS known (id, provider, kind, our_reference, details, found_at, resource_id, currency, day, part,
    expected, actual, run_id, credit_count, credit_minor, debit_count, debit_minor, explained_by, note, status, resolved_at)
  SELECT id, $1, kind, reference, jsonb_build_object('currency', $2::text, 'direction', direction, 'movement', movement) || coalesce(explained, '{}'),
    service_now(), resource_id, $2, $3::date, part, expected, actual, $4::uuid, credit_count, credit_minor, debit_count, debit_minor,
    explained_by, note, CASE WHEN explained_by IS NULL THEN 'open' ELSE 'resolved' END, CASE WHEN explained_by IS NOT NULL THEN service_now() END
  FROM jsonb_to_recordset($5::jsonb) AS found (id uuid, kind text, direction text, reference text, movement text, part integer,
    resource_id uuid, expected jsonb, actual jsonb, credit_count bigint, credit_minor bigint, debit_count bigint, debit_minor bigint,
    explained_by date, note text, explained jsonb)
  ON CONFLICT (id) DO UPDATE SET
    (details, resource_id, day, part, expected, actual, run_id, credit_count, credit_minor, debit_count, debit_minor, explained_by) = (
      excluded.details, coalesce(excluded.resource_id, known.resource_id), excluded.day, excluded.part, excluded.expected, excluded.actual,
      greatest(known.run_id, excluded.run_id), excluded.credit_count, excluded.credit_minor, excluded.debit_count, excluded.debit_minor,
      excluded.explained_by),
    (status, found_at, resolved_at, resolved_by, note) = (SELECT
      CASE WHEN again.is_explained THEN 'resolved' WHEN again.is_open THEN 'open' ELSE known.status END,
      CASE WHEN again.is_open AND NOT again.is_explained THEN excluded.found_at ELSE known.found_at END,
      CASE WHEN again.is_explained THEN coalesce(known.resolved_at, service_now()) WHEN NOT again.is_open THEN known.resolved_at END,
      CASE WHEN NOT again.is_open THEN known.resolved_by END,
      CASE WHEN again.is_explained AND known.resolved_by IS NULL THEN excluded.note WHEN NOT again.is_open THEN known.note END
      FROM (SELECT excluded.explained_by IS NOT NULL AS is_explained,
        is_reopened(known, excluded.expected, excluded.actual) AS is_open) AS again)
  RETURNING id, kind, our_reference AS reference, status, credit_count AS "creditCount", credit_minor AS "creditMinor",
    debit_count AS "debitCount", debit_minor AS "debitMinor"`;

/**
 * Records the differences that a comparison of a day has found. A break that a person has resolved stays resolved unless its facts
 * have changed; one that had disappeared by itself is open again.
 */
export async function recordBreaks(
  tx: Transaction,
  position: Position,
  run: DayRun,
  breaks: readonly DailyBreak[],
): Promise<EffectiveBreak[]> {
  if (breaks.length === 0) return [];
  await lockBreaks(tx, position);
  const { runId, day } = run;
  const places = matchKnownBreaks(breaks, await listKnown(tx, position, breaks, run), day);
  const { provider, currency } = position;
  const rows = breaks.map((one, index) => rowOf(one, currency, places[index] ?? { id: null, part: 1 }));
  return tx.statement<EffectiveBreak>(RECORD, [provider, currency, day, runId, JSON.stringify(rows)]);
}

function rowOf(found: DailyBreak, currency: string, place: BreakRow) {
  const { kind, direction, reference, movement, resourceId, expected, actual, effect, explanation } = found;
  return {
    id: place.id ?? newId(),
    kind,
    direction,
    reference,
    movement,
    part: place.part,
    resource_id: resourceId,
    expected: storedFacts(expected, currency),
    actual: storedFacts(actual, currency),
    credit_count: effect.creditCount.toString(),
    credit_minor: effect.creditMinor.toString(),
    debit_count: effect.debitCount.toString(),
    debit_minor: effect.debitMinor.toString(),
    explained_by: explanation?.day ?? null,
    note: explanation?.note ?? null,
    explained: explanation && { explainedSide: explanation.side, explainedMovement: explanation.movement },
  };
}

function storedFacts(facts: Facts | null, currency: string): StoredFacts | null {
  if (facts === null) return null;
  const { amountMinor, account, date, count = null } = facts;
  return { amountMinor: amountMinor.toString(), currency, account, date, ...(count === null ? {} : { count }) };
}

function factsOf(stored: StoredFacts | null): Facts | null {
  if (stored === null) return null;
  const { amountMinor, account, date, count = null } = stored;
  return { amountMinor: BigInt(amountMinor), account, date, count };
}

const RESOLVE_GONE = `
  WITH gone AS (
    SELECT id, status = 'open' AS was_open FROM reconciliation_breaks
    WHERE provider = $1 AND currency = $2 AND day = $3::date AND run_id < $4::uuid
      AND (status = 'open' OR explained_by IS NOT NULL OR num_nonnulls(nullif(credit_count, 0), nullif(credit_minor, 0),
        nullif(debit_count, 0), nullif(debit_minor, 0)) > 0)
    ORDER BY id FOR UPDATE
  ), updated AS (
    UPDATE reconciliation_breaks AS known SET status = 'resolved', credit_count = 0, credit_minor = 0, debit_count = 0, debit_minor = 0,
      resolved_at = coalesce(known.resolved_at, service_now()), note = CASE WHEN known.explained_by IS NULL THEN known.note END, explained_by = NULL,
      details = CASE WHEN gone.was_open OR known.explained_by IS NOT NULL THEN details || '{"goneByItself": true}' ELSE details END
    FROM gone WHERE known.id = gone.id
    RETURNING known.id, known.kind, known.our_reference AS reference, known.status, gone.was_open
  )
  SELECT id, kind, reference, status FROM updated WHERE was_open`;

/**
 * Resolves the breaks of a day that its present comparison no longer finds, and removes their effects. A concurrent comparison of
 * the day may have begun later: the breaks that it has found are kept. Returns those that were open.
 */
export function resolveGoneBreaks(
  reader: Reader,
  { provider, currency }: Position,
  day: LocalDate,
  runId: string,
): Promise<RecordedBreak[]> {
  return reader.statement<RecordedBreak>(RESOLVE_GONE, [provider, currency, day, runId]);
}

const EFFECTS = `
  SELECT coalesce(sum(credit_count), 0)::bigint AS "creditCount", coalesce(sum(credit_minor), 0)::bigint AS "creditMinor",
    coalesce(sum(debit_count), 0)::bigint AS "debitCount", coalesce(sum(debit_minor), 0)::bigint AS "debitMinor"
  FROM reconciliation_breaks WHERE provider = $1 AND currency = $2 AND day = $3::date`;

/** The effect of all stored breaks of a day on its sums. */
export async function sumEffects(reader: Reader, { provider, currency }: Position, day: LocalDate): Promise<Totals> {
  const [sum] = await reader.statement<Totals>(EFFECTS, [provider, currency, day]);
  return sum ?? NOTHING;
}

// Each one-sided movement of a day explains as many differences of other days as there are of it: of this day, and of earlier compared days
// that explain this one's, unless their movements have been deleted.
const OPEN_UNEXPLAINED = `
  WITH explaining_days AS (
    SELECT $3::date AS explained_by
    UNION
    SELECT explained_by FROM reconciliation_breaks JOIN reconciliations ON (reconciliations.provider, reconciliations.currency,
        reconciliations.day) = (reconciliation_breaks.provider, reconciliation_breaks.currency, explained_by)
    WHERE reconciliation_breaks.provider = $1 AND reconciliation_breaks.currency = $2 AND reconciliation_breaks.day = $3::date
      AND explained_by >= (SELECT max(day) FROM reconciliations WHERE provider = $1 AND currency = $2) - ${CARRIED_DAYS_KEPT}
  ), claims AS (
    SELECT id, explained_by, our_reference AS reference, details ->> 'direction' AS direction, details ->> 'explainedSide' AS side,
      details ->> 'explainedMovement' AS movement, row_number() OVER (
        PARTITION BY explained_by, our_reference, details ->> 'direction', details ->> 'explainedSide', details ->> 'explainedMovement'
        ORDER BY day, part, id) AS place
    FROM reconciliation_breaks
    WHERE provider = $1 AND currency = $2 AND explained_by IN (SELECT explained_by FROM explaining_days) AND day <> explained_by
      AND status = 'resolved' AND resolved_by IS NULL AND kind IN (SELECT jsonb_array_elements_text($4::jsonb))
  ), explaining AS (
    SELECT day AS explained_by, direction, reference, movement, side, count(*) AS count FROM reconciliation_carry_overs
    WHERE provider = $1 AND currency = $2 AND day IN (SELECT explained_by FROM explaining_days) GROUP BY 1, 2, 3, 4, 5
  )
  UPDATE reconciliation_breaks AS known SET status = 'open', found_at = service_now(), resolved_at = NULL, note = NULL
  FROM claims LEFT JOIN explaining USING (explained_by, direction, reference, movement, side)
  WHERE known.id = claims.id AND claims.place > coalesce(explaining.count, 0)
  RETURNING known.id, known.kind, known.our_reference AS reference, known.status`;

/** Opens breaks of other days that a day no longer explains, and its own breaks if other days no longer explain them. */
export function openUnexplained(
  reader: Reader,
  { provider, currency }: Position,
  day: LocalDate,
): Promise<RecordedBreak[]> {
  const kinds = JSON.stringify(EXPLAINED_DIFFERENCES);
  return reader.statement<RecordedBreak>(OPEN_UNEXPLAINED, [provider, currency, day, kinds]);
}

// As many of the same kind as are late now, however many were resolved before: a repetition resolves no further one. A break that its own
// day has as explained was not missing there.
const RESOLVE_MISSING = `
  WITH late AS (
    SELECT reference, movement, expected ->> 'date' AS date, expected ->> 'amountMinor' AS amount, row_number() OVER (
      PARTITION BY reference, movement, expected ->> 'date', expected ->> 'amountMinor') AS place
    FROM jsonb_to_recordset($3::jsonb) AS sent (reference text, movement text, expected jsonb)
  ), explained AS (
    SELECT our_reference AS reference, details ->> 'movement' AS movement, expected ->> 'date' AS date,
      expected ->> 'amountMinor' AS amount, count(*) AS count
    FROM reconciliation_breaks
    WHERE provider = $1 AND currency = $2 AND kind LIKE 'statement-%' AND kind = 'statement-day-differs' AND explained_by IS NOT NULL
      AND expected IS NOT NULL AND status = 'resolved' AND our_reference IN (SELECT reference FROM late)
    GROUP BY 1, 2, 3, 4
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
  FROM missing JOIN late USING (reference, date, amount) LEFT JOIN explained
    ON (explained.reference, explained.movement, explained.date, explained.amount) = (late.reference, late.movement, late.date, late.amount)
  WHERE missing.place = late.place - coalesce(explained.count, 0) AND known.id = missing.id AND known.status = 'open' AND coalesce(missing.movement, late.movement) = late.movement
  RETURNING known.id, known.kind, known.our_reference AS reference, known.status`;

/** A movement that was missing on its day, and is on a later statement. */
export interface LateMovement {
  readonly reference: string;
  readonly movement: DailyBreak['movement'];
  /** The facts in our books. */
  readonly expected: Facts;
}

/** Resolves breaks of movements that were missing on their day and are on a later statement. */
export async function resolveMissing(
  tx: Transaction,
  { provider, currency }: Position,
  later: readonly LateMovement[],
): Promise<RecordedBreak[]> {
  if (later.length === 0) return [];
  const sent = later.map(({ expected, ...one }) => ({ ...one, expected: storedFacts(expected, currency) }));
  return tx.statement<RecordedBreak>(RESOLVE_MISSING, [provider, currency, JSON.stringify(sent)]);
}

const REOPEN_CONTRADICTED = `
  UPDATE reconciliation_breaks AS known SET status = 'open', found_at = service_now(), resolved_at = NULL, resolved_by = NULL, note = NULL
  FROM jsonb_to_recordset($3::jsonb) AS sent (reference text, day date, movement text)
  WHERE provider = $1 AND currency = $2 AND kind LIKE 'statement-%' AND kind IN ('statement-not-booked', 'statement-unknown-payment')
    AND our_reference = sent.reference AND known.day = sent.day AND known.details ->> 'movement' = sent.movement
    AND status = 'resolved' AND resolved_by IS NOT NULL AND (credit_count, debit_count) <> (0, 0)
  RETURNING known.id, known.kind, known.our_reference AS reference, known.status`;

/** Opens what a person has resolved of another day before our books had it, if they have a different amount; that day must be compared again. */
export async function reopenContradicted(
  tx: Transaction,
  { provider, currency }: Position,
  sent: readonly { readonly reference: string; readonly day: LocalDate; readonly movement: string }[],
): Promise<RecordedBreak[]> {
  if (sent.length === 0) return [];
  return tx.statement<RecordedBreak>(REOPEN_CONTRADICTED, [provider, currency, JSON.stringify(sent)]);
}
