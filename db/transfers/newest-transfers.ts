import { type SQL, sql } from 'drizzle-orm';
import { incomingTransfers, outgoingTransfers } from '../common/schema.ts';
import { AFTER_ALL_IDS } from '../query/values.ts';
import { COUNT_FILTERS, countConditions, type TransferDirection } from './transfer-counts.ts';

interface Asked {
  readonly direction: TransferDirection;
  readonly filter: Readonly<Record<string, unknown>>;
  /** The filter's condition on the table named after the direction. */
  readonly where: SQL;
  /** Transfers before this id; null: from the newest on. */
  readonly before: string | null;
  readonly size: number;
}

const STATUSES = { outgoing: outgoingTransfers.status.enumValues, incoming: incomingTransfers.status.enumValues };
/** As in `count_transfers`: the others are open, and not counted. */
const FINAL: readonly string[] = ['completed', 'cancelled', 'failed'];

/** An index in the order of ids finds the rows by one of these. */
const INDEXED: readonly string[] = ['accountId', 'clientId', 'waitingFor'];
/** Few of a million may have one of these, and no index of the table does. */
const RARE: readonly string[] = ['currency', 'serviceProvider', 'transferDateFrom', 'transferDateTo'];

/**
 * The ids of the newest transfers that a filter finds, for a list that shows no total. What few of a million transfers have, such as a
 * rare currency, is found by the counted ranges of ids that hold any, among the open transfers, and among those not counted yet.
 */
export function newestIds(asked: Asked): SQL {
  const { direction, filter, where, before, size } = asked;
  const names = Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const table = sql.raw(`${direction}_transfers`);
  const upTo = before === null ? sql`true` : sql`${table}.id < ${before}::uuid`;
  const rows = (condition: SQL) =>
    sql`SELECT ${table}.id FROM ${table} WHERE ${condition} AND ${upTo} AND ${where} ORDER BY ${table}.id DESC LIMIT ${size}`;
  const isOpen = typeof filter.status === 'string' && !FINAL.includes(filter.status);
  const isCounted = names.every((name) => Object.hasOwn(COUNT_FILTERS, name)) && !isOpen;
  if (!isCounted || names.some((name) => INDEXED.includes(name)) || !names.some((name) => RARE.includes(name))) {
    return rows(sql`true`);
  }
  const parts = [
    inCountedRanges(asked, names, rows),
    ...(filter.status === undefined
      ? openStatuses(direction).map((status) => rows(sql`${table}.status = ${status}`))
      : []),
    justSettled(direction, rows),
    rows(sql`${table}.id > (SELECT last_id FROM transfer_counting WHERE direction = ${sql.raw(`'${direction}'`)})`),
  ];
  const united = sql.join(
    parts.map((part) => sql`(${part})`),
    sql` UNION `,
  );
  return sql`SELECT id FROM (${united}) AS candidates ORDER BY id DESC LIMIT ${size}`;
}

type Rows = (condition: SQL) => SQL;

function inCountedRanges(asked: Asked, names: readonly string[], rows: Rows): SQL {
  const { direction, before, size } = asked;
  const table = sql.raw(`${direction}_transfers`);
  const rangesUpTo = before === null ? sql`` : sql`AND first_id <= ${before}::uuid`;
  const next = sql`SELECT first_id FROM transfer_ranges
    WHERE direction = ${sql.raw(`'${direction}'`)} AND first_id > id_range.first_id ORDER BY first_id LIMIT 1`;
  // One range more than rows: the one that holds `before` may have no row before it.
  return sql`
    SELECT found.id FROM (
        SELECT first_id FROM transfer_range_counts WHERE ${countConditions(asked, names)} ${rangesUpTo}
        GROUP BY first_id ORDER BY first_id DESC LIMIT ${size + 1}) AS id_range
      CROSS JOIN LATERAL (${rows(sql`
        ${table}.id >= id_range.first_id AND ${table}.id < coalesce((${next}), ${AFTER_ALL_IDS}::uuid)`)}) AS found
    ORDER BY found.id DESC LIMIT ${size}`;
}

/** Literals, so that the planner uses the index of transfers by status. */
function openStatuses(direction: TransferDirection): SQL[] {
  return STATUSES[direction].filter((status) => !FINAL.includes(status)).map((status) => sql.raw(`'${status}'`));
}

/** Transfers that have become final since the last count. OFFSET 0 keeps the planner from looking for them among all transfers. */
function justSettled(direction: TransferDirection, rows: Rows): SQL {
  const table = sql.raw(`${direction}_transfers`);
  const open = sql.join(openStatuses(direction), sql`, `);
  return sql`
    SELECT found.id FROM (
        SELECT id FROM transfers_not_counted WHERE direction = ${sql.raw(`'${direction}'`)}
        EXCEPT SELECT id FROM ${table} WHERE status IN (${open}) OFFSET 0) AS settled
      CROSS JOIN LATERAL (${rows(sql`${table}.id = settled.id`)}) AS found`;
}
