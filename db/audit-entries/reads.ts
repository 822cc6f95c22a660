import { and, type SQL, sql } from 'drizzle-orm';
import { bigint, jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { isUuid } from '../../domain/frame/ids.ts';
import { amountNumber } from '../../domain/frame/money.ts';
import type { Reader } from '../driver/client.ts';
import { listOf, type PageOf, type PageRequest, type Place, readPage, walkOf } from '../driver/queries/lists.ts';
import type { Given } from '../driver/queries/queries.ts';
import type { AuditedFields, AuditedResource } from '../frame/audit-entries.ts';
import { readClock } from '../frame/clock.ts';
import { equalTo } from '../frame/filters.ts';

/** The view `audit_log`: what was appended, and the creation of each outgoing transfer, derived from its row. */
const auditLog = pgTable('audit_log', {
  id: uuid('id').primaryKey(),
  occurredAt: timestamp('occurred_at', { withTimezone: true, mode: 'date' }).notNull(),
  actor: text('actor').notNull(),
  action: text('action').notNull(),
  resource: text('resource').notNull(),
  resourceId: text('resource_id').notNull(),
  requestId: text('request_id'),
  before: jsonb('before').$type<AuditedFields>(),
  after: jsonb('after').$type<AuditedFields>(),
  transferId: uuid('transfer_id'),
  amountMinor: bigint('amount_minor', { mode: 'bigint' }),
  currency: text('currency'),
});

type Row = typeof auditLog.$inferSelect;

export type LoggedEntry = Omit<Row, 'transferId' | 'amountMinor' | 'currency'>;

/** The period includes both of its ends. */
export interface AuditFilter {
  readonly resource?: AuditedResource | undefined;
  readonly resourceId?: string | undefined;
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly occurredFrom?: Date | undefined;
  readonly occurredTo?: Date | undefined;
}

/** No entry and no transfer has this id. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

type Values = AuditFilter & { readonly transferId?: string | undefined };

/** What the filter says, once for the entries' index of ids as text and once for that of transfers. */
function valuesOf(filter: AuditFilter): Values {
  if (filter.resourceId === undefined) return filter;
  const lowerCase = filter.resourceId.toLowerCase();
  return isUuid(lowerCase)
    ? { ...filter, resourceId: lowerCase, transferId: lowerCase }
    : { ...filter, transferId: NO_ID };
}

/** Entries are stored to the microsecond and shown to the millisecond, so the end of a period includes its whole millisecond. */
function conditions(given: Partial<Given<Values>>): SQL | undefined {
  const { resource, resourceId, transferId, actor, action, occurredAt } = auditLog;
  return and(
    ...equalTo([
      [resource, given.resource],
      [resourceId, given.resourceId],
      [actor, given.actor],
      [action, given.action],
    ]),
    given.transferId === undefined
      ? undefined
      : sql`(${transferId} IS NULL OR ${transferId} = ${given.transferId}::uuid)`,
    given.occurredFrom === undefined ? undefined : sql`${occurredAt} >= ${given.occurredFrom}::timestamptz`,
    given.occurredTo === undefined
      ? undefined
      : sql`${occurredAt} < ${given.occurredTo}::timestamptz + interval '1 millisecond'`,
  );
}

const LIST = listOf<Values, typeof auditLog>(auditLog, conditions, ['occurredAt', 'id']);

/** One page of the log by time, then id, and the total. */
export async function listAuditEntries(
  reader: Reader,
  filter: AuditFilter,
  page: PageRequest,
): Promise<PageOf<LoggedEntry>> {
  const values = valuesOf(filter);
  const { rows, totalElements } = await readPage(reader, LIST(values), values, page);
  return { rows: rows.map(entryOf), totalElements };
}

const WALK = walkOf<Values, typeof auditLog>(auditLog, conditions, auditLog.occurredAt);

/** Rows of one statement: few enough for its deadline, whatever the filter. */
const WALK_ROWS = 500;

/**
 * Reads the whole log up to the present, some entries at a time. Each statement sees what is there by then: a change whose
 * transaction was still under way when the walk passed its time is missing.
 */
export async function* walkAuditEntries(
  reader: Reader,
  filter: AuditFilter,
): AsyncGenerator<readonly LoggedEntry[], void, undefined> {
  const now = await readClock(reader);
  const { occurredTo } = filter;
  const isOver = occurredTo !== undefined && occurredTo < now;
  const values = { ...valuesOf(filter), occurredTo: isOver ? occurredTo : now };
  let place: Place = { time: '-infinity', id: NO_ID };
  for (;;) {
    const rows = await reader.run(WALK(values), { ...values, after: place.time, afterId: place.id, size: WALK_ROWS });
    const last = rows.at(-1);
    if (last !== undefined) yield rows.map(({ placeTime: _, ...row }) => entryOf(row));
    if (last === undefined || rows.length < WALK_ROWS) return;
    place = { time: last.placeTime, id: last.id };
  }
}

function entryOf({ transferId: _, amountMinor, currency, ...entry }: Row): LoggedEntry {
  if (amountMinor === null || currency === null) return entry;
  return { ...entry, after: { ...entry.after, amount: amountNumber(amountMinor, currency) } };
}
