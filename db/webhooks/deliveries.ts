import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { WebhookDeliveryId, WebhookSubscriptionId } from '../../domain/common/ids.ts';
import { appendAuditEntry, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { equalTo } from '../common/filters.ts';
import { countedTotal } from '../query/counted-lists.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { listWith, type PageOf, type PageRequest, readPageWith } from '../query/lists.ts';
import { type Given, type Grouped, groupRows, type LeftJoin } from '../query/queries.ts';
import { lockIn, lookUpIn, lookUpWith, sendUpdate } from '../query/rows.ts';
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

const ATTEMPTS: LeftJoin<WebhookAttempt> = {
  table: webhookAttempts,
  columns: getTableColumns(webhookAttempts),
  on: eq(webhookAttempts.deliveryId, webhookDeliveries.id),
  order: [webhookAttempts.number],
};

function deliveryOf({ row, joined }: Grouped<DeliveryRow, WebhookAttempt>): WebhookDelivery {
  return { ...row, attempts: joined };
}

const DELIVERY = lookUpWith(webhookDeliveries, ATTEMPTS);

export async function findWebhookDelivery(reader: Reader, id: WebhookDeliveryId): Promise<WebhookDelivery | null> {
  const [found] = groupRows(await reader.findChildren(DELIVERY, id));
  return found === undefined ? null : deliveryOf(found);
}

const LIST = listWith<WebhookDeliveryFilter, typeof webhookDeliveries, WebhookAttempt>(
  webhookDeliveries,
  ATTEMPTS,
  conditions,
  ['id'],
  {
    key: ['id', 'eventId'],
    // An event or a resource has few deliveries, which an index finds.
    totalOf: ({ eventId, resourceId, ...key }) =>
      eventId === undefined && resourceId === undefined
        ? countedTotal('webhook_deliveries', webhookDeliveries, key, conditions(key))
        : undefined,
  },
);

function conditions(given: Partial<Given<WebhookDeliveryFilter>>): SQL | undefined {
  const { subscriptionId, status, eventId, resourceId, type } = webhookDeliveries;
  return and(
    // The sub-select lets one plan serve every month: planning takes longer than looking into one.
    given.eventId === undefined ? undefined : sql`${eventId} = (SELECT ${given.eventId}::uuid)`,
    ...equalTo([
      [subscriptionId, given.subscriptionId],
      [status, given.status],
      [resourceId, given.resourceId],
      [type, given.type],
    ]),
  );
}

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

/** The deliveries of a resource that one act makes due. */
export const RESENT_MAX = 200;

// Locked and still failed: of two people only the first finds them.
const FAILED_OF_RESOURCE = `SELECT id FROM webhook_deliveries WHERE resource_id = $1::uuid AND status = 'failed'
  ORDER BY id LIMIT $2 FOR NO KEY UPDATE`;

/** Makes the failed deliveries of a resource due now; returns how many. */
export async function retryFailedDeliveries(
  tx: Transaction,
  resourceId: string,
  initiator: Initiator,
): Promise<number> {
  const failed = await tx.statement<{ id: WebhookDeliveryId }>(FAILED_OF_RESOURCE, [resourceId, RESENT_MAX]);
  for (const { id } of failed) await retryWebhookDelivery(tx, id, initiator);
  return failed.length;
}

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
  wakeShard(tx, subscription.shard);
  const after = { webhookSubscriptionId: subscriptionId };
  appendAuditEntry(tx, { initiator, resource: 'webhook-delivery', resourceId: id, action: 'retried', after });
  return { ...retried, attempts: found.attempts };
}
