import { and, asc, desc, getTableColumns, getTableName, type SQL, Subquery, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Reader } from './database.ts';
import type { TableWithId } from './list-statements.ts';
import {
  forEachRow,
  type Given,
  type Grouped,
  groupRows,
  type LeftJoin,
  namesIn,
  prepared,
  type Query,
  type QueryBuilder,
} from './queries.ts';

/** One page of a list: `offset` rows are skipped. */
export interface PageRequest {
  readonly size: number;
  readonly offset: number;
}

export interface PageOf<Row> {
  readonly rows: readonly Row[];
  readonly totalElements: number;
}

/** Reads the total with the rows of one page: at least one row, whose `row` is null if the page is empty. */
export type ListQuery<Values extends object, Row> = Query<
  Values & PageRequest,
  { readonly row: Row | null; readonly totalElements: number }
>;

/** Far more than the combinations that callers use; a caller who tries them all must not fill the memory. */
const COMBINATIONS_MAX = 500;

/** How a table with months is listed, which many of its months would make slow otherwise. */
interface Months<Filter extends object, Table extends TableWithId> {
  /** The columns that find a row in its month. */
  readonly key: readonly (keyof Table['$inferSelect'] & string)[];
  /** The total from counts (`counted-lists.ts`); undefined where the rows must be counted. */
  readonly totalOf: (given: Partial<Given<Filter>>) => SQL | undefined;
}

interface Plan {
  readonly where: SQL | undefined;
  readonly order: readonly string[];
  readonly key?: readonly string[] | undefined;
  readonly total?: SQL | undefined;
}

/**
 * A list of a table's rows, in order of creation (which is the order of ids). `conditions` gets the places of those filters
 * that a request gives; each combination has its own query, built when it is first asked for.
 */
export function listOf<Filter extends object, Table extends TableWithId>(
  table: Table,
  conditions: (given: Partial<Given<Filter>>) => SQL | undefined,
  order: readonly (keyof Table['$inferSelect'] & string)[] = ['id'],
  months?: Months<Filter, Table>,
): (filter: Filter) => ListQuery<Filter, Table['$inferSelect']> {
  // The row is a whole one of this table, and the condition has the places of this filter.
  return perCombination((given: Partial<Given<Filter>>) => {
    const plan = { where: conditions(given), order, key: months?.key, total: months?.totalOf(given) };
    return listQueryOf(table, plan) as ListQuery<Filter, Table['$inferSelect']>;
  });
}

/** The same with the rows of another table joined to each row, so that several follow each other for one. */
export type ListQueryWith<Values extends object, Row, Other> = Query<
  Values & PageRequest,
  { readonly row: Row | null; readonly joined: Other | null; readonly totalElements: number }
>;

/** A list of a table's rows as `listOf` makes it, with the joined rows in the same statement. */
export function listWith<Filter extends object, Table extends TableWithId, Other>(
  table: Table,
  joined: LeftJoin<Other>,
  conditions: (given: Partial<Given<Filter>>) => SQL | undefined,
  order: readonly (keyof Table['$inferSelect'] & string)[] = ['id'],
  months?: Months<Filter, Table>,
): (filter: Filter) => ListQueryWith<Filter, Table['$inferSelect'], Other> {
  // As above, with the columns of the other table.
  return perCombination((given: Partial<Given<Filter>>) => {
    const plan = { where: conditions(given), order, key: months?.key, total: months?.totalOf(given) };
    return listQueryWith(table, joined, plan) as ListQueryWith<Filter, Table['$inferSelect'], Other>;
  });
}

/** A keyset cursor: the full-precision time and the id of the last row. */
export interface Cursor {
  readonly time: string;
  readonly id: string;
}

/** Reads the next rows after a place, each with its own place's time. */
export type KeysetQuery<Values extends object, Row> = Query<
  Values & { readonly after: string; readonly afterId: string; readonly size: number },
  Row & { readonly cursorTime: string }
>;

/** Oldest first after a place, or newest first before it. */
type Direction = 'oldest-first' | 'newest-first';

/**
 * A walk through all of a table's rows that match, by time, then id: each statement goes on where the one before ended, so
 * the last rows cost what the first do. Queries are kept as those of lists are.
 */
export function keysetList<Filter extends object, Table extends TableWithId>(
  table: Table,
  conditions: (given: Partial<Given<Filter>>) => SQL | undefined,
  time: PgColumn,
  direction: Direction = 'oldest-first',
): (filter: Filter) => KeysetQuery<Filter, Table['$inferSelect']> {
  // As above.
  return perCombination(
    (given: Partial<Given<Filter>>) =>
      keysetQueryOf(table, conditions(given), time, direction) as KeysetQuery<Filter, Table['$inferSelect']>,
  );
}

function keysetQueryOf(table: TableWithId, where: SQL | undefined, time: PgColumn, direction: Direction) {
  const isOldestFirst = direction === 'oldest-first';
  const beyond = isOldestFirst ? sql`>` : sql`<`;
  const order = isOldestFirst ? [asc(time), asc(table.id)] : [desc(time), desc(table.id)];
  return prepared((db, given: Given<{ after: string; afterId: string; size: number }>) =>
    db
      .select({ ...getTableColumns(table), cursorTime: sql<string>`${time}::text` })
      .from(table)
      .where(and(where, sql`(${time}, ${table.id}) ${beyond} (${given.after}::timestamptz, ${given.afterId}::uuid)`))
      .orderBy(...order)
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

export function listQueryOf(table: TableWithId, plan: Plan) {
  return prepared((db, given: Given<PageRequest>) => {
    const counted = countOf(db, table, plan);
    return db
      .select({ row: getTableColumns(table), totalElements: counted.totalElements })
      .from(counted)
      .leftJoin(...pageOf(table, plan, given))
      .orderBy(...columnsOf(table, plan.order));
  });
}

function listQueryWith<Other>(table: TableWithId, other: LeftJoin<Other>, plan: Plan) {
  return prepared((db, given: Given<PageRequest>) => {
    const counted = countOf(db, table, plan);
    return db
      .select({ row: getTableColumns(table), joined: other.columns, totalElements: counted.totalElements })
      .from(counted)
      .leftJoin(...pageOf(table, plan, given))
      .leftJoinLateral(...forEachRow(other))
      .orderBy(...columnsOf(table, plan.order), ...other.order);
  });
}

function countOf(db: QueryBuilder, table: TableWithId, { where, total }: Plan) {
  const named = (count: SQL<number>) => ({ totalElements: count.as('total_elements') });
  if (total === undefined) return db.select(named(sql`count(*)::integer`)).from(table).where(where).as('counted');
  return db
    .select(named(sql`(${total})::integer`))
    .from(sql`(SELECT) AS one`)
    .as('counted');
}

/** The rows of a page, and the condition to join them by. */
function pageOf(
  table: TableWithId,
  { where, order, key }: Plan,
  page: Given<PageRequest>,
): [TableWithId | Subquery, SQL] {
  const placesOf = (columns: readonly PgColumn[]) =>
    // The sub-selects let one plan serve every page: planning takes longer than executing.
    sql`SELECT ${list(columns)} FROM ${table} WHERE ${where ?? sql`true`} ORDER BY ${list(columnsOf(table, order))}
      LIMIT (SELECT ${page.size}::bigint) OFFSET (SELECT ${page.offset}::bigint)`;
  if (key === undefined) return [table, sql`${table.id} = ANY (ARRAY(${placesOf([table.id])}))`];
  const keys = columnsOf(table, key);
  const isAtPlace = keys.map((column) => sql`${column} = place.${sql.identifier(column.name)}`);
  // Each row is looked up in its month; the limit keeps the planner from reading all months for all of them.
  const rows = sql`SELECT found.* FROM (${placesOf(keys)}) AS place
    CROSS JOIN LATERAL (SELECT * FROM ${table} WHERE ${and(...isAtPlace)} LIMIT 1) AS found`;
  return [new Subquery(rows, {}, getTableName(table)), sql`true`];
}

function list(columns: readonly PgColumn[]): SQL {
  return sql.join([...columns], sql`, `);
}

function columnsOf(table: TableWithId, names: readonly string[]): PgColumn[] {
  const columns = getTableColumns(table);
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

/** The same of a list with joined rows. */
export async function readPageWith<Values extends object, Row extends { readonly id: string }, Other>(
  reader: Reader,
  query: ListQueryWith<Values, Row, Other>,
  values: Values,
  page: PageRequest,
): Promise<PageOf<Grouped<Row, Other>>> {
  const found = await reader.run(query, { ...values, ...page });
  return {
    rows: groupRows(found.flatMap(({ row, joined }) => (row === null ? [] : [{ row, joined }]))),
    totalElements: found[0]?.totalElements ?? 0,
  };
}
