import { and, getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Reader } from '../client.ts';
import { type Given, namesIn, prepared, type Query } from './queries.ts';
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
    const total = sql<number>`count(*)::integer`.as('total_elements');
    const counted = db.select({ totalElements: total }).from(table).where(where).as('counted');
    const by = columnsOf(getTableColumns(table), order);
    // The sub-selects let one plan serve every page: planning takes longer than executing.
    const ids = sql`SELECT ${table.id} FROM ${table} WHERE ${where ?? sql`true`} ORDER BY ${sql.join(by, sql`, `)}
      LIMIT (SELECT ${given.size}::bigint) OFFSET (SELECT ${given.offset}::bigint)`;
    return db
      .select({ row: getTableColumns(table), totalElements: counted.totalElements })
      .from(counted)
      .leftJoin(table, sql`${table.id} = ANY (ARRAY(${ids}))`)
      .orderBy(...by);
  });
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
