import { and, asc, count, eq, inArray, sql } from 'drizzle-orm';
import { recordNotFound } from '../../domain/frame/errors.ts';
import type { WebhookDeliveryId, WebhookSubscriptionId } from '../../domain/frame/ids.ts';
import type { Reader, Transaction } from '../driver/client.ts';
import type { PageOf, PageRequest } from '../frame/filters.ts';
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

export async function findWebhookDelivery(reader: Reader, id: WebhookDeliveryId): Promise<WebhookDelivery | null> {
  const rows = await reader.drizzle.select().from(webhookDeliveries).where(eq(webhookDeliveries.id, id));
  const [found] = await withAttempts(reader, rows);
  return found ?? null;
}

export async function listWebhookDeliveries(
  reader: Reader,
  filter: WebhookDeliveryFilter,
  page: PageRequest,
): Promise<PageOf<WebhookDelivery>> {
  const d = webhookDeliveries;
  const equal = [
    [d.subscriptionId, filter.subscriptionId],
    [d.status, filter.status],
    [d.eventId, filter.eventId],
    [d.resourceId, filter.resourceId],
    [d.type, filter.type],
  ] as const;
  const where = and(...equal.flatMap(([column, value]) => (value === undefined ? [] : [sql`${column} = ${value}`])));
  const [rows, [total]] = await Promise.all([
    reader.drizzle.select().from(d).where(where).orderBy(asc(d.id)).limit(page.size).offset(page.offset),
    reader.drizzle.select({ total: count() }).from(d).where(where),
  ]);
  return { rows: await withAttempts(reader, rows), totalElements: total?.total ?? 0 };
}

async function withAttempts(
  reader: Reader,
  rows: readonly (typeof webhookDeliveries.$inferSelect)[],
): Promise<WebhookDelivery[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const attempts = await reader.drizzle
    .select()
    .from(webhookAttempts)
    .where(inArray(webhookAttempts.deliveryId, ids))
    .orderBy(asc(webhookAttempts.deliveryId), asc(webhookAttempts.number));
  return rows.map((row) => ({ ...row, attempts: attempts.filter((attempt) => attempt.deliveryId === row.id) }));
}

/** Makes the delivery due now. A finished one starts the schedule again; a pending one continues it. */
export async function retryWebhookDelivery(tx: Transaction, id: WebhookDeliveryId): Promise<WebhookDelivery> {
  const [retried] = await tx.execute<{ shard: number }>(sql`
    UPDATE webhook_deliveries d SET status = 'pending', next_attempt_at = service_now(), completed_at = NULL,
      round_start = CASE WHEN d.status = 'pending' THEN d.round_start ELSE d.attempt_count END
    FROM webhook_subscriptions s WHERE d.id = ${id} AND s.id = d.subscription_id
    RETURNING s.shard`);
  const delivery = await findWebhookDelivery(tx, id);
  if (retried === undefined || delivery === null) throw recordNotFound('webhookDelivery', 'id', id);
  await wakeShard(tx, retried.shard);
  return delivery;
}

/** Deletes a batch of deliveries that ended more than 30 days ago, with their attempts; returns how many. */
export async function deleteOldWebhookDeliveries(tx: Transaction, batchSize: number): Promise<number> {
  const rows = await tx.execute(sql`
    DELETE FROM webhook_deliveries WHERE id = ANY (ARRAY(
      SELECT id FROM webhook_deliveries WHERE id < uuidv7_floor(service_now() - interval '30 days')
        AND completed_at < service_now() - interval '30 days' ORDER BY id LIMIT ${batchSize}))
    RETURNING id`);
  return rows.length;
}
