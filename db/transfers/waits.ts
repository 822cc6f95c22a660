import { type SQL, sql } from 'drizzle-orm';
import type { FrozenItem } from '../../domain/approvals/remedy-lists.ts';
import { incomingTransfers, outgoingTransfers } from '../common/schema.ts';
import type { Reader } from '../query/database.ts';
import type { TransferDirection } from './transfer-counts.ts';

/** What of all that waits is asked for; undefined fields do not restrict it. */
export interface WaitFilter {
  /** As the rows have them; null: all. */
  readonly waits: readonly string[] | null;
  readonly provider?: string | undefined;
  readonly scheme?: string | undefined;
  readonly currency?: string | undefined;
  readonly accountId?: string | undefined;
  readonly clientId?: string | undefined;
  /** That have waited since before this. */
  readonly olderThan?: Date | undefined;
}

const STATUSES = {
  outgoing: outgoingTransfers.status.enumValues,
  incoming: incomingTransfers.status.enumValues,
};
const WAITS = { outgoing: outgoingTransfers.waitingFor.enumValues, incoming: incomingTransfers.waitingFor.enumValues };

// An open row without a wait waits for its provider, as in its workflow and for `why`. The expressions are those of the index of waits.
/** What a row waits for; null: nothing is under way for it. */
export const WAIT = `coalesce(waiting_for::text, CASE WHEN next_check_at IS NOT NULL THEN 'provider' END)`;
const SINCE = sql`coalesce(waiting_since, updated_at)`;

function conditionsOf(filter: WaitFilter): SQL {
  const { provider, scheme, currency, accountId, clientId, olderThan } = filter;
  const given = [
    sql`(waiting_for IS NOT NULL OR next_check_at IS NOT NULL) AND coalesce(waiting_for, 'provider') = wait AND status = state`,
    ...(provider === undefined ? [] : [sql`provider = ${provider}`]),
    ...(scheme === undefined ? [] : [scheme === 'internal' ? sql`scope = 'internal'` : sql`scheme = ${scheme}`]),
    ...(currency === undefined ? [] : [sql`currency = ${currency}`]),
    ...(accountId === undefined ? [] : [sql`account_id = ${accountId}::uuid`]),
    ...(clientId === undefined ? [] : [sql`client_id = ${clientId}::uuid`]),
    ...(olderThan === undefined ? [] : [sql`${SINCE} <= ${olderThan}::timestamptz`]),
  ];
  return sql.join(given, sql` AND `);
}

/** Every pair of a wait and a status: each is one look-up in the index. */
function pairsOf(direction: TransferDirection, { waits }: WaitFilter): SQL {
  const known: readonly string[] = WAITS[direction];
  const asked = waits === null ? known : waits.filter((wait) => known.includes(wait));
  return sql`unnest(${sql.param([...asked])}::text[]) AS wait
    CROSS JOIN unnest(${sql.param([...STATUSES[direction]])}::text[]) AS state`;
}

export interface WaitSlice {
  /** The cursor of a row; null: from the oldest on. */
  readonly after: string | null;
  readonly size: number;
}

const CURSOR = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z)\/([0-9a-f-]{36})$/;

/** The condition that a row waits for less long than that of the cursor. `since`: the expression of its index. */
export function laterThan(after: string | null, since: SQL): SQL {
  const [, at, id] = CURSOR.exec(after ?? '') ?? [];
  if (at === undefined || id === undefined) return sql`true`;
  return sql`${since} >= ${at}::timestamptz AND (${since}, id) > (${at}::timestamptz, ${id}::uuid)`;
}

/** The cursor of a row. */
export function waitCursor(since: SQL): SQL {
  return sql`to_char(${since} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '/' || id`;
}

/** The open transfers of a direction, each kind of wait and status with its oldest. */
export function waitingTransfers(direction: TransferDirection, filter: WaitFilter, { after, size }: WaitSlice): SQL {
  const table = sql.raw(`${direction}_transfers`);
  return sql`
    SELECT found.* FROM ${pairsOf(direction, filter)}
      CROSS JOIN LATERAL (
        SELECT id, ${sql.raw(`'${direction}'`)} AS what, transaction_number AS name, status, wait AS "waitingFor",
          ${SINCE} AS since, waiting_until AS until, amount_minor AS "amountMinor", currency, scheme,
          provider, account_id AS "accountId", client_id AS "clientId",
          ${waitCursor(SINCE)} AS cursor
        FROM ${table} WHERE ${conditionsOf(filter)} AND ${laterThan(after, SINCE)} ORDER BY ${SINCE}, id LIMIT ${size}) AS found`;
}

/** All of a direction that a filter finds, as a list of them is frozen: the longest wait first, `limit` at most. */
export function findWaitsToFreeze(
  reader: Reader,
  direction: TransferDirection,
  filter: WaitFilter,
  limit: number,
): Promise<FrozenItem[]> {
  const found = waitingTransfers(direction, filter, { after: null, size: limit });
  return reader.execute<FrozenItem>(sql`SELECT id, name AS "transactionNumber", "amountMinor", currency, "waitingFor", "accountId"
    FROM (${found}) AS waiting ORDER BY since, id LIMIT ${limit}`);
}

/** Of one kind of wait and currency so many at most are counted, the oldest; of transfers, of each status. */
export const SUMMED_MAX = 5_000;

/** How many of the rows, by currency, since when. */
export const WAIT_AGES = sql`count(*) AS count, sum(amount_minor)::bigint AS sum, min(since) AS oldest,
  count(*) FILTER (WHERE since < service_now() - interval '1 hour') AS hour,
  count(*) FILTER (WHERE since < service_now() - interval '1 day') AS day, sum(count(*)) OVER () >= ${sql.raw(String(SUMMED_MAX))} AS more`;

/** How many transfers of a direction wait for what, and how much. */
export function transferWaitSums(direction: TransferDirection, filter: WaitFilter): SQL {
  const table = sql.raw(`${direction}_transfers`);
  return sql`
    SELECT ${sql.raw(`'${direction}'`)} AS what, wait AS "waitingFor", summed.* FROM ${pairsOf(direction, filter)}
      CROSS JOIN LATERAL (
        SELECT currency, ${WAIT_AGES}
        FROM (SELECT currency, amount_minor, ${SINCE} AS since FROM ${table} WHERE ${conditionsOf(filter)}
          ORDER BY ${SINCE} LIMIT ${SUMMED_MAX}) AS oldest
        GROUP BY currency) AS summed`;
}
