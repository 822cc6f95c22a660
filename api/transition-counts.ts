import { countEvents, readLastPosition } from '../db/webhooks/event-counts.ts';
import { transitionsTotal } from './frame/metrics.ts';
import type { Services } from './frame/services.ts';

/** A scrape after a long pause counts so many positions at most, and the next one goes on from there. */
const POSITIONS_MAX = 100_000n;

/**
 * Makes the step that brings `transitions_total` up to date, for each scrape. Transitions are counted by their events
 * where these are numbered, so that one made by a worker or inside an SQL function counts like any other, once.
 */
export function transitionCounter(services: Pick<Services, 'database'>): () => Promise<void> {
  const { reader } = services.database;
  let counted: bigint | null = null;
  return async () => {
    const last = await readLastPosition(reader);
    const after: bigint = counted ?? last;
    const upTo = last - after > POSITIONS_MAX ? after + POSITIONS_MAX : last;
    // Taken before the wait, so that two scrapes at once do not count the same events twice.
    counted = upTo;
    if (upTo === after) return;
    for (const { module, type, count } of await countEvents(reader, after, upTo))
      transitionsTotal.inc({ module, type }, count);
  };
}
