import type { Transaction } from '../../db/driver/client.ts';
import { deleteOldIdempotencyKeys } from '../../db/frame/idempotency-keys.ts';
import { deleteExpiredTokens, deleteOldCodes } from '../../db/open-banking/grants.ts';
import { deleteExpiredAssertions } from '../../db/third-party-providers/assertions.ts';
import { deleteOldAuthenticationFailures } from '../../db/users/authentications.ts';
import { deleteOldKnownDevices } from '../../db/users/known-devices.ts';
import { deleteOldEvents, deleteOldWebhookDeliveries } from '../../db/webhooks/retention.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { whileHeartbeating } from './heartbeats.ts';

/** Rows that one transaction deletes: it holds their locks for some milliseconds. */
const ROWS_AT_ONCE = 1_000;

/** The tasks of housekeeping that delete what has been kept for its configured time. */
export function retentionActivities({ database, configuration: { retention }, logger }: ActivityDependencies) {
  /** Deletes batch after batch, each in a transaction of its own, until one is not full. */
  function forget(deleteBatch: (tx: Transaction, limit: number) => Promise<number>): Promise<string> {
    return whileHeartbeating(async (signal) => {
      const deleteOne = (tx: Transaction) => deleteBatch(tx, ROWS_AT_ONCE);
      while (!signal.aborted && (await database.transaction(deleteOne)) === ROWS_AT_ONCE);
      return 'ok';
    });
  }

  return {
    async forgetOldIdempotencyKeys(): Promise<string> {
      return forget((tx, limit) => deleteOldIdempotencyKeys(tx, retention.idempotencyKeysDays, limit));
    },

    async forgetOldWebhookDeliveries(): Promise<string> {
      return forget((tx, limit) => deleteOldWebhookDeliveries(tx, retention.webhookDeliveriesDays, limit));
    },

    /** Wrong passwords that no longer count, devices that are no longer known, and what third parties hold that has expired: codes, access tokens, tokens that they signed. */
    async forgetWhatHasExpired(): Promise<string> {
      await forget(deleteOldAuthenticationFailures);
      await forget(deleteOldKnownDevices);
      await forget(deleteExpiredTokens);
      await forget(deleteOldCodes);
      // Tokens are checked by the wall clock.
      return forget((tx, limit) => deleteExpiredAssertions(tx, new Date(), limit));
    },

    /** Never deletes what a subscription still has to receive: a paused or disabled one can hold back the whole log. */
    async forgetOldEvents(): Promise<string> {
      const { eventsDays } = retention;
      if (eventsDays === null) return 'ok';
      let keptFor: string | null = null;
      await forget(async (tx, limit) => {
        const deleted = await deleteOldEvents(tx, eventsDays, limit);
        keptFor = deleted.keptFor;
        return deleted.rowCount;
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
