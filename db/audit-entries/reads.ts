import { and, type SQL, sql } from 'drizzle-orm';
import { isUuid } from '../../domain/common/ids.ts';
import { amountNumber } from '../../domain/common/money.ts';
import type { AuditedResource } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { leastIdAbout } from '../common/ids.ts';
import { countedTotal } from '../query/counted-lists.ts';
import type { Reader } from '../query/database.ts';
import { type Cursor, keysetList, listOf, type PageOf, type PageRequest, readPage } from '../query/lists.ts';
import { type Given, namesIn } from '../query/queries.ts';
import { countOfTransfers } from '../transfers/transfer-counts.ts';
import { auditLog } from './schema.ts';

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

type Values = AuditFilter & { readonly transferId?: string | undefined; readonly leastId?: string | undefined };

/** The filter's values, for the entries' index of ids as text and for the index of transfers. No entry is in a month before its resource. */
function valuesOf(filter: AuditFilter): Values {
  if (filter.resourceId === undefined) return filter;
  const lowerCase = filter.resourceId.toLowerCase();
  return isUuid(lowerCase)
    ? { ...filter, resourceId: lowerCase, transferId: lowerCase, leastId: leastIdAbout(lowerCase) }
    : { ...filter, transferId: NO_ID };
}

/** Entries are stored to the microsecond and shown to the millisecond, so the end of a period includes its whole millisecond. */
function conditions(given: Partial<Given<Values>>): SQL | undefined {
  const { id, resource, resourceId, transferId, actor, action, occurredAt } = auditLog;
  return and(
    // The sub-selects let one plan serve every value: planning for many months takes longer than executing.
    ...[
      [resource, given.resource] as const,
      [resourceId, given.resourceId] as const,
      [actor, given.actor] as const,
      [action, given.action] as const,
    ].flatMap(([column, value]) => (value === undefined ? [] : [sql`${column} = (SELECT ${value}::text)`])),
    given.transferId === undefined
      ? undefined
      : sql`(${transferId} IS NULL OR ${transferId} = ${given.transferId}::uuid)`,
    given.leastId === undefined ? undefined : sql`${id} >= (SELECT ${given.leastId}::uuid)`,
    given.occurredFrom === undefined ? undefined : sql`${occurredAt} >= ${given.occurredFrom}::timestamptz`,
    given.occurredTo === undefined
      ? undefined
      : sql`${occurredAt} < ${given.occurredTo}::timestamptz + interval '1 millisecond'`,
  );
}

/** Of the entries, and of the transfers whose creation is one. Other filters count row by row. */
function totalOf({ resource, action, ...others }: Partial<Given<Values>>): SQL | undefined {
  if (namesIn(others).length > 0) return undefined;
  const asked = { ...(resource && { resource }), ...(action && { action }) };
  const isCreation = and(
    resource && sql`${resource}::text = 'outgoing-transfer'`,
    action && sql`${action}::text = 'created'`,
  );
  return sql`SELECT ((${countedTotal('audit_entries', auditLog, asked, conditions(asked))}) +
    CASE WHEN ${isCreation ?? sql`true`} THEN (${countOfTransfers('outgoing')}) ELSE 0 END)`;
}

const LIST = listOf<Values, typeof auditLog>(auditLog, conditions, ['occurredAt', 'id'], { key: ['id'], totalOf });

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

const KEYSET_LIST = keysetList<Values, typeof auditLog>(auditLog, conditions, auditLog.occurredAt);

/** Rows of one statement: few enough for its deadline, whatever the filter. */
const ROWS_PER_STATEMENT = 500;

/**
 * Reads the whole log up to the present in batches. Each statement sees what is committed by then: a change whose transaction was
 * still in progress when the cursor passed its time is missing.
 */
export async function* streamAuditEntries(
  reader: Reader,
  filter: AuditFilter,
): AsyncGenerator<readonly LoggedEntry[], void, undefined> {
  const now = await readClock(reader);
  const { occurredTo } = filter;
  const isOver = occurredTo !== undefined && occurredTo < now;
  const values = { ...valuesOf(filter), occurredTo: isOver ? occurredTo : now };
  let cursor: Cursor = { time: '-infinity', id: NO_ID };
  for (;;) {
    const rows = await reader.run(KEYSET_LIST(values), {
      ...values,
      after: cursor.time,
      afterId: cursor.id,
      size: ROWS_PER_STATEMENT,
    });
    const last = rows.at(-1);
    if (last !== undefined) yield rows.map(({ cursorTime: _, ...row }) => entryOf(row));
    if (last === undefined || rows.length < ROWS_PER_STATEMENT) return;
    cursor = { time: last.cursorTime, id: last.id };
  }
}

const NEWEST = keysetList<Values, typeof auditLog>(auditLog, conditions, auditLog.occurredAt, 'newest-first');

/** Entries before a place (null: from the newest on), newest first, each with its own place. */
export async function listNewestAuditEntries(
  reader: Reader,
  filter: AuditFilter,
  { before, size }: { readonly before: Cursor | null; readonly size: number },
): Promise<(LoggedEntry & { readonly cursor: Cursor })[]> {
  const values = valuesOf(filter);
  const { time, id } = before ?? { time: 'infinity', id: NO_ID };
  const rows = await reader.run(NEWEST(values), { ...values, after: time, afterId: id, size });
  return rows.map(({ cursorTime, ...row }) => ({ ...entryOf(row), cursor: { time: cursorTime, id: row.id } }));
}

function entryOf({ transferId: _, amountMinor, currency, ...entry }: Row): LoggedEntry {
  if (amountMinor === null || currency === null) return entry;
  return { ...entry, after: { ...entry.after, amount: amountNumber(amountMinor, currency) } };
}
