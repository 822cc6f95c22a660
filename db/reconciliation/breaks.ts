import { and, type SQL, sql } from 'drizzle-orm';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { ReconciliationBreakId } from '../../domain/common/ids.ts';
import type { LocalDate } from '../../domain/common/time/dates.ts';
import { resolveByPerson } from '../../domain/reconciliation/break-resolutions.ts';
import type { BreakStatus } from '../../domain/reconciliation/reconciliation.ts';
import { auditorOf, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { equalTo } from '../common/filters.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { listOf, type PageOf, type PageRequest, readPage } from '../query/lists.ts';
import type { Given } from '../query/queries.ts';
import { lockIn, lookUpIn, sendUpdate } from '../query/rows.ts';
import { reconciliationBreaks } from './schema.ts';

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

/** A person has investigated it. */
export async function resolveBreak(
  tx: Transaction,
  id: ReconciliationBreakId,
  note: string,
  initiator: Initiator,
): Promise<ReconciliationBreak> {
  const [before, now] = await Promise.all([tx.lock(LOCKED, id), readClock(tx)]);
  if (before === null) throw recordNotFound('reconciliationBreak', 'id', id);
  const change = resolveByPerson(before, { note, actor: initiator.actor, now });
  const after = sendUpdate(tx, reconciliationBreaks, before, change);
  // The note may name another person.
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
