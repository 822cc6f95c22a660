import { type SQL, sql } from 'drizzle-orm';
import type { Database, Reader } from '../query/database.ts';
import type { PageOf, PageRequest } from '../query/lists.ts';
import { AFTER_ALL_IDS } from '../query/values.ts';

/**
 * Pages of transfers with exact totals, without reading every match. The fields by which final transfers are counted never
 * change, so a background loop counts each of them once: per account, per day and per range of ids. A query adds up the
 * counts and reads only the transfers that are not counted yet.
 */

export type TransferDirection = 'outgoing' | 'incoming';

export const TRANSFER_DIRECTIONS = ['outgoing', 'incoming'] as const satisfies readonly TransferDirection[];

/** A list request; undefined fields do not restrict it. */
interface ListRequest {
  readonly direction: TransferDirection;
  readonly filter: Readonly<Record<string, unknown>>;
  /** The filter's condition on the table named after the direction, and the joins that it needs. */
  readonly where: SQL;
  readonly joined?: SQL | undefined;
  readonly page: PageRequest;
}

/** The filter fields that have counts, as conditions on a table of counts. */
export const COUNT_FILTERS: Readonly<Record<string, string>> = {
  status: 'status =',
  currency: 'currency =',
  serviceProvider: 'provider =',
  clientId: 'client_id =',
  accountId: 'account_id =',
  transferDateFrom: 'transfer_date >=',
  transferDateTo: 'transfer_date <=',
};

/**
 * Reads a page in order of creation, which is the order of ids. `shown` selects a page's columns from the table named after
 * the direction (`SELECT … FROM … JOIN …`).
 */
export async function readTransferPage<Row extends { readonly id: string }>(
  reader: Reader,
  asked: ListRequest,
  shown: SQL,
): Promise<PageOf<Row>> {
  const names = Object.entries(asked.filter).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const kept = names.every((name) => Object.hasOwn(COUNT_FILTERS, name));
  const ofAccounts = names.includes('clientId') || names.includes('accountId');
  const ofDates = names.includes('transferDateFrom') || names.includes('transferDateTo');
  if (ofAccounts && (ofDates || !kept)) return readInOneStatement(reader, asked, shown);
  const byIdRange = kept && !ofAccounts && (ofDates || names.includes('currency') || names.includes('serviceProvider'));
  // With a filter the planner must see how few rows are wanted; without one every page has the same plan.
  const limits =
    names.length > 0 ? sql`LIMIT ${asked.page.size} OFFSET ${asked.page.offset}` : hiddenLimits(asked.page);
  for (;;) {
    // A literal, so that the planner knows how few rows follow it; the count shows whether it is outdated.
    const lastId = lastIdSeen[asked.direction];
    const page = byIdRange ? idsByRange(asked, names, ofDates, lastId) : ids(asked, limits);
    const total = kept ? sumCounts(asked, names, { ofAccounts, ofDates }, lastId) : countRows(asked, lastId);
    // Each query has its own snapshot.
    const [rows, [counted]] = await Promise.all([
      reader.execute<Row>(sql`${shown} WHERE ${table(asked)}.id = ANY (ARRAY(${page})) ORDER BY ${table(asked)}.id`),
      reader.execute<{ total: number; lastId: string }>(total),
    ]);
    if (counted === undefined) throw new Error(`transfer_counting has no row of ${asked.direction}`);
    if (counted.lastId === lastId) return { rows, totalElements: counted.total };
    lastIdSeen[asked.direction] = counted.lastId;
  }
}

/**
 * Reads the page and its total in one statement. The total reads the index of the account's or client's transfers, which the page
 * then finds in memory.
 */
async function readInOneStatement<Row extends { readonly id: string }>(
  reader: Reader,
  asked: ListRequest,
  shown: SQL,
): Promise<PageOf<Row>> {
  const { where, page } = asked;
  const limits = hiddenLimits(page);
  const rows = await reader.execute<(Row | { readonly id: null }) & { readonly totalElements: number }>(sql`
    WITH found AS (
      SELECT (SELECT count(*)::integer FROM ${from(asked)} WHERE ${where}) AS total, ARRAY(${ids(asked, limits)}) AS ids)
    SELECT found.total AS "totalElements", page.*
    FROM found LEFT JOIN (${shown} WHERE ${table(asked)}.id = ANY ((SELECT ids FROM found)::uuid[])) AS page ON true
    ORDER BY page.id`);
  return { rows: rows.filter((row) => row.id !== null), totalElements: rows[0]?.totalElements ?? 0 };
}

/** Sub-selects let one plan serve every page: planning takes longer than executing. */
function hiddenLimits({ size, offset }: PageRequest): SQL {
  return sql`LIMIT (SELECT ${size}::bigint) OFFSET (SELECT ${offset}::bigint)`;
}

const NO_ID = '00000000-0000-0000-0000-000000000000';
/** The key of the sums over all accounts. */
const ALL_ACCOUNTS = NO_ID;

/** The last known progress of the counting. Only a guess, which each count verifies. */
const lastIdSeen: Record<TransferDirection, string> = { outgoing: NO_ID, incoming: NO_ID };

function table({ direction }: ListRequest): SQL {
  return sql.raw(`${direction}_transfers`);
}

function from(asked: ListRequest): SQL {
  return sql`${table(asked)} ${asked.joined ?? sql``}`;
}

function literal(id: string): SQL {
  return sql.raw(`'${id}'::uuid`);
}

/** The filter as conditions on a table of counts. */
export function countConditions(
  { direction, filter }: Pick<ListRequest, 'direction' | 'filter'>,
  names: readonly string[],
): SQL {
  const conditions = names.map((name) => sql`${sql.raw(COUNT_FILTERS[name] ?? '')} ${filter[name]}`);
  return sql.join([sql.raw(`direction = '${direction}'`), ...conditions], sql` AND `);
}

function sumCounts(
  asked: ListRequest,
  names: readonly string[],
  { ofAccounts, ofDates }: { ofAccounts: boolean; ofDates: boolean },
  lastId: string,
): SQL {
  const { direction, where } = asked;
  const counts = ofDates ? sql`transfer_day_counts` : sql`transfer_counts`;
  const rows = ofDates || ofAccounts ? sql`` : sql.raw(`AND account_id = '${ALL_ACCOUNTS}'`);
  return sql`
    SELECT ((
        SELECT coalesce(sum(transfer_count), 0) FROM ${counts} WHERE ${countConditions(asked, names)} ${rows}
      ) + (
        SELECT count(*) FROM ${table(asked)} WHERE id > ${literal(lastId)} AND ${where}
      ) + (
        SELECT count(*) FROM ${table(asked)} WHERE ${isNotCounted(asked)} AND ${where}
      ))::integer AS total,
      (SELECT last_id FROM transfer_counting WHERE direction = ${direction}) AS "lastId"`;
}

/** The number of all transfers: those counted, those passed over as they are open, and those that the counting has yet to reach. */
export function countOfTransfers(direction: TransferDirection): SQL {
  const of = sql.raw(`direction = '${direction}'`);
  return sql`SELECT (SELECT coalesce(sum(transfer_count), 0) FROM transfer_counts WHERE ${of} AND account_id = ${literal(ALL_ACCOUNTS)})
    + (SELECT count(*) FROM transfers_not_counted WHERE ${of})
    + (SELECT count(*) FROM (SELECT FROM ${sql.raw(`${direction}_transfers`)} WHERE id > (SELECT last_id FROM transfer_counting WHERE ${of})
      ORDER BY id LIMIT (SELECT 1::bigint << 62)) AS not_counted)`;
}

/** Filters on other fields must read every transfer that the indexed fields leave. */
function countRows(asked: ListRequest, lastId: string): SQL {
  return sql`
    SELECT (SELECT count(*)::integer FROM ${from(asked)} WHERE ${asked.where}) AS total, ${literal(lastId)} AS "lastId"`;
}

function isNotCounted({ direction }: ListRequest): SQL {
  return sql.raw(`id IN (SELECT id FROM transfers_not_counted WHERE direction = '${direction}')`);
}

function ids(asked: ListRequest, limits: SQL): SQL {
  const id = sql`${table(asked)}.id`;
  return sql`SELECT ${id} FROM ${from(asked)} WHERE ${asked.where} ORDER BY ${id} ${limits}`;
}

/**
 * Finds the page among the id ranges that contain counted matches, in order, and among the transfers not counted yet. Every
 * such range contains at least one match, so it reads at most as many ranges as rows.
 */
function idsByRange(asked: ListRequest, names: readonly string[], ofDates: boolean, lastId: string): SQL {
  const { direction, where, page } = asked;
  const reach = page.offset + page.size;
  const kept = countConditions(asked, names);
  const ofDirection = sql.raw(`direction = '${direction}'`);
  const rows = (condition: SQL) =>
    sql`SELECT id FROM ${table(asked)} WHERE ${condition} AND ${where} ORDER BY id LIMIT ${reach}`;
  // Dates have no index here; currencies and providers do.
  const since = ofDates
    ? sql`AND first_id >= (SELECT first_range FROM transfer_day_counts WHERE ${kept} ORDER BY first_range LIMIT 1)`
    : sql``;
  const nextIdRange = sql`
    SELECT first_id FROM transfer_ranges WHERE ${ofDirection} AND first_id > id_range.first_id ORDER BY first_id LIMIT 1`;
  return sql`
    SELECT id FROM (
      (SELECT found.id FROM (
          SELECT first_id FROM transfer_range_counts
          WHERE ${kept} ${since}
          GROUP BY first_id ORDER BY first_id LIMIT ${reach}) AS id_range
        CROSS JOIN LATERAL (${rows(sql`
          id >= id_range.first_id AND id < coalesce((${nextIdRange}), ${literal(AFTER_ALL_IDS)})`)}) AS found
        ORDER BY id_range.first_id, found.id LIMIT ${reach})
      UNION (${rows(isNotCounted(asked))})
      UNION (${rows(sql`id > ${literal(lastId)}`)})
    ) AS candidates ORDER BY id LIMIT ${page.size} OFFSET ${page.offset}`;
}

/**
 * Counts a batch of transfers that are older than any transaction can be; returns how many it read. Does nothing while
 * another process is counting.
 */
export async function advanceTransferCounts(
  database: Database,
  direction: TransferDirection,
  limit: number,
): Promise<number> {
  const [row] = await database.statement<{ looked: number }>('SELECT count_transfers($1, $2::integer) AS looked', [
    direction,
    limit,
  ]);
  return row?.looked ?? 0;
}
