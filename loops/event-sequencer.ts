import type { Logger } from 'pino';
import type { Database } from '../db/query/database.ts';
import { readWebhookBacklog } from '../db/webhooks/backlog.ts';
import {
  type NumberedEvents,
  numberEvents,
  readNumberingLagSeconds,
  wakeOverdueShards,
} from '../db/webhooks/event-sequencer.ts';
import {
  eventNumberingLagSeconds,
  webhookBacklog,
  webhookSubscriptionsDisabled,
  webhookSubscriptionsFailing,
  webhookSubscriptionsFailingOldestSeconds,
  webhookUndelivered,
  webhookUndeliveredOldestSeconds,
} from './metrics.ts';
import { type PollingLoop, pollingLoop } from './polling.ts';

/** The longest a new event waits before it can be sent; each poll costs one statement. */
const INTERVAL_MS = 100;
const ROWS_AT_ONCE = 2_000;
const ROWS_AT_ONCE_MIN = 1;
/** Polls read recent ids only, but every so often all of them, because a clock may be far behind. */
const RECENT_MS = 60_000;
const FULL_LOOK_INTERVAL_MS = 10_000;
const BACKLOG_INTERVAL_MS = 15_000;

/** Numbers committed events and creates their deliveries. One process at a time does this. */
export function eventSequencer(options: {
  readonly database: Database;
  readonly logger: Logger;
  readonly now: () => Date;
}): PollingLoop {
  const { database, logger, now } = options;
  let rowsAtOnce = ROWS_AT_ONCE;
  let fullLookAt = Number.NEGATIVE_INFINITY;
  let backlogReadAt = Number.NEGATIVE_INFINITY;

  /** Feeds metrics, and wakes a shard whose workflow was lost together with its timer. */
  async function lookAtBacklog(): Promise<void> {
    if (performance.now() - backlogReadAt < BACKLOG_INTERVAL_MS) return;
    backlogReadAt = performance.now();
    eventNumberingLagSeconds.set(await readNumberingLagSeconds(database.reader));
    const backlog = await readWebhookBacklog(database.reader);
    webhookBacklog.set(backlog.due);
    webhookUndelivered.set(backlog.undelivered);
    webhookUndeliveredOldestSeconds.set(backlog.oldestSeconds);
    webhookSubscriptionsFailing.set(backlog.failing);
    webhookSubscriptionsFailingOldestSeconds.set(backlog.failingSeconds);
    webhookSubscriptionsDisabled.set(backlog.disabled);
    await wakeOverdueShards(database);
  }

  /**
   * Halves the batch after a failure, so that one too large for its deadline does not fail for ever; doubles it after
   * a success.
   */
  async function number(since: Date | null): Promise<NumberedEvents & { readonly full: boolean }> {
    try {
      const numbered = await numberEvents(database, rowsAtOnce, since);
      const full = numbered.rowCount >= rowsAtOnce;
      rowsAtOnce = Math.min(ROWS_AT_ONCE, rowsAtOnce * 2);
      return { ...numbered, full };
    } catch (error) {
      rowsAtOnce = Math.max(ROWS_AT_ONCE_MIN, Math.floor(rowsAtOnce / 2));
      throw error;
    }
  }

  return pollingLoop({
    name: 'event-sequencer',
    intervalMs: INTERVAL_MS,
    logger,
    poll: async () => {
      const lookAtAll = performance.now() - fullLookAt > FULL_LOOK_INTERVAL_MS;
      const since = lookAtAll ? null : new Date(now().getTime() - RECENT_MS);
      try {
        const { full } = await number(since);
        if (lookAtAll && !full) fullLookAt = performance.now();
        return full;
      } finally {
        // Also after a failure, which the metrics would not show otherwise.
        await lookAtBacklog();
      }
    },
  });
}
