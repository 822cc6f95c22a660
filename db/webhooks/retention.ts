import { sql } from 'drizzle-orm';
import type { Transaction } from '../query/database.ts';

const FIND_OLD_DELIVERIES = `SELECT find_months_over(name, service_now() - make_interval(days => $1))
  FROM unnest(ARRAY['webhook_deliveries', 'webhook_attempts']) AS name`;

/** Notes the months of deliveries and their attempts that all ended more than `days` ago, for the tables' owner to remove. */
export async function findOldWebhookDeliveries(tx: Transaction, days: number): Promise<void> {
  await tx.statement(FIND_OLD_DELIVERIES, [days]);
}

const FIND_OLD_EVENTS = `SELECT find_months_over('events', service_now() - make_interval(days => $1))`;

/** Notes the months of events that lie before the beginning of the log, for the tables' owner to remove. */
export async function findOldEvents(tx: Transaction, days: number): Promise<void> {
  await tx.statement(FIND_OLD_EVENTS, [days]);
}

export interface ForgottenEvents {
  readonly rowCount: number;
  /** A subscription with undelivered events older than the retention, which are kept for it with all later ones. */
  readonly keptFor: string | null;
}

/**
 * Moves the beginning of the event log behind a batch of rows that occurred more than `days` ago. It stops at the first
 * event that a subscription has yet to receive, and at the first that the ledger check has not seen.
 */
export async function forgetOldEvents(tx: Transaction, days: number, batchSize: number): Promise<ForgottenEvents> {
  const [result] = await tx.execute<ForgottenEvents & Record<string, unknown>>(sql`
    WITH moment AS MATERIALIZED (SELECT service_now() - make_interval(days => ${days}) AS past),
    undelivered AS MATERIALIZED (
      SELECT delivery.position, subscription.id FROM webhook_subscriptions subscription CROSS JOIN LATERAL (
        SELECT min(position) AS position FROM webhook_deliveries
        WHERE subscription_id = subscription.id AND status = 'pending' AND module <> 'webhook-subscriptions'
      ) AS delivery
      WHERE subscription.deleted_at IS NULL AND delivery.position IS NOT NULL ORDER BY delivery.position LIMIT 1
    ),
    oldest AS MATERIALIZED (
      SELECT first_position, entry_count, occurred_at < (SELECT past FROM moment) AS is_old,
        first_position + entry_count > (SELECT position FROM undelivered) AS is_undelivered,
        first_position + entry_count - 1 > coalesce((SELECT event_position FROM ledger_checks), 0) AS is_unchecked
      FROM events WHERE first_position >= (SELECT first_position FROM event_log_start)
      ORDER BY first_position LIMIT ${batchSize}
    ),
    kept AS MATERIALIZED (
      SELECT first_position, is_old AND is_undelivered AS for_subscription FROM oldest
      WHERE NOT is_old OR coalesce(is_undelivered, false) OR is_unchecked ORDER BY first_position LIMIT 1
    ),
    forgotten AS MATERIALIZED (
      SELECT first_position + entry_count AS next_position FROM oldest
      WHERE first_position < coalesce((SELECT first_position FROM kept), first_position + 1)
    ),
    moved AS (
      UPDATE event_log_start SET first_position = latest.next_position
      FROM (SELECT max(next_position) AS next_position FROM forgotten) AS latest WHERE latest.next_position IS NOT NULL
    )
    SELECT (SELECT count(*) FROM forgotten)::integer AS "rowCount",
      (SELECT id FROM undelivered WHERE (SELECT for_subscription FROM kept)) AS "keptFor"`);
  return result ?? { rowCount: 0, keptFor: null };
}
