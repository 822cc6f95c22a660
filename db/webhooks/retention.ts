import { sql } from 'drizzle-orm';
import type { Transaction } from '../driver/client.ts';

/**
 * Deletes a batch of deliveries that ended more than so many days ago, with their attempts, and of those that a deleted
 * subscription left behind. Returns how many.
 */
export async function deleteOldWebhookDeliveries(tx: Transaction, days: number, batchSize: number): Promise<number> {
  const rows = await tx.execute(sql`
    WITH moment AS MATERIALIZED (SELECT service_now() - make_interval(days => ${days}) AS past)
    DELETE FROM webhook_deliveries WHERE id = ANY (ARRAY(
      SELECT delivery.id FROM webhook_deliveries delivery
        JOIN webhook_subscriptions subscription ON subscription.id = delivery.subscription_id
      WHERE delivery.id < uuidv7_floor((SELECT past FROM moment))
        AND (delivery.completed_at < (SELECT past FROM moment) OR subscription.deleted_at < (SELECT past FROM moment))
      ORDER BY delivery.id LIMIT ${batchSize}))
    RETURNING id`);
  return rows.length;
}

export interface DeletedEvents {
  readonly rowCount: number;
  /** A subscription whose undelivered events are older than the retention, and are kept for it with all that came later. */
  readonly keptFor: string | null;
}

/**
 * Deletes a batch from the beginning of the event log: rows that occurred more than so many days ago. It stops at the first
 * event that a subscription still has to receive, and at the first that the ledger check has not seen.
 */
export async function deleteOldEvents(tx: Transaction, days: number, batchSize: number): Promise<DeletedEvents> {
  const [result] = await tx.execute<DeletedEvents & Record<string, unknown>>(sql`
    WITH moment AS MATERIALIZED (SELECT service_now() - make_interval(days => ${days}) AS past),
    undelivered AS MATERIALIZED (
      SELECT delivery.position, subscription.id FROM webhook_subscriptions subscription CROSS JOIN LATERAL (
        SELECT min(position) AS position FROM webhook_deliveries
        WHERE subscription_id = subscription.id AND status = 'pending' AND module <> 'webhook-subscriptions'
      ) AS delivery
      WHERE subscription.deleted_at IS NULL AND delivery.position IS NOT NULL ORDER BY delivery.position LIMIT 1
    ),
    oldest AS MATERIALIZED (
      SELECT id, first_position, entry_count, occurred_at < (SELECT past FROM moment) AS is_old,
        first_position + entry_count > (SELECT position FROM undelivered) AS is_undelivered,
        first_position + entry_count - 1 > coalesce((SELECT event_position FROM ledger_checks), 0) AS is_unchecked
      FROM events WHERE first_position >= (SELECT first_position FROM event_log_start)
      ORDER BY first_position LIMIT ${batchSize}
    ),
    kept AS MATERIALIZED (
      SELECT first_position, is_old AND is_undelivered AS for_subscription FROM oldest
      WHERE NOT is_old OR coalesce(is_undelivered, false) OR is_unchecked ORDER BY first_position LIMIT 1
    ),
    deleted AS (
      DELETE FROM events WHERE id IN (
        SELECT id FROM oldest WHERE first_position < coalesce((SELECT first_position FROM kept), first_position + 1)
      ) RETURNING first_position + entry_count AS next_position
    ),
    moved AS (
      UPDATE event_log_start SET first_position = latest.next_position
      FROM (SELECT max(next_position) AS next_position FROM deleted) AS latest WHERE latest.next_position IS NOT NULL
    )
    SELECT (SELECT count(*) FROM deleted)::integer AS "rowCount",
      (SELECT id FROM undelivered WHERE (SELECT for_subscription FROM kept)) AS "keptFor"`);
  return result ?? { rowCount: 0, keptFor: null };
}
