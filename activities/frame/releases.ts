import type { Reader } from '../../db/driver/client.ts';
import { countWaitingBetween } from '../../db/outgoing-transfers/wait-facts.ts';

/** What is known of one instant: so many of those that wait for it were created before this transfer. */
interface Known {
  readonly id: string;
  readonly ahead: number;
  readonly countedAtMs: number;
}

/** So long an earlier count is built on, although some of those transfers may have been cancelled. */
const KNOWN_MS = 10 * 60_000;
const INSTANTS_MAX = 1_000;
const FIRST = '00000000-0000-0000-0000-000000000000';

/** The order in which the transfers that wait for one instant are released: that of their creation. */
export interface ReleaseOrder {
  readonly perSecond: number;
  /** How many are released before this one. `until` is an ISO instant. */
  ahead(reader: Reader, until: string, id: string): Promise<number>;
}

/** Counts on from the transfer that was asked for before it, so that thousands in a row cost a few rows each. */
export function releaseOrder(perSecond: number): ReleaseOrder {
  const known = new Map<string, Known>();
  return {
    perSecond,
    async ahead(reader, until, id) {
      const last = known.get(until);
      const isFresh = last !== undefined && performance.now() - last.countedAtMs < KNOWN_MS;
      const from = isFresh ? last : { id: FIRST, ahead: 0, countedAtMs: performance.now() };
      // Lower-case ids have the order of Postgres's.
      const isLater = id >= from.id;
      const between = await countWaitingBetween(reader, until, isLater ? [from.id, id] : [id, from.id]);
      const ahead = isLater ? from.ahead + between : Math.max(0, from.ahead - between);
      if (!known.has(until) && known.size >= INSTANTS_MAX) known.clear();
      known.set(until, { id, ahead, countedAtMs: from.countedAtMs });
      return ahead;
    },
  };
}
