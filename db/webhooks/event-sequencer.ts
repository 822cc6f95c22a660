import { WEBHOOK_DELIVERY_WORKFLOW } from '../../domain/webhooks/deliveries.ts';
import { LEAST_ID, leastIdOf } from '../common/ids.ts';
import { wake } from '../common/workflow-wakeups.ts';
import type { Database, Reader } from '../query/database.ts';

export interface NumberedEvents {
  /** The number of rows numbered; a full batch may not be the last. */
  readonly rowCount: number;
  readonly deliveryCount: number;
  /** Whether it added wake-ups for shards. */
  readonly woken: boolean;
}

const NOTHING: NumberedEvents = { rowCount: 0, deliveryCount: 0, woken: false };

/** The most by which the clocks of two processes, and hence the times in their ids, may differ. */
const CLOCK_SKEW_MAX = '60 seconds';

const UNNUMBERED = 'SELECT cardinality(unnumbered_events($1::uuid, 1)) > 0 AS "found"';

const NUMBER = `SELECT row_count AS "rowCount", delivery_count AS "deliveryCount", wake_shards AS "wakeShards"
  FROM number_events($1::integer, $2::uuid, $3::interval)`;

const LAG = `SELECT extract(epoch FROM greatest(service_now() - occurred_at, interval '0'))::float8 AS "seconds"
  FROM events WHERE id = (SELECT (unnumbered_events('${LEAST_ID}', 1))[1])`;

const OVERDUE = `WITH moment AS MATERIALIZED (SELECT service_now() - interval '30 seconds' AS past)
  SELECT DISTINCT s.shard FROM webhook_subscriptions s CROSS JOIN LATERAL (
    SELECT FROM webhook_deliveries d WHERE d.subscription_id = s.id AND d.status = 'pending'
      AND d.next_attempt_at < (SELECT past FROM moment)
      AND (d.claimed_until IS NULL OR d.claimed_until < (SELECT past FROM moment))
    ORDER BY d.next_attempt_at LIMIT 1) AS overdue
  WHERE s.status = 'active' AND s.deleted_at IS NULL`;

const CLAIM_IDLE = 'SELECT unnest(claim_idle_webhook_shards($1::integer[])) AS shard';

interface Numbered {
  readonly rowCount: number;
  readonly deliveryCount: number;
  readonly wakeShards: number[];
}

/**
 * Numbers committed events, creates the subscribers' deliveries and wakes their shards' workflows, in one transaction. With
 * `since`, reads only rows whose id is from then on, which skips the index entries of rows numbered long ago; null reads
 * all. Does nothing while another process is numbering.
 */
export async function numberEvents(database: Database, limit: number, since: Date | null): Promise<NumberedEvents> {
  const floor = since === null ? LEAST_ID : leastIdOf(since);
  const [unnumbered] = await database.statement<{ found: boolean }>(UNNUMBERED, [floor]);
  if (unnumbered?.found !== true) return NOTHING;
  return database.transaction(async (tx) => {
    const [numbered] = await tx.statement<Numbered>(NUMBER, [limit, floor, CLOCK_SKEW_MAX]);
    if (numbered === undefined) throw new Error('number_events returned no row');
    const { rowCount, deliveryCount, wakeShards } = numbered;
    for (const shard of wakeShards) {
      wake(tx, WEBHOOK_DELIVERY_WORKFLOW, `${WEBHOOK_DELIVERY_WORKFLOW}/${shard}`);
    }
    return { rowCount, deliveryCount, woken: wakeShards.length > 0 };
  });
}

/** The age of the oldest event without a position, 0 without one. Reads a single row, by the index of those events. */
export async function readNumberingLagSeconds(reader: Pick<Reader, 'statement'>): Promise<number> {
  const [oldest] = await reader.statement<{ seconds: number }>(LAG, []);
  return oldest?.seconds ?? 0;
}

/**
 * Wakes idle shards with overdue deliveries: their workflow, or Temporal's timer, was lost. Returns whether there were any.
 */
export async function wakeOverdueShards(database: Database): Promise<boolean> {
  const overdue = await database.statement<{ shard: number }>(OVERDUE, []);
  if (overdue.length === 0) return false;
  return database.transaction(async (tx) => {
    const idle = await tx.statement<{ shard: number }>(CLAIM_IDLE, [overdue.map(({ shard }) => shard)]);
    for (const { shard } of idle) wake(tx, WEBHOOK_DELIVERY_WORKFLOW, `${WEBHOOK_DELIVERY_WORKFLOW}/${shard}`);
    return idle.length > 0;
  });
}
