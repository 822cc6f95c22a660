import { and, getTableColumns, getTableName, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { Database } from './database.ts';
import type { TableWithId } from './list-statements.ts';
import { type ListQuery, listQueryOf, type PageRequest, perCombination } from './lists.ts';
import { type Given, namesIn, prepared } from './queries.ts';

/**
 * Lists whose totals and pages do not read the rows before them: db/functions/list-counts.sql counts their rows ahead,
 * by what `count_key` gives, and a query adds what is not counted yet. All in one statement, so in one snapshot: totals are
 * exact at every moment.
 */

export const COUNTED_LISTS = ['clients', 'accounts', 'beneficiaries', 'users'] as const;
export type CountedList = (typeof COUNTED_LISTS)[number];

/** Tables with months, of whose rows only the totals are counted. */
export const COUNTED_TOTALS = ['audit_entries', 'webhook_deliveries'] as const;
type CountedTotal = (typeof COUNTED_TOTALS)[number];

/** The condition of a filter on a column `key` of counts. */
type KeyCondition = (wanted: SQLWrapper) => SQL;

/** A filter by one value of the key. */
export function keyed(name: string): KeyCondition {
  return (wanted) => sql`key ->> ${sql.raw(`'${name}'`)} = ${wanted}`;
}

/** A list as `listOf` makes it. Filters that `counted` names, and no filter, use the counts; others count row by row. */
export function countedListOf<Filter extends object, Table extends TableWithId>(
  table: Table & { readonly _: { readonly name: CountedList } },
  conditions: (given: Partial<Given<Filter>>) => SQL | undefined,
  counted: { readonly [Name in keyof Filter]?: KeyCondition },
): (filter: Filter) => ListQuery<Filter, Table['$inferSelect']> {
  const keyConditions: Readonly<Record<string, KeyCondition | undefined>> = counted;
  return perCombination((given: Partial<Given<Filter>>) => {
    const where = conditions(given);
    const names = namesIn(given);
    const byKey = names.flatMap((name) => keyConditions[name]?.(sql.placeholder(name)) ?? []);
    const query =
      byKey.length === names.length
        ? countedQueryOf(table, where, byKey)
        : listQueryOf(table, { where, order: ['id'] });
    // As for `listOf`.
    return query as ListQuery<Filter, Table['$inferSelect']>;
  });
}

/** How many rows of a table with months have these values of its `count_key`. `where` says the same of the columns of `shown`. */
export function countedTotal(
  list: CountedTotal,
  shown: TableWithId,
  key: Readonly<Record<string, SQLWrapper>>,
  where: SQL | undefined,
): SQL {
  const values = Object.entries(key).map(([name, value]) => sql`${sql.raw(`'${name}'`)}, ${value}::text`);
  return sql`SELECT place.total + (SELECT count(*) FROM ${notCounted(shown, list)} WHERE ${where ?? sql`true`})
    FROM counted_total(${sql.raw(`'${list}'`)}, jsonb_build_object(${sql.join(values, sql`, `)})) AS place`;
}

/** The rows that are not counted yet, which the primary key finds: the limit keeps the planner from expecting a third of the table. */
function notCounted(shown: TableWithId, table = getTableName(shown)): SQL {
  return sql`(SELECT * FROM ${sql.identifier(table)} WHERE id > place.last_id ORDER BY id LIMIT (SELECT 1::bigint << 62)) AS ${shown}`;
}

function countedQueryOf(table: TableWithId, where: SQL | undefined, byKey: readonly SQL[]) {
  const list = sql.raw(`'${getTableName(table)}'`);
  const matches = where ?? sql`true`;
  const ofKey = and(...byKey);
  const keys =
    ofKey === undefined
      ? sql`ARRAY['null'::jsonb]`
      : sql`ARRAY(SELECT key FROM list_counts WHERE list = ${list} AND level = 0 AND ${ofKey}
          UNION SELECT key FROM list_changes WHERE list = ${list} AND ${ofKey})`;
  return prepared((db, given: Given<PageRequest>) => {
    const reach = sql`LIMIT (SELECT ${given.size}::bigint + place.skipped)`;
    const ids = sql`
      SELECT id FROM (
        (SELECT found.id FROM unnest(place.first_ids, place.next_ids) AS id_range (first_id, next_id) CROSS JOIN LATERAL (
          SELECT ${table.id} FROM ${table} WHERE ${table.id} >= id_range.first_id AND ${table.id} < id_range.next_id
            AND ${table.id} <= place.last_id AND ${matches} ORDER BY ${table.id} ${reach}) AS found)
        UNION ALL
        (SELECT ${table.id} FROM ${notCounted(table)} WHERE place.reaches_end AND ${matches} ${reach})
      ) AS candidates ORDER BY id LIMIT (SELECT ${given.size}::bigint) OFFSET (SELECT place.skipped)`;
    const counted = db
      .select({
        totalElements:
          sql<number>`(place.total + (SELECT count(*) FROM ${notCounted(table)} WHERE ${matches}))::integer`.as(
            'total_elements',
          ),
        ids: sql`ARRAY(${ids})`.as('ids'),
      })
      .from(sql`counted_page(${list}, ${keys}, ${given.size}::bigint, ${given.offset}::bigint) AS place`)
      // Keeps the planner from looking the page up again for each row.
      .limit(1)
      .as('counted');
    return db
      .select({ row: getTableColumns(table), totalElements: counted.totalElements })
      .from(counted)
      .leftJoin(table, sql`${table.id} = ANY (${counted.ids})`)
      .orderBy(table.id);
  });
}

/**
 * Counts a batch of rows that are older than any transaction can be, and what has changed; returns how many it read. Does
 * nothing while another process is counting.
 */
export async function keepListCounts(
  database: Database,
  list: CountedList | CountedTotal,
  limit: number,
): Promise<number> {
  const [row] = await database.statement<{ looked: number }>('SELECT count_list($1, $2::integer) AS looked', [
    list,
    limit,
  ]);
  return row?.looked ?? 0;
}
