import type { SpanAttributes, TraceSpan } from '../../config/tracing/spans.ts';
import { tracing } from '../../config/tracing/tracing.ts';
import type { Database } from '../../db/query/database.ts';
import type { ClaimedDelivery } from '../../db/webhooks/delivery-claims.ts';
import { loadTraceparents } from '../../db/webhooks/event-documents.ts';
import type { AttemptOutcome } from '../../domain/webhooks/deliveries.ts';

const NONE: ReadonlyMap<string, string> = new Map();

/** The traces to which these deliveries belong, by event id; none while traces are off. */
export async function tracesOf(
  database: Database,
  deliveries: readonly ClaimedDelivery[],
): Promise<ReadonlyMap<string, string>> {
  if (tracing() === null) return NONE;
  const eventIds = deliveries.map(({ eventId }) => eventId);
  return loadTraceparents(database.reader, eventIds);
}

/** Sends an event as part of the trace in which it came about, days later too. */
export async function inTrace(
  { eventId, subscriptionId, attemptCount }: ClaimedDelivery,
  traceparent: string | undefined,
  send: () => Promise<AttemptOutcome>,
): Promise<AttemptOutcome> {
  if (traceparent === undefined) return send();
  const trace = tracing()?.beginCall(
    'send webhook',
    {
      'webhook.event_id': eventId,
      'webhook.subscription_id': subscriptionId,
      'webhook.attempt': attemptCount + 1,
    },
    traceparent,
  );
  try {
    const outcome = await send();
    end(trace, outcome);
    return outcome;
  } catch (error) {
    trace?.end({}, 'failed');
    throw error;
  }
}

function end(trace: TraceSpan | null | undefined, { responseCode }: AttemptOutcome): void {
  const attributes: SpanAttributes = responseCode === null ? {} : { 'http.response.status_code': responseCode };
  trace?.end(attributes, responseCode !== null && responseCode < 300 ? undefined : 'failed');
}
