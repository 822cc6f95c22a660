import { and, eq, getTableColumns } from 'drizzle-orm';
import { recordNotFound } from '../../domain/frame/errors.ts';
import type { WebhookDeliveryId, WebhookSubscriptionId } from '../../domain/frame/ids.ts';
import type { Reader, Transaction } from '../driver/client.ts';
import { listWith, type PageOf, type PageRequest, readPageWith } from '../driver/queries/lists.ts';
import { type Beside, type Gathered, gather } from '../driver/queries/queries.ts';
import { lockIn, lookUpIn, lookUpWith, sendUpdate } from '../driver/queries/rows.ts';
import { appendAuditEntry, type Initiator } from '../frame/audit-entries.ts';
import { readClock } from '../frame/clock.ts';
import { equalTo } from '../frame/filters.ts';
import { webhookAttempts, webhookDeliveries, webhookSubscriptions } from './schema.ts';
import { wakeShard } from './subscriptions.ts';

type DeliveryRow = typeof webhookDeliveries.$inferSelect;
export type WebhookAttempt = typeof webhookAttempts.$inferSelect;
/** A delivery with its attempts in order. */
export type WebhookDelivery = DeliveryRow & { readonly attempts: readonly WebhookAttempt[] };

export interface WebhookDeliveryFilter {
  readonly subscriptionId?: WebhookSubscriptionId | undefined;
  readonly status?: WebhookDelivery['status'] | undefined;
  readonly eventId?: string | undefined;
  readonly resourceId?: string | undefined;
  readonly type?: string | undefined;
}

const ATTEMPTS: Beside<WebhookAttempt> = {
  table: webhookAttempts,
  columns: getTableColumns(webhookAttempts),
  on: eq(webhookAttempts.deliveryId, webhookDeliveries.id),
  order: [webhookAttempts.number],
};

function deliveryOf({ row, beside }: Gathered<DeliveryRow, WebhookAttempt>): WebhookDelivery {
  return { ...row, attempts: beside };
}

const DELIVERY = lookUpWith(webhookDeliveries, ATTEMPTS);

export async function findWebhookDelivery(reader: Reader, id: WebhookDeliveryId): Promise<WebhookDelivery | null> {
  const [found] = gather(await reader.findChildren(DELIVERY, id));
  return found === undefined ? null : deliveryOf(found);
}

const LIST = listWith<WebhookDeliveryFilter, typeof webhookDeliveries, WebhookAttempt>(
  webhookDeliveries,
  ATTEMPTS,
  (given) => {
    const { subscriptionId, status, eventId, resourceId, type } = webhookDeliveries;
    return and(
      ...equalTo([
        [subscriptionId, given.subscriptionId],
        [status, given.status],
        [eventId, given.eventId],
        [resourceId, given.resourceId],
        [type, given.type],
      ]),
    );
  },
);

export async function listWebhookDeliveries(
  reader: Reader,
  filter: WebhookDeliveryFilter,
  page: PageRequest,
): Promise<PageOf<WebhookDelivery>> {
  const { rows, totalElements } = await readPageWith(reader, LIST(filter), filter, page);
  return { rows: rows.map(deliveryOf), totalElements };
}

const LOCK = lockIn(webhookDeliveries, 'no key update');
const SUBSCRIPTION = lookUpIn(webhookSubscriptions);

/** Makes the delivery due now. A finished one starts the schedule again; a pending one continues it. */
export async function retryWebhookDelivery(
  tx: Transaction,
  id: WebhookDeliveryId,
  initiator: Initiator,
): Promise<WebhookDelivery> {
  const [before, found, now] = await Promise.all([tx.lock(LOCK, id), findWebhookDelivery(tx, id), readClock(tx)]);
  if (before === null || found === null) throw recordNotFound('webhookDelivery', 'id', id);
  const { subscriptionId, status, roundStart, attemptCount } = before;
  const subscription = await tx.find(SUBSCRIPTION, subscriptionId);
  if (subscription === null) throw new Error(`the subscription ${subscriptionId} of a delivery is gone`);
  const retried = sendUpdate(tx, webhookDeliveries, before, {
    status: 'pending',
    nextAttemptAt: now,
    completedAt: null,
    roundStart: status === 'pending' ? roundStart : attemptCount,
  });
  await wakeShard(tx, subscription.shard);
  const after = { webhookSubscriptionId: subscriptionId };
  appendAuditEntry(tx, { initiator, resource: 'webhook-delivery', resourceId: id, action: 'retried', after });
  return { ...retried, attempts: found.attempts };
}
