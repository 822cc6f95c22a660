import { sql } from 'drizzle-orm';
import type { Reader } from '../query/database.ts';

const BACKLOG_MAX = 10_000;

export interface WebhookBacklog {
  /** Deliveries whose next attempt is due, up to 10,000. */
  readonly due: number;
  /** Deliveries that are not made, whenever their next attempt is, up to 10,000. */
  readonly undelivered: number;
  /** Age of the oldest of these; 0 without one. */
  readonly oldestSeconds: number;
  /** Active subscriptions without a successful delivery since one failed, and the age of the longest such failure. */
  readonly failing: number;
  readonly failingSeconds: number;
  /** Subscriptions that the service disabled. */
  readonly disabled: number;
}

const NO_BACKLOG: WebhookBacklog = {
  due: 0,
  undelivered: 0,
  oldestSeconds: 0,
  failing: 0,
  failingSeconds: 0,
  disabled: 0,
};

/** For metrics, of active subscriptions: the others' deliveries wait on purpose. */
export async function readWebhookBacklog(reader: Reader): Promise<WebhookBacklog> {
  const [row] = await reader.execute<WebhookBacklog>(sql`
    WITH active AS MATERIALIZED (
      SELECT id, failing_since FROM webhook_subscriptions WHERE status = 'active' AND deleted_at IS NULL
    ), moment AS MATERIALIZED (SELECT service_now() AS now)
    SELECT (SELECT count(*) FROM (
        SELECT FROM active s JOIN webhook_deliveries d ON d.subscription_id = s.id
        WHERE d.status = 'pending' LIMIT ${BACKLOG_MAX}) AS waiting)::integer AS undelivered,
      (SELECT coalesce(extract(epoch FROM greatest(max((SELECT now FROM moment) - oldest.created_at), interval '0')), 0)
        FROM active s CROSS JOIN LATERAL (
          SELECT created_at FROM webhook_deliveries d
          WHERE d.subscription_id = s.id AND d.status = 'pending' ORDER BY d.created_at LIMIT 1) AS oldest)::float8 AS "oldestSeconds",
      (SELECT count(failing_since) FROM active)::integer AS failing,
      (SELECT coalesce(extract(epoch FROM greatest(max((SELECT now FROM moment) - failing_since), interval '0')), 0)
        FROM active)::float8 AS "failingSeconds",
      (SELECT count(*) FROM (
        SELECT FROM active s JOIN webhook_deliveries d ON d.subscription_id = s.id
        WHERE d.status = 'pending' AND d.next_attempt_at <= (SELECT now FROM moment) LIMIT ${BACKLOG_MAX}) AS due)::integer AS due,
      (SELECT count(*) FROM webhook_subscriptions
        WHERE status = 'disabled' AND status_reason IS NOT NULL AND deleted_at IS NULL)::integer AS disabled`);
  return row ?? NO_BACKLOG;
}
