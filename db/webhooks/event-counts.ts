import { sql } from 'drizzle-orm';
import { eventLogStart, eventSequencer } from '../common/schema.ts';
import type { Reader } from '../query/database.ts';
import { prepared } from '../query/queries.ts';

export interface EventCount {
  readonly module: string;
  readonly type: string;
  readonly count: number;
}

const LAST_POSITION = prepared((db) => db.select({ position: eventSequencer.lastPosition }).from(eventSequencer));

const BOUNDS = prepared((db) =>
  db
    .select({ first: eventLogStart.firstPosition, last: eventSequencer.lastPosition })
    .from(eventLogStart)
    .crossJoin(eventSequencer),
);

/** The first position that is still in the log, and that of the last numbered event. */
export async function readLogBounds(reader: Reader): Promise<{ readonly first: bigint; readonly last: bigint }> {
  return (await reader.first(BOUNDS, {})) ?? { first: 1n, last: 0n };
}

/** The position of the last numbered event. */
export async function readLastPosition(reader: Reader): Promise<bigint> {
  return (await reader.first(LAST_POSITION, {}))?.position ?? 0n;
}

/** The number of events of each type between two positions, excluding the first. */
export async function countEvents(reader: Reader, after: bigint, upTo: bigint): Promise<EventCount[]> {
  return reader.execute<EventCount>(sql`
    SELECT module, entry ->> 'type' AS type, count(*)::int AS count
    FROM events, json_array_elements(entries) AS entry
    WHERE first_position > ${after} AND first_position <= ${upTo}
    GROUP BY module, type`);
}
