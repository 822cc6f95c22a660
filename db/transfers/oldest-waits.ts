/** A row's place among those that wait, oldest first. */
export interface WaitPlace {
  /** `2026-11-26 10:15:00.123456+00`: with microseconds, as Postgres keeps it. */
  readonly since: string;
  readonly id: string;
}

const FIRST: WaitPlace = { since: '-infinity', id: '00000000-0000-0000-0000-000000000000' };

/** The parameters `$1` to `$3` of `oldestWaits`: how many rows, after which (null: from the oldest on). */
export function waitParams(size: number, after: WaitPlace | null): readonly unknown[] {
  const { since, id } = after ?? FIRST;
  return [size, since, id];
}

const SINCE = 'coalesce(waiting_since, updated_at)';

/** The columns of a row's place. */
export const WAIT_PLACE = `${SINCE} AS "waitingSince", to_char(${SINCE} AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00' AS since`;

/** The rows of a table of transfers that wait for something, oldest first, by the index of waits; `selected` and `more` may name `$4` on. */
export function oldestWaits(
  table: 'outgoing_transfers' | 'incoming_transfers',
  { waitingFor, status }: { readonly waitingFor: string; readonly status: string },
  { selected, more = '' }: { readonly selected: string; readonly more?: string },
): string {
  return `SELECT ${selected} FROM ${table}
    WHERE waiting_for = '${waitingFor}' AND coalesce(waiting_for, 'provider') = '${waitingFor}' AND status = '${status}'
      AND ${SINCE} >= $2::text::timestamptz AND (${SINCE}, id) > ($2::text::timestamptz, $3::uuid) ${more}
    ORDER BY ${SINCE}, id LIMIT $1::integer`;
}
