import { sql } from 'drizzle-orm';
import { rejection } from '../../domain/common/errors.ts';
import { appendAuditEntry, type Initiator } from '../common/audit-entries.ts';
import { lacksPartition } from '../postgres/failures.ts';
import type { Transaction } from '../query/database.ts';
import { type WebhookSubscription, wakeShard } from './subscriptions.ts';

/** The largest replay; a longer period takes several. */
const REPLAY_MAX = 100_000;

interface Replay {
  readonly from: Date;
  readonly to: Date;
  readonly types: readonly string[] | null;
}

/**
 * Redelivers the subscription's events of a period, both ends inclusive. Deliveries that are still pending stay as they are.
 * Returns how many it queued.
 */
export async function replayWebhooks(
  tx: Transaction,
  subscription: WebhookSubscription,
  replay: Replay,
  initiator: Initiator,
): Promise<number> {
  const { to } = replay;
  const result = await lineUp(tx, subscription, replay);
  const { found, lined } = result ?? { found: 0, lined: 0 };
  if (found > REPLAY_MAX) {
    throw rejection(
      'common.validation.limit_exceeded',
      ['webhookSubscription', 'to', to.toISOString()],
      `More than ${REPLAY_MAX} events happened in this time: ask for a shorter one.`,
    );
  }
  if (lined === 0) return 0;
  wakeShard(tx, subscription.shard);
  appendAuditEntry(tx, {
    initiator,
    resource: 'webhook-subscription',
    resourceId: subscription.id,
    action: 'replayed',
    after: { ...replay, deliveryCount: lined },
  });
  return lined;
}

/** How many events it found, and how many deliveries it made or made due; none of more than the most. */
async function lineUp(
  tx: Transaction,
  subscription: WebhookSubscription,
  { from, to, types }: Replay,
): Promise<{ found: number; lined: number } | undefined> {
  const made = tx.execute<{ found: number; lined: number }>(sql`
    WITH matching AS (
      SELECT event_id(event.id, entry.number - 1) AS event_id, event.first_position + entry.number - 1 AS position,
        event.resource_id, event.module, entry.value ->> 'type' AS type
      FROM events event CROSS JOIN LATERAL json_array_elements(event.entries) WITH ORDINALITY AS entry (value, number)
        JOIN webhook_subscriptions subscription ON subscription.id = ${subscription.id}
          AND subscribes(subscription.modules, subscription.types, event.module, entry.value ->> 'type')
      WHERE event.occurred_at BETWEEN ${from} AND ${to} AND event.first_position >= (SELECT first_position FROM event_log_start)
        AND (${types === null} OR entry.value ->> 'type' = ANY (${sql.param(types ?? [])}::text[]))
      ORDER BY 2 LIMIT ${REPLAY_MAX + 1}
    ), lined AS (
      INSERT INTO webhook_deliveries AS d (id, subscription_id, event_id, position, resource_id, module, type,
        next_attempt_at, created_at)
      SELECT uuidv7(), ${subscription.id}, event_id, position, resource_id, module, type, service_now(), service_now()
      FROM matching WHERE (SELECT count(*) FROM matching) <= ${REPLAY_MAX}
      ON CONFLICT ON CONSTRAINT webhook_deliveries_once DO UPDATE
        SET status = 'pending', next_attempt_at = service_now(), round_start = d.attempt_count, completed_at = NULL
        WHERE d.status <> 'pending'
      RETURNING 1
    )
    SELECT (SELECT count(*) FROM matching)::integer AS found, (SELECT count(*) FROM lined)::integer AS lined`);
  const [result] = await made.catch((error: unknown) => {
    if (!lacksPartition(error)) throw error;
    throw rejection(
      'common.state.illegal_transition',
      ['webhookSubscription', 'from', from.toISOString()],
      'Deliveries of this time are being removed: ask for a later one, or again after the next migration, which ends their removal.',
    );
  });
  return result;
}
