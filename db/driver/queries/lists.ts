import { and, getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Reader } from '../client.ts';
import {
  type Beside,
  type Gathered,
  type Given,
  gather,
  namesIn,
  prepared,
  type Query,
  type QueryBuilder,
} from './queries.ts';
import type { TableWithId } from './rows.ts';

/** One page of a list: `offset` rows are skipped. */
export interface PageRequest {
  readonly size: number;
  readonly offset: number;
}

export interface PageOf<Row> {
  readonly rows: readonly Row[];
  readonly totalElements: number;
}

/** Reads the total, and beside it the rows of one page: at least one row, whose `row` is null if the page is empty. */
export type ListQuery<Values extends object, Row> = Query<
  Values & PageRequest,
  { readonly row: Row | null; readonly totalElements: number }
>;

/** Far more than the combinations that callers use; a caller who tries them all must not fill the memory. */
const COMBINATIONS_MAX = 500;

/**
 * A list of a table's rows, in order of creation (which is the order of ids). `conditions` gets the places of those filters
 * that a request gives; each combination has its own query, built when it is first asked for.
 */
export function listOf<Filter extends object, Table extends TableWithId>(
  table: Table,
  conditions: (given: Partial<Given<Filter>>) => SQL | undefined,
  order: readonly (keyof Table['$inferSelect'] & string)[] = ['id'],
): (filter: Filter) => ListQuery<Filter, Table['$inferSelect']> {
  // The row is a whole one of this table, and the condition has the places of this filter.
  return perCombination(
    (given: Partial<Given<Filter>>) =>
      listQueryOf(table, conditions(given), order) as ListQuery<Filter, Table['$inferSelect']>,
  );
}

/** The same with the rows of another table beside each row, so that several follow each other for one. */
export type ListQueryWith<Values extends object, Row, Other> = Query<
  Values & PageRequest,
  { readonly row: Row | null; readonly beside: Other | null; readonly totalElements: number }
>;

/** A list of a table's rows as `listOf` makes it, with what stands beside each in the same statement. */
export function listWith<Filter extends object, Table extends TableWithId, Other>(
  table: Table,
  beside: Beside<Other>,
  conditions: (given: Partial<Given<Filter>>) => SQL | undefined,
  order: readonly (keyof Table['$inferSelect'] & string)[] = ['id'],
): (filter: Filter) => ListQueryWith<Filter, Table['$inferSelect'], Other> {
  // As above, and beside it the columns of the other table.
  return perCombination(
    (given: Partial<Given<Filter>>) =>
      listQueryWith(table, beside, conditions(given), order) as ListQueryWith<Filter, Table['$inferSelect'], Other>,
  );
}

/** Where a walk has come to: the time of its last row, with every digit, and that row's id. */
export interface Place {
  readonly time: string;
  readonly id: string;
}

/** Reads the next rows after a place, each with its own place's time. */
export type WalkQuery<Values extends object, Row> = Query<
  Values & { readonly after: string; readonly afterId: string; readonly size: number },
  Row & { readonly placeTime: string }
>;

/**
 * A walk through all of a table's rows that match, by time, then id: each statement goes on where the one before ended, so
 * the last rows cost what the first do. Queries are kept as those of lists are.
 */
export function walkOf<Filter extends object, Table extends TableWithId>(
  table: Table,
  conditions: (given: Partial<Given<Filter>>) => SQL | undefined,
  time: PgColumn,
): (filter: Filter) => WalkQuery<Filter, Table['$inferSelect']> {
  // As above.
  return perCombination(
    (given: Partial<Given<Filter>>) =>
      walkQueryOf(table, conditions(given), time) as WalkQuery<Filter, Table['$inferSelect']>,
  );
}

function walkQueryOf(table: TableWithId, where: SQL | undefined, time: PgColumn) {
  return prepared((db, given: Given<{ after: string; afterId: string; size: number }>) =>
    db
      .select({ ...getTableColumns(table), placeTime: sql<string>`${time}::text` })
      .from(table)
      .where(and(where, sql`(${time}, ${table.id}) > (${given.after}::timestamptz, ${given.afterId}::uuid)`))
      .orderBy(time, table.id)
      .limit(given.size),
  );
}

/** What is built for each combination of filters that a request gives, kept. */
export function perCombination<Filter extends object, Built>(
  build: (given: Partial<Given<Filter>>) => Built,
): (filter: Filter) => Built {
  const kept = new Map<string, Built>();
  return (filter) => {
    const names = namesIn(filter);
    const key = names.join();
    const known = kept.get(key);
    if (known !== undefined) return known;
    if (kept.size >= COMBINATIONS_MAX) kept.clear();
    const built = build(placesOf<Filter>(names));
    kept.set(key, built);
    return built;
  };
}

function placesOf<Filter>(names: readonly string[]): Partial<Given<Filter>> {
  // The names are those of a filter.
  return Object.fromEntries(names.map((name) => [name, sql.placeholder(name)])) as Partial<Given<Filter>>;
}

export function listQueryOf(table: TableWithId, where: SQL | undefined, order: readonly string[]) {
  return prepared((db, given: Given<PageRequest>) => {
    const counted = countOf(db, table, where);
    const by = columnsOf(getTableColumns(table), order);
    return db
      .select({ row: getTableColumns(table), totalElements: counted.totalElements })
      .from(counted)
      .leftJoin(table, isOnPage(table, where, by, given))
      .orderBy(...by);
  });
}

function listQueryWith<Other>(
  table: TableWithId,
  { table: other, columns, on, order: besideOrder }: Beside<Other>,
  where: SQL | undefined,
  order: readonly string[],
) {
  return prepared((db, given: Given<PageRequest>) => {
    const counted = countOf(db, table, where);
    const by = columnsOf(getTableColumns(table), order);
    return db
      .select({ row: getTableColumns(table), beside: columns, totalElements: counted.totalElements })
      .from(counted)
      .leftJoin(table, isOnPage(table, where, by, given))
      .leftJoin(other, on)
      .orderBy(...by, ...besideOrder);
  });
}

function countOf(db: QueryBuilder, table: TableWithId, where: SQL | undefined) {
  const total = sql<number>`count(*)::integer`.as('total_elements');
  return db.select({ totalElements: total }).from(table).where(where).as('counted');
}

function isOnPage(table: TableWithId, where: SQL | undefined, by: readonly PgColumn[], page: Given<PageRequest>): SQL {
  // The sub-selects let one plan serve every page: planning takes longer than executing.
  return sql`${table.id} = ANY (ARRAY(
    SELECT ${table.id} FROM ${table} WHERE ${where ?? sql`true`} ORDER BY ${sql.join([...by], sql`, `)}
    LIMIT (SELECT ${page.size}::bigint) OFFSET (SELECT ${page.offset}::bigint)))`;
}

function columnsOf(columns: Readonly<Record<string, PgColumn>>, names: readonly string[]): PgColumn[] {
  return names.flatMap((name) => columns[name] ?? []);
}

/** Reads a page and the total in one statement. */
export async function readPage<Values extends object, Row>(
  reader: Reader,
  query: ListQuery<Values, Row>,
  values: Values,
  page: PageRequest,
): Promise<PageOf<Row>> {
  const found = await reader.run(query, { ...values, ...page });
  return {
    rows: found.flatMap(({ row }) => (row === null ? [] : [row])),
    totalElements: found[0]?.totalElements ?? 0,
  };
}

/** The same of a list with rows beside its own. */
export async function readPageWith<Values extends object, Row extends { readonly id: string }, Other>(
  reader: Reader,
  query: ListQueryWith<Values, Row, Other>,
  values: Values,
  page: PageRequest,
): Promise<PageOf<Gathered<Row, Other>>> {
  const found = await reader.run(query, { ...values, ...page });
  return {
    rows: gather(found.flatMap(({ row, beside }) => (row === null ? [] : [{ row, beside }]))),
    totalElements: found[0]?.totalElements ?? 0,
  };
}
