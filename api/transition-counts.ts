import { countEvents, readLastPosition } from '../db/webhooks/event-counts.ts';
import { transitionsTotal } from './http/metrics.ts';
import type { Services } from './http/services.ts';

/** Most positions counted per scrape; the next one continues. */
const POSITIONS_MAX = 100_000n;

/**
 * Brings `transitions_total` up to date at each scrape. It counts numbered events, so a transition by a worker or an
 * SQL function is counted once too.
 */
export function transitionCounter(services: Pick<Services, 'database'>): () => Promise<void> {
  const { reader } = services.database;
  let counted: bigint | null = null;
  return async () => {
    const last = await readLastPosition(reader);
    const after: bigint = counted ?? last;
    const upTo = last - after > POSITIONS_MAX ? after + POSITIONS_MAX : last;
    // Advanced before the read, so that concurrent scrapes do not count events twice.
    counted = upTo;
    if (upTo === after) return;
    for (const { module, type, count } of await countEvents(reader, after, upTo))
      transitionsTotal.inc({ module, type }, count);
  };
}
