import { and, type SQL, sql } from 'drizzle-orm';
import { recordNotFound } from '../../../domain/frame/errors.ts';
import type { ReconciliationBreakId } from '../../../domain/frame/ids.ts';
import type { LocalDate } from '../../../domain/frame/time/dates.ts';
import { resolveByPerson } from '../../../domain/ledger/break-resolutions.ts';
import type { DailyBreak, Facts } from '../../../domain/ledger/daily-reconciliation.ts';
import type { BreakStatus, Difference } from '../../../domain/ledger/reconciliation.ts';
import type { Reader, Transaction } from '../../driver/client.ts';
import { listOf, type PageOf, type PageRequest, readPage } from '../../driver/queries/lists.ts';
import type { Given } from '../../driver/queries/queries.ts';
import { lockIn, lookUpIn, updateRow } from '../../driver/queries/rows.ts';
import { auditorOf, type Initiator } from '../../frame/audit-entries.ts';
import { readClock } from '../../frame/clock.ts';
import { equalTo } from '../../frame/filters.ts';
import { newId } from '../../frame/ids.ts';
import { reconciliationBreaks, type StoredFacts } from './schema.ts';
import type { Position } from './statements.ts';

export type ReconciliationBreak = typeof reconciliationBreaks.$inferSelect;

export interface BreakFilter {
  readonly kind?: string | undefined;
  readonly provider?: string | undefined;
  readonly currency?: string | undefined;
  readonly day?: LocalDate | undefined;
  readonly reference?: string | undefined;
  readonly resourceId?: string | undefined;
  readonly status?: BreakStatus | undefined;
}

function conditions(given: Partial<Given<BreakFilter>>): SQL | undefined {
  const { kind, provider, currency, day, ourReference, resourceId, status } = reconciliationBreaks;
  return and(
    ...equalTo([
      [kind, given.kind],
      [provider, given.provider],
      [currency, given.currency],
      [ourReference, given.reference],
      [status, given.status],
    ]),
    given.day === undefined ? undefined : sql`${day} = ${given.day}::date`,
    given.resourceId === undefined ? undefined : sql`${resourceId} = ${given.resourceId}::uuid`,
  );
}

const LIST = listOf<BreakFilter, typeof reconciliationBreaks>(reconciliationBreaks, conditions);

/** Breaks of every kind, in the order in which they were first found. */
export function listBreaks(
  reader: Reader,
  filter: BreakFilter,
  page: PageRequest,
): Promise<PageOf<ReconciliationBreak>> {
  return readPage(reader, LIST(filter), filter, page);
}

const BREAK = lookUpIn(reconciliationBreaks);

export function findBreak(reader: Reader, id: ReconciliationBreakId): Promise<ReconciliationBreak | null> {
  return reader.find(BREAK, id);
}

const LOCKED = lockIn(reconciliationBreaks, 'update');
const audit = auditorOf('reconciliation-break');

/** A person has looked into it. */
export async function resolveBreak(
  tx: Transaction,
  id: ReconciliationBreakId,
  note: string,
  initiator: Initiator,
): Promise<ReconciliationBreak> {
  const before = await tx.first(LOCKED, { id });
  if (before === null) throw recordNotFound('reconciliationBreak', 'id', id);
  const change = resolveByPerson(before, { note, actor: initiator.actor, now: await readClock(tx) });
  const after = await updateRow(tx, reconciliationBreaks, id, change);
  // What a person writes may name another one.
  const concealed = { before: { note: before.note }, after: { note: after.note } };
  audit(tx, id, {
    action: 'resolved',
    initiator,
    before: { status: before.status },
    after: { status: after.status },
    concealed,
  });
  return after;
}

const RECORD = `
  INSERT INTO reconciliation_breaks AS known (id, provider, kind, our_reference, details, found_at, resource_id, currency, day,
    expected, actual, run_id)
  SELECT id, $1, kind, reference, jsonb_build_object('currency', $2::text, 'direction', direction), service_now(), resource_id, $2,
    $3::date, expected, actual, $4::uuid
  FROM jsonb_to_recordset($5::jsonb) AS found (id uuid, kind text, direction text, reference text, resource_id uuid, expected jsonb, actual jsonb)
  ON CONFLICT (provider, kind, our_reference) WHERE kind LIKE 'statement-%' DO UPDATE SET
    details = excluded.details, resource_id = coalesce(excluded.resource_id, known.resource_id), currency = excluded.currency,
    day = excluded.day, expected = excluded.expected, actual = excluded.actual, run_id = greatest(known.run_id, excluded.run_id),
    status = CASE WHEN is_reopened(known, excluded.expected, excluded.actual) THEN 'open' ELSE known.status END,
    found_at = CASE WHEN is_reopened(known, excluded.expected, excluded.actual) THEN excluded.found_at ELSE known.found_at END,
    resolved_at = CASE WHEN is_reopened(known, excluded.expected, excluded.actual) THEN NULL ELSE known.resolved_at END,
    resolved_by = CASE WHEN is_reopened(known, excluded.expected, excluded.actual) THEN NULL ELSE known.resolved_by END,
    note = CASE WHEN is_reopened(known, excluded.expected, excluded.actual) THEN NULL ELSE known.note END
  RETURNING kind, our_reference AS reference, status`;

/** `direction` is null for an entry that cannot be read. */
export type FoundBreak = Omit<DailyBreak, 'kind' | 'direction'> & {
  readonly kind: Difference;
  readonly direction: DailyBreak['direction'] | null;
};

/** A break as a comparison has left it. */
export interface RecordedBreak {
  readonly kind: string;
  readonly reference: string;
  readonly status: BreakStatus;
}

/**
 * Records what a comparison of a day has found. A break that a person has resolved stays resolved unless its facts have
 * changed; one that had gone by itself is open again.
 */
export async function recordBreaks(
  reader: Reader,
  { provider, currency }: Position,
  day: LocalDate,
  runId: string,
  breaks: readonly FoundBreak[],
): Promise<RecordedBreak[]> {
  if (breaks.length === 0) return [];
  const rows = breaks.map(({ kind, direction, reference, resourceId, expected, actual }) => ({
    id: newId(),
    kind,
    direction,
    reference,
    resource_id: resourceId,
    expected: storedFacts(expected, currency),
    actual: storedFacts(actual, currency),
  }));
  return reader.statement<RecordedBreak>(RECORD, [provider, currency, day, runId, JSON.stringify(rows)]);
}

function storedFacts(facts: Facts | null, currency: string): StoredFacts | null {
  return facts && { ...facts, amountMinor: facts.amountMinor.toString(), currency };
}

const RESOLVE_GONE = `
  UPDATE reconciliation_breaks SET status = 'resolved', resolved_at = service_now(), details = details || '{"goneByItself": true}'
  WHERE provider = $1 AND currency = $2 AND day = $3::date AND status = 'open' AND run_id < $4::uuid
  RETURNING kind, our_reference AS reference, status`;

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

const RESOLVE_MISSING = `
  UPDATE reconciliation_breaks SET status = 'resolved', resolved_at = service_now(), details = details || '{"goneByItself": true}'
  WHERE provider = $1 AND currency = $2 AND status = 'open'
    AND kind IN ('statement-payment-missing', 'statement-not-at-provider')
    AND our_reference IN (SELECT jsonb_array_elements_text($3::jsonb))
  RETURNING kind, our_reference AS reference, status`;

/** Resolves what was missing and is on a later statement. */
export function resolveMissing(
  reader: Reader,
  { provider, currency }: Position,
  references: readonly string[],
): Promise<RecordedBreak[]> {
  return reader.statement<RecordedBreak>(RESOLVE_MISSING, [provider, currency, JSON.stringify(references)]);
}
