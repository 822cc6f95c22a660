import { getTableColumns, is, SQL, sql } from 'drizzle-orm';
import type { LockStrength, PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Transaction } from './database.ts';
import { guardKind } from './guards.ts';
import {
  byId,
  byKey,
  type Covered,
  type ListStatement,
  type RowLock,
  type RowVersion,
  type TableWithId,
} from './list-statements.ts';
import {
  type Children,
  forEachRow,
  type Given,
  type Joined,
  type LeftJoin,
  type LookUp,
  namesIn,
  prepared,
  preparedChange,
  type Query,
} from './queries.ts';
import { deletionOf, insertionOf, updateOf } from './row-statements.ts';
import { isListed } from './values.ts';

/** The look-up of a table's whole rows by id, for `find`. */
export function lookUpIn<Table extends TableWithId>(table: Table): LookUp<Table['$inferSelect']> {
  const query = prepared((db, given: Given<{ ids: readonly string[] }>) => {
    const every: TableWithId = table;
    return db.select().from(every).where(isListed(every.id, given.ids));
  });
  // A selection without fields is the whole row of this table.
  return query as LookUp<Table['$inferSelect']>;
}

/** The look-up of a table's whole rows by id with the rows joined to each, for `findChildren` and `groupRows`. */
export function lookUpWith<Table extends TableWithId, Other>(
  table: Table,
  other: LeftJoin<Other>,
): Children<Joined<Table['$inferSelect'], Other>> {
  const query = prepared((db, given: Given<{ ids: readonly string[] }>) => {
    const every: TableWithId = table;
    return db
      .select({ row: getTableColumns(every), joined: other.columns })
      .from(every)
      .leftJoinLateral(...forEachRow(other))
      .where(isListed(every.id, given.ids))
      .orderBy(...other.order);
  });
  return {
    // The selection is the whole row of this table, and the columns of the other.
    query: query as Query<{ readonly ids: readonly string[] }, Joined<Table['$inferSelect'], Other>>,
    parentOf: ({ row }) => row.id,
  };
}

/** The look-up of a table's whole rows by their parents' ids, those of each parent by id, for `findChildren`. */
export function childrenIn<Table extends TableWithId>(
  table: Table,
  parent: PgColumn,
  parentOf: (row: Table['$inferSelect']) => string,
): Children<Table['$inferSelect']> {
  const query = prepared((db, given: Given<{ ids: readonly string[] }>) => {
    const every: TableWithId = table;
    return db.select().from(every).where(isListed(parent, given.ids)).orderBy(every.id);
  });
  // As above.
  return { query: query as Query<{ readonly ids: readonly string[] }, Table['$inferSelect']>, parentOf };
}

/**
 * The lock of a table's rows, each read whole. Where it covers the parts of a row too, its holder leaves another version
 * of the row, changed or not: a write without locks finds by this that the parts may have changed.
 */
export function lockIn<Table extends TableWithId>(
  table: Table,
  strength: LockStrength,
  covers: Covered = 'row',
): RowLock<Table['$inferSelect']> {
  const query = preparedChange((db, given: Given<{ ids: readonly string[] }>) => {
    const every: TableWithId = table;
    // In one order, whatever the order of the ids.
    return db.select().from(every).where(isListed(every.id, given.ids)).orderBy(every.id).for(strength);
  });
  return {
    // As above.
    waiting: byId(query as LookUp<Table['$inferSelect']>, 'locks'),
    optimistic: { reading: versionsIn(table), kind: guardKind(table, strength, covers) },
  };
}

/** Reads rows with their versions: each change of a row gives it another `xmin`. */
function versionsIn<Table extends TableWithId>(
  table: Table,
): ListStatement<string, RowVersion<Table['$inferSelect']> | null> {
  const query = prepared((db, given: Given<{ ids: readonly string[] }>) => {
    const every: TableWithId = table;
    return db
      .select({ row: getTableColumns(every), version: sql<string>`xmin::text`.as('version') })
      .from(every)
      .where(isListed(every.id, given.ids));
  });
  // As above.
  const versions = query as Query<{ readonly ids: readonly string[] }, RowVersion<Table['$inferSelect']>>;
  return byKey(versions, 'locks', ({ row }) => row.id);
}

/** Inserts a row and returns it as stored. */
export async function insertRow<Table extends TableWithId>(
  tx: Transaction,
  table: Table,
  values: Table['$inferInsert'],
): Promise<Table['$inferSelect']> {
  const [row] = await tx.each(insertionOf(table, namesIn(values), 'stored'), [values]);
  if (!row) throw new Error('an insert returned no row');
  return row;
}

/** Inserts a row unless a unique key is taken; null if it is. */
export async function insertRowOnce<Table extends TableWithId>(
  tx: Transaction,
  table: Table,
  values: Table['$inferInsert'],
): Promise<Table['$inferSelect'] | null> {
  const [row] = await tx.each(insertionOf(table, namesIn(values), 'once'), [values]);
  return row ?? null;
}

/** Changes the given columns of a row that the transaction has locked, and returns the row as stored. */
export async function updateRow<Table extends TableWithId>(
  tx: Transaction,
  table: Table,
  id: string,
  changes: Partial<Table['$inferInsert']>,
): Promise<Table['$inferSelect']> {
  const [row] = await tx.each(updateOf(table, namesIn(changes), 'stored'), [{ ...changes, id }]);
  if (!row) throw new Error(`the row ${id} is gone under its lock`);
  return row;
}

/**
 * Sends an insertion with the commit (`sendWithCommit`) and returns the row as it will be stored, without waiting for it. For
 * rows that no trigger changes, in tables without a unique rule that a request may break.
 */
export function sendInsertion<Table extends PgTable>(
  tx: Transaction,
  table: Table,
  values: Table['$inferInsert'],
): Table['$inferSelect'] {
  const row = storedRow(table, values);
  tx.sendEach(insertionOf(table, namesIn(values), 'silently'), [values]);
  return row;
}

/** The same for a change of a row that the transaction has locked. */
export function sendUpdate<Table extends TableWithId>(
  tx: Transaction,
  table: Table,
  before: Table['$inferSelect'],
  changes: Partial<Table['$inferInsert']>,
): Table['$inferSelect'] {
  sendChange(tx, table, before.id, changes);
  return { ...before, ...storedValues(table, changes) };
}

/** The same for a caller that needs no row in return. */
export function sendChange<Table extends TableWithId>(
  tx: Transaction,
  table: Table,
  id: string,
  changes: Partial<Table['$inferInsert']>,
): void {
  tx.sendEach(updateOf(table, namesIn(changes), 'silently'), [{ ...changes, id }]);
}

/** Sends the deletion, with the commit, of a row that the transaction has locked. */
export function sendDeletion(tx: Transaction, table: TableWithId, id: string): void {
  tx.sendEach(deletionOf(table), [id]);
}

/** The row with the schema's defaults, and JSON as Postgres returns it. */
function storedRow<Table extends PgTable>(table: Table, values: object): Table['$inferSelect'] {
  const row = storedValues(table, values);
  for (const [name, column] of Object.entries(getTableColumns<PgTable>(table))) {
    if (row[name] === undefined) row[name] = defaultOf(column);
  }
  // Every column of the table has its value.
  return row as Table['$inferSelect'];
}

function storedValues(table: PgTable, values: object): Record<string, unknown> {
  const columns = getTableColumns(table);
  const stored: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue;
    stored[name] = columns[name]?.columnType === 'PgJsonb' && value !== null ? storedJson(value) : value;
  }
  return stored;
}

function defaultOf(column: PgColumn): unknown {
  if (!column.hasDefault) return null;
  if (column.default === undefined || is(column.default, SQL)) {
    throw new Error(`only Postgres knows the default of ${column.name}`);
  }
  return column.default;
}

/** `jsonb` keeps the keys of an object in the order of their length, then of their bytes. */
function storedJson(value: unknown): unknown {
  return ordered(JSON.parse(JSON.stringify(value)));
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, ordered(item)] as const);
  return Object.fromEntries(entries.sort(([one], [other]) => compareKeys(one, other)));
}

function compareKeys(one: string, other: string): number {
  return Buffer.byteLength(one) - Buffer.byteLength(other) || Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/**
 * Deletes at most `limit` rows that meet a condition; returns how many. Locked rows are passed over: a later batch deletes them.
 */
export async function deleteBatch(tx: Transaction, table: PgTable, condition: SQL, limit: number): Promise<number> {
  const rows = await tx.execute<{ gone: number }>(sql`
    DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${limit} FOR UPDATE SKIP LOCKED))
    RETURNING 1 AS gone`);
  return rows.length;
}
