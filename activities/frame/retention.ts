import type { Transaction } from '../../db/driver/client.ts';
import { deleteOldIdempotencyKeys } from '../../db/frame/idempotency-keys.ts';
import { deleteExpiredAssertions } from '../../db/third-party-providers/assertions.ts';
import { deleteOldAuthenticationFailures } from '../../db/users/authentications.ts';
import { deleteOldEvents, deleteOldWebhookDeliveries } from '../../db/webhooks/retention.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { whileHeartbeating } from './heartbeats.ts';

/** Rows that one transaction deletes: it holds their locks for some milliseconds. */
const ROWS_AT_ONCE = 1_000;

/** The tasks of housekeeping that delete what has been kept for its configured time. */
export function retentionActivities({ database, configuration: { retention }, logger }: ActivityDependencies) {
  /** Deletes batch after batch, each in a transaction of its own, until one is not full. */
  function forget(deleteBatch: (tx: Transaction) => Promise<boolean>): Promise<string> {
    return whileHeartbeating(async (signal) => {
      while (!signal.aborted && (await database.transaction(deleteBatch)));
      return 'ok';
    });
  }

  return {
    async forgetOldIdempotencyKeys(): Promise<string> {
      const { idempotencyKeysDays } = retention;
      return forget(
        async (tx) => (await deleteOldIdempotencyKeys(tx, idempotencyKeysDays, ROWS_AT_ONCE)) === ROWS_AT_ONCE,
      );
    },

    async forgetOldWebhookDeliveries(): Promise<string> {
      const { webhookDeliveriesDays } = retention;
      return forget(
        async (tx) => (await deleteOldWebhookDeliveries(tx, webhookDeliveriesDays, ROWS_AT_ONCE)) === ROWS_AT_ONCE,
      );
    },

    /** Wrong passwords that no longer count, and used tokens of third parties, which would now be refused as expired. */
    async forgetWhatHasExpired(): Promise<string> {
      await forget(async (tx) => (await deleteOldAuthenticationFailures(tx, ROWS_AT_ONCE)) === ROWS_AT_ONCE);
      // Tokens are checked by the wall clock.
      return forget(async (tx) => (await deleteExpiredAssertions(tx, new Date(), ROWS_AT_ONCE)) === ROWS_AT_ONCE);
    },

    /** Never deletes what a subscription still has to receive: a paused or disabled one can hold back the whole log. */
    async forgetOldEvents(): Promise<string> {
      const { eventsDays } = retention;
      if (eventsDays === null) return 'ok';
      let keptFor: string | null = null;
      await forget(async (tx) => {
        const deleted = await deleteOldEvents(tx, eventsDays, ROWS_AT_ONCE);
        keptFor = deleted.keptFor;
        return deleted.isFull;
      });
      if (keptFor === null) return 'ok';
      logger.warn(
        { webhookSubscriptionId: keptFor },
        'old events are kept for a subscription that has not received them: activate it or delete it',
      );
      return 'old-events-kept-for-subscription';
    },
  };
}
