import { eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { LockStrength, PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Transaction } from '../client.ts';
import { isListed } from '../values.ts';
import { type Given, type LookUp, namesIn, prepared, type Query } from './queries.ts';

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

/** No column has this name: the id that finds the row, beside the values to set. */
const ROW_ID = 'row id';

function insertionOf<Table extends PgTable>(
  table: Table,
  names: readonly string[],
  times: 'always' | 'once' = 'always',
) {
  return builtOnce<Table>(table, `insert ${times} ${names}`, () =>
    prepared((db) => {
      const every: PgTable = table;
      const insertion = db.insert(every).values(placesOf(every, names));
      return (times === 'once' ? insertion.onConflictDoNothing() : insertion).returning();
    }),
  );
}

function updateOf<Table extends TableWithId>(table: Table, names: readonly string[]) {
  return builtOnce<Table>(table, `update ${names}`, () =>
    prepared((db, given: Given<{ [ROW_ID]: string }>) => {
      const every: PgTable = table;
      return db.update(every).set(placesOf(every, names)).where(eq(table.id, given[ROW_ID])).returning();
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
