import { sql } from 'drizzle-orm';
import type { AttemptOutcome } from '../../domain/webhooks/deliveries.ts';
import type { Database, Reader, Transaction } from '../query/database.ts';

/** A delivery that its drainer may attempt until the claim expires. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly subscriptionId: string;
  readonly eventId: string;
  readonly position: bigint;
  readonly resourceId: string;
  readonly attemptCount: number;
  readonly roundStart: number;
  /** Only for a ping; an event's body is rendered. */
  readonly body: string | null;
}

/** A subscription's address and its signing secrets, newest first. */
export interface DeliveryTarget {
  readonly subscriptionId: string;
  readonly url: string;
  /** Encrypted, as stored. */
  readonly secrets: readonly { readonly id: string; readonly secret: string }[];
}

export interface DeliveryClaim {
  readonly shard: number;
  readonly token: string;
  readonly claimMs: number;
  /** The most rows to claim per subscription, unless `limits` has a number for it. */
  readonly perSubscription: number;
  readonly limits: ReadonlyMap<string, number>;
}

const CLAIMED_COLUMNS = sql`d.id, d.subscription_id AS "subscriptionId", d.event_id AS "eventId", d.position,
  d.resource_id AS "resourceId", d.attempt_count AS "attemptCount", d.round_start AS "roundStart", d.body`;

/**
 * Claims due deliveries of a shard's active subscriptions: retries, and first attempts in the order of each resource's
 * events. A first attempt waits while another drainer holds its predecessor, so two drainers never reorder a resource's
 * events. A predecessor that was just attempted delays it until the next claim at most. No event is made before its resource,
 * so Postgres looks for predecessors in no month before.
 */
export async function claimDeliveries(reader: Reader, claim: DeliveryClaim): Promise<ClaimedDelivery[]> {
  const limits = JSON.stringify([...claim.limits].map(([id, free]) => ({ id, free })));
  return reader.execute<ClaimedDelivery>(sql`
    WITH moment AS MATERIALIZED (
      SELECT service_now() AS now
    ), lane AS MATERIALIZED (
      SELECT s.id, coalesce(l.free, ${claim.perSubscription}) AS free
      FROM webhook_subscriptions s LEFT JOIN json_to_recordset(${limits}::json) AS l (id uuid, free integer) ON l.id = s.id
      WHERE s.shard = ${claim.shard} AND s.status = 'active' AND s.deleted_at IS NULL
    ), due AS MATERIALIZED (
      SELECT d.* FROM lane CROSS JOIN LATERAL (
        SELECT id, event_id, subscription_id, resource_id, position, attempt_count FROM webhook_deliveries candidate
        WHERE candidate.subscription_id = lane.id AND candidate.status = 'pending'
          AND candidate.next_attempt_at <= (SELECT now FROM moment)
          AND (candidate.claimed_until IS NULL OR candidate.claimed_until <= (SELECT now FROM moment))
          AND (candidate.attempt_count > 0 OR NOT EXISTS (
            SELECT FROM webhook_deliveries ahead
            WHERE ahead.subscription_id = candidate.subscription_id AND ahead.resource_id = candidate.resource_id
              AND ahead.status = 'pending' AND ahead.attempt_count = 0 AND ahead.position < candidate.position
              AND ahead.event_id >= least_id_about(candidate.resource_id)
              AND ahead.claimed_until > (SELECT now FROM moment)))
        ORDER BY candidate.next_attempt_at, candidate.position LIMIT lane.free FOR UPDATE SKIP LOCKED
      ) AS d
    )
    UPDATE webhook_deliveries d
    SET claim_token = ${claim.token}::uuid,
      claimed_until = (SELECT now FROM moment) + ${`${claim.claimMs} milliseconds`}::interval
    FROM due
    WHERE d.id = due.id AND d.event_id = due.event_id AND (due.attempt_count > 0 OR NOT EXISTS (
      SELECT FROM webhook_deliveries ahead
      WHERE ahead.subscription_id = due.subscription_id AND ahead.resource_id = due.resource_id
        AND ahead.status = 'pending' AND ahead.attempt_count = 0 AND ahead.position < due.position
        AND ahead.event_id >= least_id_about(due.resource_id)
        AND ahead.id NOT IN (SELECT id FROM due)))
    RETURNING ${CLAIMED_COLUMNS}`);
}

export async function readTargets(reader: Reader, subscriptionIds: readonly string[]): Promise<DeliveryTarget[]> {
  return reader.execute<DeliveryTarget>(sql`
    SELECT s.id AS "subscriptionId", s.url, coalesce((
      SELECT json_agg(json_build_object('id', id, 'secret', secret) ORDER BY id DESC) FROM webhook_secrets
      WHERE subscription_id = s.id AND (expires_at IS NULL OR expires_at > service_now())), '[]') AS secrets
    FROM webhook_subscriptions s WHERE s.id = ANY (${sql.param(subscriptionIds)}::uuid[])`);
}

/** An attempt and its result, saved in one piece. */
export interface AttemptRecord {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly subscriptionId: string;
  readonly token: string;
  readonly outcome: AttemptOutcome;
  readonly status: 'pending' | 'succeeded' | 'failed';
  /** The delay before the next attempt; null if there is none. */
  readonly delayMs: number | null;
  /** The receiver answered 410. */
  readonly gone: boolean;
  /** The attempt's age when it is recorded. */
  readonly ageMs: number;
}

export interface DisabledSubscription {
  readonly id: string;
  readonly reason: 'gone' | 'failing';
}

/**
 * Records attempts whose claims still hold; a later drainer records its own. Disables and returns subscriptions whose
 * receiver is gone or has failed without a success for `disableAfterHours`.
 */
export async function recordAttempts(
  tx: Transaction,
  records: readonly AttemptRecord[],
  disableAfterHours: number,
): Promise<DisabledSubscription[]> {
  const outcomes = records.map(({ outcome, ...record }) => ({ ...record, ...outcome }));
  await tx.execute(sql`
    WITH outcome AS (
      SELECT * FROM json_to_recordset(${JSON.stringify(outcomes)}::json) AS o ("deliveryId" uuid, "eventId" uuid, token uuid, status text,
        "delayMs" bigint, "ageMs" bigint, "durationMs" integer, "responseCode" smallint, "responseBody" text, error text)
    ), recorded AS (
      UPDATE webhook_deliveries d SET status = outcome.status, attempt_count = d.attempt_count + 1,
        next_attempt_at = CASE WHEN outcome."delayMs" IS NULL THEN d.next_attempt_at
          ELSE service_now() + outcome."delayMs" * interval '1 millisecond' END,
        completed_at = CASE WHEN outcome.status = 'pending' THEN NULL ELSE service_now() END,
        claim_token = NULL, claimed_until = NULL
      FROM outcome WHERE d.id = outcome."deliveryId" AND d.event_id = outcome."eventId" AND d.claim_token = outcome.token
      RETURNING d.attempt_count, outcome.*
    )
    INSERT INTO webhook_attempts (delivery_id, number, attempted_at, duration_ms, response_code, response_body, error)
    SELECT "deliveryId", attempt_count, service_now() - "ageMs" * interval '1 millisecond', "durationMs", "responseCode",
      "responseBody", error FROM recorded`);
  return recordHealth(tx, records, disableAfterHours);
}

async function recordHealth(
  tx: Transaction,
  records: readonly AttemptRecord[],
  disableAfterHours: number,
): Promise<DisabledSubscription[]> {
  const succeeded = [...new Set(records.filter((one) => one.status === 'succeeded').map((one) => one.subscriptionId))];
  const failed = new Set(records.filter((one) => one.status !== 'succeeded').map((one) => one.subscriptionId));
  const gone = [...new Set(records.filter((one) => one.gone).map((one) => one.subscriptionId))];
  if (succeeded.length > 0) {
    await tx.execute(sql`
      UPDATE webhook_subscriptions SET failing_since = NULL
      WHERE id = ANY (${sql.param(succeeded)}::uuid[]) AND failing_since IS NOT NULL`);
  }
  const failing = [...failed].filter((id) => !succeeded.includes(id) || gone.includes(id));
  if (failing.length === 0) return [];
  await tx.execute(sql`
    UPDATE webhook_subscriptions SET failing_since = service_now()
    WHERE id = ANY (${sql.param(failing)}::uuid[]) AND failing_since IS NULL`);
  return tx.execute<DisabledSubscription>(sql`
    UPDATE webhook_subscriptions SET status = 'disabled', revision = revision + 1,
      status_reason = CASE WHEN id = ANY (${sql.param(gone)}::uuid[]) THEN 'gone' ELSE 'failing' END
    WHERE id = ANY (${sql.param(failing)}::uuid[]) AND status = 'active' AND deleted_at IS NULL
      AND (id = ANY (${sql.param(gone)}::uuid[])
        OR failing_since <= service_now() - ${disableAfterHours} * interval '1 hour')
    RETURNING id, status_reason AS reason`);
}

/** Returns unused claims, so that other drainers need not wait for them to expire. */
export async function releaseDeliveries(
  reader: Reader,
  tokens: readonly string[],
  ids: readonly string[],
): Promise<void> {
  await reader.execute(sql`
    UPDATE webhook_deliveries SET claim_token = NULL, claimed_until = NULL
    WHERE id = ANY (${sql.param(ids)}::uuid[]) AND claim_token = ANY (${sql.param(tokens)}::uuid[])`);
}

/** Marks a shard as being drained, so that the sequencer does not wake its workflow. */
export async function markShardBusy(reader: Reader, shard: number, forMs: number): Promise<void> {
  await reader.execute(sql`
    UPDATE webhook_shards SET busy_until = service_now() + ${`${forMs} milliseconds`}::interval WHERE shard = ${shard}`);
}

export type IdleShard =
  | { readonly idle: false; readonly claimed: readonly ClaimedDelivery[] }
  /** Milliseconds until the next delivery is due; null if none is pending. */
  | { readonly idle: true; readonly waitMs: number | null };

/**
 * Marks the shard as idle unless a delivery is due. It locks the row first, so a concurrent sequencer either has committed
 * its deliveries by then or will see that the shard is idle.
 */
export async function goIdle(database: Database, claim: DeliveryClaim): Promise<IdleShard> {
  return database.transaction(async (tx) => {
    await tx.execute(sql`SELECT FROM webhook_shards WHERE shard = ${claim.shard} FOR UPDATE`);
    const claimed = await claimDeliveries(tx, claim);
    if (claimed.length > 0) return { idle: false, claimed };
    await tx.execute(sql`UPDATE webhook_shards SET busy_until = '-infinity' WHERE shard = ${claim.shard}`);
    const [next] = await tx.execute<{ waitMs: number | null }>(sql`
      WITH moment AS MATERIALIZED (SELECT service_now() AS now)
      SELECT extract(epoch FROM min(at) - (SELECT now FROM moment))::float8 * 1000 AS "waitMs"
      FROM webhook_subscriptions s CROSS JOIN LATERAL (
        (SELECT next_attempt_at AS at FROM webhook_deliveries d
          WHERE d.subscription_id = s.id AND d.status = 'pending' AND d.next_attempt_at > (SELECT now FROM moment)
          ORDER BY d.next_attempt_at LIMIT 1)
        UNION ALL
        (SELECT min(claimed_until) FROM webhook_deliveries d
          WHERE d.subscription_id = s.id AND d.status = 'pending' AND d.next_attempt_at <= (SELECT now FROM moment))
      ) AS next
      WHERE s.shard = ${claim.shard} AND s.status = 'active' AND s.deleted_at IS NULL`);
    return { idle: true, waitMs: next?.waitMs ?? null };
  });
}
