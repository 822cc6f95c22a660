import type postgres from 'postgres';
import type { Reader } from './query/database.ts';

// The months of the tables that only grow (docs/adr/0019). Only the tables' owner makes and removes them, after each migration.

/** For how many months ahead there is room after each run. The alerts begin two months before the end. */
export const MONTHS_AHEAD = 6;

const MAKE = 'SELECT unnest(make_months($1)) AS month';

/** Makes the months ahead; no one waits for it. A schema before them has none. */
export async function makeMonths(sql: Pick<postgres.Sql, 'unsafe'>): Promise<readonly string[]> {
  const [known] = await sql.unsafe<{ has: boolean }[]>(`SELECT to_regproc('make_months') IS NOT NULL AS has`);
  if (known?.has !== true) return [];
  const made = await sql.unsafe<{ month: string }[]>(MAKE, [MONTHS_AHEAD]);
  return made.map(({ month }) => month);
}

interface MonthOver {
  readonly month: string;
  readonly table: string;
  readonly fromId: string;
  readonly toId: string;
  readonly isAttached: boolean;
  readonly isBeingDetached: boolean;
}

const OVER = `SELECT over.month, left(over.month, -8) AS table, over.from_id AS "fromId", over.to_id AS "toId", part.month IS NOT NULL AS "isAttached",
    coalesce(part.is_being_detached, false) AS "isBeingDetached"
  FROM months_over over LEFT JOIN table_months() part ON part.month = over.month ORDER BY over.to_id, over.month`;

/** Postgres's code for a lock that was not got in time. */
const LOCK_TIMEOUT = '55P03';

/**
 * Removes the months that housekeeping has found to be over, each detached while reads and writes go on: those that began
 * before are waited for. What cannot be had in time is left to the next run.
 */
export async function removeMonths(client: postgres.Sql, onProgress: (line: string) => void): Promise<void> {
  const [known] = await client<{ has: boolean }[]>`SELECT to_regclass('months_over') IS NOT NULL AS has`;
  if (known?.has !== true) return;
  await client`SELECT set_config('lock_timeout', '60s', false)`;
  for (const over of await client.unsafe<MonthOver[]>(OVER)) {
    try {
      onProgress(await removeMonth(client, over));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === LOCK_TIMEOUT)) throw error;
      onProgress(
        `${over.month} is not removed yet: a transaction that began before uses ${over.table}. The next run goes on.`,
      );
    }
  }
}

async function removeMonth(client: postgres.Sql, over: MonthOver): Promise<string> {
  const { month, table } = over;
  if (over.isAttached) {
    const how = over.isBeingDetached ? 'FINALIZE' : 'CONCURRENTLY';
    await client.unsafe(`ALTER TABLE ${table} DETACH PARTITION ${month} ${how}`);
  }
  const isNeeded = await isNeededAgain(client, over);
  await client.begin(async (tx) => {
    if (isNeeded) {
      const range = `FROM (${beginOf(over)}) TO ('${over.toId}')`;
      await tx.unsafe(`ALTER TABLE ${table} ATTACH PARTITION ${month} FOR VALUES ${range}`);
    } else {
      await tx.unsafe(`DROP TABLE ${month}`);
      await tx`SELECT forget_counts(${table}, ${over.fromId}, ${over.toId})`;
      await tx.unsafe(MAKE_ROOM, [table, month, beginOf(over), over.toId]);
    }
    await tx`DELETE FROM months_over WHERE month = ${month}`;
  });
  return isNeeded ? `${month} stays: a delivery of it was asked for again.` : `Removed ${month}.`;
}

function beginOf({ fromId }: MonthOver): string {
  return fromId === '00000000-0000-0000-0000-000000000000' ? 'MINVALUE' : `'${fromId}'`;
}

// Events may be replayed for as long as they are there, so deliveries of theirs need an empty month.
const MAKE_ROOM = `SELECT make_month($1, $2, $3, $4::uuid) WHERE $1 = 'webhook_deliveries'
  AND EXISTS (SELECT FROM table_months() AS events WHERE name = 'events' AND from_id < $4::uuid)`;

/** Between housekeeping's look and now, a person may have asked for a delivery again. */
async function isNeededAgain(client: postgres.Sql, { table, month }: MonthOver): Promise<boolean> {
  if (table !== 'webhook_deliveries') return false;
  const [found] = await client.unsafe<{ pending: boolean }[]>(
    `SELECT EXISTS (SELECT FROM ${month} delivery JOIN webhook_subscriptions subscription ON subscription.id = subscription_id
      WHERE delivery.status = 'pending' AND deleted_at IS NULL) AS pending`,
  );
  return found?.pending === true;
}

/** Until when a table has months. */
export interface TableEnd {
  readonly table: string;
  readonly daysLeft: number;
}

const ENDS = `SELECT name AS table, floor(extract(epoch FROM max(uuid_extract_timestamp(to_id)) - clock_timestamp()) / 86400)::integer AS "daysLeft"
  FROM table_months() GROUP BY name ORDER BY name`;

/** For how many days, by the real clock, each table can be written to. */
export function readTableEnds(reader: Reader): Promise<TableEnd[]> {
  return reader.statement<TableEnd>(ENDS, []);
}

/** Months that are over and that the tables' owner has yet to remove, and for how many days the first has been. */
export interface MonthsOver {
  readonly count: number;
  readonly oldestDays: number;
}

const MONTHS_OVER = `SELECT count(*)::integer AS count,
  coalesce(floor(extract(epoch FROM clock_timestamp() - min(found_at)) / 86400), 0)::integer AS "oldestDays" FROM months_over`;

export async function readMonthsOver(reader: Reader): Promise<MonthsOver> {
  const [row] = await reader.statement<MonthsOver>(MONTHS_OVER, []);
  return row ?? { count: 0, oldestDays: 0 };
}
