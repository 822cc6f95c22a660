import type { Database } from '../../../db/query/database.ts';

/** One attempt at a receiver, whatever it answered. */
export interface Arrival {
  readonly eventId: string;
  readonly webhookId: string;
  readonly isSigned: boolean;
}

interface RecordedEvent {
  readonly id: string;
  readonly resourceId: string;
  readonly sequence: bigint;
  readonly module: string;
  readonly occurredAt: Date;
  /** Null until it is numbered and so has deliveries. */
  readonly position: bigint | null;
}

/** Every entry of the event log, each as one event. */
export function readRecordedEvents(database: Database): Promise<readonly RecordedEvent[]> {
  return database.reader.statement<RecordedEvent>(
    `SELECT event_id(events.id, entry.number - 1) AS id, resource_id AS "resourceId", occurred_at AS "occurredAt",
       first_sequence + entry.number - 1 AS sequence, module, first_position + entry.number - 1 AS position
     FROM events CROSS JOIN LATERAL generate_series(1, entry_count) AS entry (number)`,
    [],
  );
}

/**
 * Events whose first attempt was recorded without an answer: it may not have arrived, and then the event is retried automatically, after
 * later ones of its resource (docs/behaviour/webhooks.md).
 */
export async function readUnanswered(database: Database, subscriptionId: string): Promise<ReadonlySet<string>> {
  const rows = await database.reader.statement<{ eventId: string }>(
    `SELECT event_id AS "eventId" FROM webhook_deliveries AS delivery JOIN webhook_attempts ON delivery_id = delivery.id
     WHERE subscription_id = $1 AND number = 1 AND response_code IS NULL`,
    [subscriptionId],
  );
  return new Set(rows.map(({ eventId }) => eventId));
}

/** Each event arrived signed, under one id, none is unknown, and first attempts kept each resource's order, but for the unanswered. */
export function problemsOfArrivals(
  events: readonly RecordedEvent[],
  arrivals: readonly Arrival[],
  unanswered: ReadonlySet<string>,
): string[] {
  const recorded = new Map(events.map((event) => [event.id, event]));
  const arrived = new Map<string, string>();
  const lastSequence = new Map<string, bigint>();
  const problems: string[] = [];
  for (const { eventId, webhookId, isSigned } of arrivals) {
    if (!isSigned) problems.push(`event ${eventId}: a bad signature`);
    const event = recorded.get(eventId);
    if (event === undefined) problems.push(`event ${eventId}: invented`);
    const before = arrived.get(eventId);
    if (before !== undefined && before !== webhookId) {
      problems.push(`event ${eventId}: two webhook ids, ${before} and ${webhookId}`);
    }
    arrived.set(eventId, webhookId);
    if (event === undefined || before !== undefined) continue;
    const last = lastSequence.get(event.resourceId) ?? 0n;
    if (event.sequence < last && !unanswered.has(eventId)) {
      problems.push(`event ${eventId}: first attempted after a later one of ${event.resourceId}`);
    }
    lastSequence.set(event.resourceId, event.sequence > last ? event.sequence : last);
  }
  if (new Set(arrived.values()).size !== arrived.size) problems.push('two events share a webhook id');
  for (const { id, module, position } of events) {
    if (!arrived.has(id)) problems.push(`event ${id} of ${module} at position ${position}: never arrived`);
  }
  return problems;
}

/** Whether an attempt's signature is the standard library's own for its id, time and body. */
export function isSignedBy(
  webhook: { sign(id: string, at: Date, text: string): string },
  headers: Readonly<Record<string, string | string[] | undefined>>,
  text: string,
): boolean {
  const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
  const signatures = String(headers['webhook-signature'] ?? '').split(' ');
  return signatures.includes(webhook.sign(String(headers['webhook-id']), at, text));
}
