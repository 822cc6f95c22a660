import { and, asc, sql } from 'drizzle-orm';
import { recordNotFound } from '../../domain/frame/errors.ts';
import type { WebhookDeliveryId, WebhookSubscriptionId } from '../../domain/frame/ids.ts';
import type { Reader, Transaction } from '../driver/client.ts';
import { listOf, type PageOf, type PageRequest, readPage } from '../driver/queries/lists.ts';
import { type Given, prepared } from '../driver/queries/queries.ts';
import { lookUpIn } from '../driver/queries/rows.ts';
import { isListed } from '../driver/values.ts';
import { appendAuditEntry, type Initiator } from '../frame/audit-entries.ts';
import { equalTo } from '../frame/filters.ts';
import { webhookAttempts, webhookDeliveries } from './schema.ts';
import { wakeShard } from './subscriptions.ts';

export type WebhookAttempt = typeof webhookAttempts.$inferSelect;
/** A delivery with its attempts in order. */
export type WebhookDelivery = typeof webhookDeliveries.$inferSelect & { readonly attempts: readonly WebhookAttempt[] };

export interface WebhookDeliveryFilter {
  readonly subscriptionId?: WebhookSubscriptionId | undefined;
  readonly status?: WebhookDelivery['status'] | undefined;
  readonly eventId?: string | undefined;
  readonly resourceId?: string | undefined;
  readonly type?: string | undefined;
}

const DELIVERY = lookUpIn(webhookDeliveries);

export async function findWebhookDelivery(reader: Reader, id: WebhookDeliveryId): Promise<WebhookDelivery | null> {
  const [row, attempts] = await Promise.all([reader.find(DELIVERY, id), reader.findChildren(ATTEMPTS_OF_DELIVERY, id)]);
  return row === null ? null : { ...row, attempts };
}

const LIST = listOf<WebhookDeliveryFilter, typeof webhookDeliveries>(webhookDeliveries, (given) => {
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
});

export async function listWebhookDeliveries(
  reader: Reader,
  filter: WebhookDeliveryFilter,
  page: PageRequest,
): Promise<PageOf<WebhookDelivery>> {
  const { rows, totalElements } = await readPage(reader, LIST(filter), filter, page);
  const attempts = rows.length === 0 ? [] : await reader.run(ATTEMPTS, { ids: rows.map(({ id }) => id) });
  const attemptsOf = (id: string) => attempts.filter(({ deliveryId }) => deliveryId === id);
  return { rows: rows.map((row) => ({ ...row, attempts: attemptsOf(row.id) })), totalElements };
}

const ATTEMPTS = prepared((db, given: Given<{ ids: readonly string[] }>) =>
  db
    .select()
    .from(webhookAttempts)
    .where(isListed(webhookAttempts.deliveryId, given.ids))
    .orderBy(asc(webhookAttempts.deliveryId), asc(webhookAttempts.number)),
);

const ATTEMPTS_OF_DELIVERY = { query: ATTEMPTS, parentOf: ({ deliveryId }: WebhookAttempt) => deliveryId };

/** Makes the delivery due now. A finished one starts the schedule again; a pending one continues it. */
export async function retryWebhookDelivery(
  tx: Transaction,
  id: WebhookDeliveryId,
  initiator: Initiator,
): Promise<WebhookDelivery> {
  const [retried] = await tx.execute<{ shard: number }>(sql`
    UPDATE webhook_deliveries d SET status = 'pending', next_attempt_at = service_now(), completed_at = NULL,
      round_start = CASE WHEN d.status = 'pending' THEN d.round_start ELSE d.attempt_count END
    FROM webhook_subscriptions s WHERE d.id = ${id} AND s.id = d.subscription_id
    RETURNING s.shard`);
  const delivery = await findWebhookDelivery(tx, id);
  if (retried === undefined || delivery === null) throw recordNotFound('webhookDelivery', 'id', id);
  await wakeShard(tx, retried.shard);
  const after = { webhookSubscriptionId: delivery.subscriptionId };
  appendAuditEntry(tx, { initiator, resource: 'webhook-delivery', resourceId: id, action: 'retried', after });
  return delivery;
}
