import { and, desc, getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { Reader } from './database.ts';
import type { TableWithId } from './list-statements.ts';
import { perCombination } from './lists.ts';
import { type Given, prepared, type Query } from './queries.ts';
import { AFTER_ALL_IDS } from './values.ts';

/**
 * Lists for people: newest first, without an exact total. Each page reads a bounded part of the table, whatever the filter: what no index
 * finds is looked for among so many rows, and the next page looks on from there.
 */

/** How many rows a page looks through. */
export const LOOKED_AT_MAX = 10_000;

/** Rows before `before` (an id; null: from the newest on). */
export interface NewestPage {
  readonly before: string | null;
  readonly size: number;
}

export interface Newest<Row> {
  readonly rows: readonly Row[];
  /** The id from which the next page looks on; null: there are no more rows, or as many as were asked for were found. */
  readonly lookedTo: string | null;
}

/** At most so many as were to be counted; with `isMore` there are more, or not all rows were looked at. */
export interface BoundedCount {
  readonly count: number;
  readonly isMore: boolean;
}

/** The conditions of a filter: those by which an index finds the rows, and those for which rows are looked through. */
export interface NewestConditions {
  readonly indexed: readonly SQL[];
  readonly others: readonly SQL[];
}

interface Statements<Values extends object, Row> {
  readonly page: Query<Values & { readonly before: string; readonly size: number }, Row>;
  readonly lookedTo: Query<Values & { readonly before: string }, { readonly id: string }>;
  readonly count: Query<Values & { readonly max: number }, { readonly count: number }>;
  readonly looksThrough: boolean;
}

export interface NewestList<Filter, Row> {
  read(reader: Reader, filter: Filter, page: NewestPage): Promise<Newest<Row>>;
  /** Counts up to `max`. */
  count(reader: Reader, filter: Filter, max: number): Promise<BoundedCount>;
}

/** A list of a table's rows; `conditions` gets the places of those filters that are given. */
export function newestListOf<Filter extends object, Table extends TableWithId>(
  table: Table,
  conditions: (given: Partial<Given<Filter>>) => NewestConditions,
): NewestList<Filter, Table['$inferSelect']> {
  type Row = Table['$inferSelect'];
  const statementsOf = perCombination(
    // The rows are whole ones of this table, and the conditions have the places of this filter.
    (given: Partial<Given<Filter>>) => build(table, conditions(given)) as Statements<Filter, Row>,
  );
  const lookedTo = async (reader: Reader, filter: Filter, before: string): Promise<string | null> => {
    const last = await reader.first(statementsOf(filter).lookedTo, { ...filter, before });
    return last?.id ?? null;
  };
  return {
    read: async (reader, filter, { before, size }) => {
      const { page, looksThrough } = statementsOf(filter);
      const asked = { ...filter, before: before ?? AFTER_ALL_IDS };
      const rows = await reader.run(page, { ...asked, size });
      const isShort = looksThrough && rows.length < size;
      return { rows, lookedTo: isShort ? await lookedTo(reader, filter, asked.before) : null };
    },
    count: async (reader, filter, max) => {
      const { count, looksThrough } = statementsOf(filter);
      const counted = (await reader.first(count, { ...filter, max: max + 1 }))?.count ?? 0;
      if (counted > max) return { count: max, isMore: true };
      return { count: counted, isMore: looksThrough && (await lookedTo(reader, filter, AFTER_ALL_IDS)) !== null };
    },
  };
}

function build(table: TableWithId, { indexed, others }: NewestConditions) {
  const found = and(...indexed) ?? sql`true`;
  const matches = and(...others) ?? sql`true`;
  const { id } = table;
  // The planner keeps the order of the inner rows, and reads no more of them than the outer limit takes.
  const looked = (condition: SQL) =>
    sql`(SELECT * FROM ${table} WHERE ${found} AND ${condition} ORDER BY ${id} DESC LIMIT ${sql.raw(String(LOOKED_AT_MAX))}) AS ${table}`;
  return {
    looksThrough: others.length > 0,
    page: prepared((db, given: Given<{ before: string; size: number }>) =>
      db
        .select(getTableColumns(table))
        .from(table)
        .where(
          sql`${id} = ANY (ARRAY(SELECT ${id} FROM ${looked(sql`${id} < ${given.before}::uuid`)}
            WHERE ${matches} ORDER BY ${id} DESC LIMIT ${given.size}))`,
        )
        .orderBy(desc(id)),
    ),
    lookedTo: prepared((db, given: Given<{ before: string }>) =>
      db
        .select({ id })
        .from(table)
        .where(sql`${found} AND ${id} < ${given.before}::uuid`)
        .orderBy(desc(id))
        .offset(LOOKED_AT_MAX - 1)
        .limit(1),
    ),
    count: prepared((db, given: Given<{ max: number }>) =>
      db
        .select({ count: sql<number>`count(*)::integer` })
        .from(sql`(SELECT FROM ${looked(sql`true`)} WHERE ${matches} LIMIT ${given.max}) AS few`),
    ),
  };
}
