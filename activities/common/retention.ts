import { deleteOldIdempotencyKeys } from '../../db/common/idempotency-keys.ts';
import { deleteExpiredTokens, deleteOldCodes } from '../../db/open-banking/grants.ts';
import { deleteEndedSessions } from '../../db/people/sessions.ts';
import { deleteOldSignIns } from '../../db/people/sign-ins.ts';
import type { Transaction } from '../../db/query/database.ts';
import { deleteExpiredAssertions } from '../../db/third-party-providers/assertions.ts';
import { deleteOldAuthenticationFailures } from '../../db/users/authentications.ts';
import { deleteOldKnownDevices } from '../../db/users/known-devices.ts';
import { findOldEvents, findOldWebhookDeliveries, forgetOldEvents } from '../../db/webhooks/retention.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { whileHeartbeating } from './heartbeats.ts';

/** Rows per transaction, so that it holds their locks for a few milliseconds only. */
const ROWS_AT_ONCE = 1_000;

/** The housekeeping tasks that delete rows after their configured retention time, or note months of them for the tables' owner to remove. */
export function retentionActivities({ database, configuration: { retention }, logger }: ActivityDependencies) {
  /** Deletes in batches, each in its own transaction, until one is not full. */
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
      await database.transaction((tx) => findOldWebhookDeliveries(tx, retention.webhookDeliveriesDays));
      return 'ok';
    },

    /** Deletes expired authentication failures, known devices, the expired codes, access tokens and signed assertions of third parties, and the console's old sign-ins and sessions. */
    async forgetWhatHasExpired(): Promise<string> {
      await forget(deleteOldAuthenticationFailures);
      await forget(deleteOldKnownDevices);
      await forget(deleteExpiredTokens);
      await forget(deleteOldCodes);
      // These three go by the wall clock.
      await forget((tx, limit) => deleteExpiredAssertions(tx, new Date(), limit));
      await forget((tx, limit) => deleteOldSignIns(tx, new Date(), limit));
      return forget((tx, limit) => deleteEndedSessions(tx, new Date(), limit));
    },

    /** Keeps every event that a subscription has yet to receive: a paused or disabled one can hold back the whole log. */
    async forgetOldEvents(): Promise<string> {
      const { eventsDays } = retention;
      if (eventsDays === null) return 'ok';
      let keptFor: string | null = null;
      await forget(async (tx, limit) => {
        const forgotten = await forgetOldEvents(tx, eventsDays, limit);
        keptFor = forgotten.keptFor;
        return forgotten.rowCount;
      });
      await database.transaction((tx) => findOldEvents(tx, eventsDays));
      if (keptFor === null) return 'ok';
      logger.warn(
        { webhookSubscriptionId: keptFor },
        'old events are kept because a subscription has not received them: activate or delete the subscription',
      );
      return 'old-events-kept-for-subscription';
    },
  };
}
