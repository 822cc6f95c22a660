import type { Reader } from '../query/database.ts';

/** What was requested to be paid out, or came in from outside, within an hour. */
export interface HourlySum {
  /** The hour's beginning. */
  readonly hour: Date;
  readonly direction: 'outgoing' | 'incoming';
  readonly currency: string;
  readonly count: number;
  readonly sumMinor: bigint;
}

const SUMS = (['outgoing', 'incoming'] as const)
  .map(
    (direction) => `SELECT date_trunc('hour', created_at, 'UTC') AS hour, '${direction}' AS direction, currency,
      count(*)::integer AS count, sum(amount_minor)::bigint AS "sumMinor"
    FROM ${direction}_transfers WHERE created_at >= $1 AND created_at < $2 AND scope = 'external' GROUP BY 1, 3`,
  )
  .join(' UNION ALL ');

/** Of external transfers that were created from `from` to before `to`, by the hour. An amount never changes, so a past hour's sums are final. */
export function readHourlySums(reader: Reader, from: Date, to: Date): Promise<HourlySum[]> {
  return reader.statement<HourlySum>(SUMS, [from, to]);
}
