import { eq, getTableColumns, is, SQL, sql } from 'drizzle-orm';
import type { LockStrength, PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { sendWithCommit, type Transaction } from '../client.ts';
import { isListed } from '../values.ts';
import {
  type Beside,
  type Children,
  type Given,
  type Joined,
  type LookUp,
  namesIn,
  prepared,
  type Query,
} from './queries.ts';

/** A table whose rows are found by their id. */
export type TableWithId = PgTable & { readonly id: PgColumn; readonly $inferSelect: { readonly id: string } };

/** The look-up of a table's whole rows by id, for `find`. */
export function lookUpIn<Table extends TableWithId>(table: Table): LookUp<Table['$inferSelect']> {
  const query = prepared((db, given: Given<{ ids: readonly string[] }>) => {
    const every: TableWithId = table;
    return db.select().from(every).where(isListed(every.id, given.ids));
  });
  // A selection without fields is the whole row of this table.
  return query as LookUp<Table['$inferSelect']>;
}

/** The look-up of a table's whole rows by id with what stands beside each, for `findChildren` and `gather`. */
export function lookUpWith<Table extends TableWithId, Other>(
  table: Table,
  { table: other, columns, on, order }: Beside<Other>,
): Children<Joined<Table['$inferSelect'], Other>> {
  const query = prepared((db, given: Given<{ ids: readonly string[] }>) => {
    const every: TableWithId = table;
    return db
      .select({ row: getTableColumns(every), beside: columns })
      .from(every)
      .leftJoin(other, on)
      .where(isListed(every.id, given.ids))
      .orderBy(...order);
  });
  return {
    // The selection is the whole row of this table, and the columns of the other.
    query: query as Query<{ readonly ids: readonly string[] }, Joined<Table['$inferSelect'], Other>>,
    parentOf: ({ row }) => row.id,
  };
}

/** Locks a row by its id and reads it whole. */
export function lockIn<Table extends TableWithId>(
  table: Table,
  strength: LockStrength,
): Query<{ readonly id: string }, Table['$inferSelect']> {
  const query = prepared((db, given: Given<{ id: string }>) => {
    const every: TableWithId = table;
    return db.select().from(every).where(eq(every.id, given.id)).for(strength);
  });
  // As above.
  return query as Query<{ readonly id: string }, Table['$inferSelect']>;
}

/** Inserts a row and returns it as stored. */
export async function insertRow<Table extends PgTable>(
  tx: Transaction,
  table: Table,
  values: Table['$inferInsert'],
): Promise<Table['$inferSelect']> {
  const row = await tx.first(insertionOf(table, namesIn(values)), values);
  if (row === null) throw new Error('an insert returned no row');
  return row;
}

/** Inserts a row unless a unique key is taken; null if it is. */
export function insertRowOnce<Table extends PgTable>(
  tx: Transaction,
  table: Table,
  values: Table['$inferInsert'],
): Promise<Table['$inferSelect'] | null> {
  return tx.first(insertionOf(table, namesIn(values), 'once'), values);
}

/** Changes the given columns of a row that the transaction has locked, and returns the row as stored. */
export async function updateRow<Table extends TableWithId>(
  tx: Transaction,
  table: Table,
  id: string,
  changes: Partial<Table['$inferInsert']>,
): Promise<Table['$inferSelect']> {
  const row = await tx.first(updateOf(table, namesIn(changes)), { ...changes, [ROW_ID]: id });
  if (row === null) throw new Error(`the row ${id} is gone under its lock`);
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
  sendWithCommit(tx.run(insertionOf(table, namesIn(values), 'silently'), values));
  return row;
}

/** The same for a change of a row that the transaction has locked. */
export function sendUpdate<Table extends TableWithId>(
  tx: Transaction,
  table: Table,
  before: Table['$inferSelect'],
  changes: Partial<Table['$inferInsert']>,
): Table['$inferSelect'] {
  const values: Readonly<Record<string, unknown>> = { ...changes, [ROW_ID]: before.id };
  sendWithCommit(tx.run(updateOf(table, namesIn(changes), 'silently'), values));
  return { ...before, ...storedValues(table, changes) };
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
    throw new Error(`Postgres alone knows the default of ${column.name}`);
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

/** No column has this name: the id that finds the row, beside the values to set. */
const ROW_ID = 'row id';

function insertionOf<Table extends PgTable>(
  table: Table,
  names: readonly string[],
  how: 'always' | 'once' | 'silently' = 'always',
) {
  return builtOnce<Table>(table, `insert ${how} ${names}`, () =>
    prepared((db) => {
      const every: PgTable = table;
      const insertion = db.insert(every).values(placesOf(every, names));
      if (how === 'silently') return insertion;
      return (how === 'once' ? insertion.onConflictDoNothing() : insertion).returning();
    }),
  );
}

function updateOf<Table extends TableWithId>(
  table: Table,
  names: readonly string[],
  how: 'always' | 'silently' = 'always',
) {
  return builtOnce<Table>(table, `update ${how} ${names}`, () =>
    prepared((db, given: Given<{ [ROW_ID]: string }>) => {
      const every: PgTable = table;
      const update = db.update(every).set(placesOf(every, names)).where(eq(table.id, given[ROW_ID]));
      return how === 'silently' ? update : update.returning();
    }),
  );
}

function placesOf(table: PgTable, names: readonly string[]): Record<string, SQL> {
  const columns = getTableColumns(table);
  return Object.fromEntries(names.map((name) => [name, sql`${sql.param(sql.placeholder(name), columns[name])}`]));
}

const built = new WeakMap<PgTable, Map<string, Query<object, unknown>>>();

/** The text follows from the table and the columns, so it is built at the first use of both. */
function builtOnce<Table extends PgTable>(
  table: Table,
  key: string,
  build: () => Query<object, unknown>,
): Query<object, Table['$inferSelect']> {
  let queries = built.get(table);
  if (queries === undefined) {
    queries = new Map();
    built.set(table, queries);
  }
  let query = queries.get(key);
  if (query === undefined) {
    query = build();
    queries.set(key, query);
  }
  // `returning()` answers the whole row of this table.
  return query as Query<object, Table['$inferSelect']>;
}
