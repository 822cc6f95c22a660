import type { WebhookSubscriptionId } from '../../domain/common/ids.ts';
import type { Reader } from '../query/database.ts';

/** How a receiver takes its webhooks; counts are bounded. */
export interface DeliveryCounts {
  /** Up to 10,000. */
  readonly pending: number;
  /** Of the last deliveries that ended, up to 1,000. */
  readonly ended: number;
  readonly failed: number;
  /** How long the receiver took for the last successful attempt of each of these, in milliseconds; null without any. */
  readonly medianMs: number | null;
  readonly slowestMs: number | null;
}

const PENDING_MAX = 10_000;
const ENDED_MAX = 1_000;

const COUNTS = `
  WITH ended AS MATERIALIZED (
    SELECT id, status FROM webhook_deliveries WHERE subscription_id = $1 AND status <> 'pending' ORDER BY event_id DESC LIMIT ${ENDED_MAX}
  ), taken AS (
    SELECT last.duration_ms FROM ended CROSS JOIN LATERAL (
      SELECT duration_ms FROM webhook_attempts WHERE delivery_id = ended.id ORDER BY number DESC LIMIT 1) AS last
    WHERE status = 'succeeded'
  )
  SELECT (SELECT count(*) FROM (
      SELECT FROM webhook_deliveries WHERE subscription_id = $1 AND status = 'pending' LIMIT ${PENDING_MAX}) AS few)::integer AS pending,
    (SELECT count(*) FROM ended)::integer AS ended,
    (SELECT count(*) FROM ended WHERE status = 'failed')::integer AS failed,
    (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ms) FROM taken)::integer AS "medianMs",
    (SELECT max(duration_ms) FROM taken)::integer AS "slowestMs"`;

export async function readDeliveryCounts(reader: Reader, id: WebhookSubscriptionId): Promise<DeliveryCounts> {
  const [row] = await reader.statement<DeliveryCounts>(COUNTS, [id]);
  if (row === undefined) throw new Error('counts returned no row');
  return row;
}

/** Deliveries before `before` (the id of an event; null: from the newest on), in the order of their events, newest first. */
export function listNewestDeliveries(
  reader: Reader,
  {
    subscriptionId,
    status,
  }: { readonly subscriptionId: WebhookSubscriptionId; readonly status: DeliveryLine['status'] | null },
  { before, size }: { readonly before: string | null; readonly size: number },
): Promise<DeliveryLine[]> {
  return reader.statement<DeliveryLine>(LINES[status ?? 'any'], [subscriptionId, before, size]);
}

export interface DeliveryLine {
  readonly id: string;
  readonly eventId: string;
  readonly type: string;
  readonly module: string;
  readonly resourceId: string;
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly attemptCount: number;
  readonly createdAt: Date;
  readonly nextAttemptAt: Date;
}

// Event ids are in order of time, and the index of each event's one delivery has them in order for each subscription.
const linesOf = (condition: string) => `
  SELECT id, event_id AS "eventId", type, module, resource_id AS "resourceId", status, attempt_count AS "attemptCount",
    created_at AS "createdAt", next_attempt_at AS "nextAttemptAt"
  FROM webhook_deliveries WHERE subscription_id = $1 AND ${condition} AND event_id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  ORDER BY event_id DESC LIMIT $3`;

const LINES = {
  any: linesOf('true'),
  pending: linesOf(`status = 'pending'`),
  succeeded: linesOf(`status = 'succeeded'`),
  failed: linesOf(`status = 'failed'`),
};
