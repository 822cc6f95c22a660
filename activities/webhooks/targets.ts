import type { Logger } from 'pino';
import type { Keyring } from '../../db/common/keyring.ts';
import { DatabaseUnavailable } from '../../db/postgres/failures.ts';
import type { Database } from '../../db/query/database.ts';
import type { ClaimedDelivery, DeliveryTarget } from '../../db/webhooks/delivery-claims.ts';
import { loadEventBodies } from '../../db/webhooks/event-documents.ts';
import { webhookSecretRow } from '../../db/webhooks/schema.ts';

/** A subscription's address and signing secrets. */
export interface ReadableTarget {
  readonly subscriptionId: string;
  readonly url: string;
  readonly secrets: readonly string[];
}

/**
 * Targets with decryptable secrets. Deliveries to others wait until their claims end, so a missing key loses nothing.
 */
export function readableTargets(
  { keyring, logger }: { readonly keyring: Keyring; readonly logger: Logger },
  targets: readonly DeliveryTarget[],
): ReadableTarget[] {
  return targets.flatMap((target) => {
    try {
      const secrets = target.secrets.map(({ id, secret }) => keyring.decrypt(secret, webhookSecretRow(id)));
      return secrets.length === 0 ? [] : [{ ...target, secrets }];
    } catch (error) {
      const { subscriptionId: webhookSubscriptionId } = target;
      const reason = error instanceof Error ? error.message : 'unknown';
      logger.error({ webhookSubscriptionId, reason }, 'the secret of a subscription cannot be decrypted');
      return [];
    }
  });
}

/** A claimed delivery, ready to send. */
export interface Claimed {
  readonly delivery: ClaimedDelivery;
  readonly target: ReadableTarget;
  readonly token: string;
  /** By performance.now(); no attempt starts that could outlast the claim. */
  readonly claimEndsAt: number;
  readonly body: string | null;
  /** Of the event, while traces are on. */
  readonly traceparent: string | undefined;
}

/** First attempts for one subscription and resource form one queue, by position; every retry has a queue of its own. */
export function queuesByResource(claimed: readonly Claimed[]): (readonly Claimed[])[] {
  const queues = new Map<string, Claimed[]>();
  const ordered = [...claimed].sort((one, other) => (one.delivery.position < other.delivery.position ? -1 : 1));
  for (const one of ordered) {
    const { id, subscriptionId, resourceId, attemptCount } = one.delivery;
    const key = attemptCount === 0 ? `${subscriptionId} ${resourceId}` : id;
    const queue = queues.get(key);
    if (queue === undefined) queues.set(key, [one]);
    else queue.push(one);
  }
  return [...queues.values()];
}

/** Renders events together or, if one of them cannot be rendered, one by one. */
export async function renderBodies(
  { database, logger }: { readonly database: Database; readonly logger: Logger },
  deliveries: readonly ClaimedDelivery[],
): Promise<ReadonlyMap<string, string>> {
  const eventIds = [...new Set(deliveries.filter((one) => one.body === null).map((one) => one.eventId))];
  if (eventIds.length === 0) return new Map();
  try {
    return await loadEventBodies(database.reader, eventIds);
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error;
    const bodies = new Map<string, string>();
    for (const eventId of eventIds) {
      try {
        for (const [id, body] of await loadEventBodies(database.reader, [eventId])) bodies.set(id, body);
      } catch (cause) {
        if (cause instanceof DatabaseUnavailable) throw cause;
        logger.error({ eventId, error: cause }, 'an event cannot be rendered');
      }
    }
    return bodies;
  }
}
