import type { ProviderEvent } from '../../activities/providers/port.ts';
import type { TraceSpan } from '../../config/tracing/spans.ts';
import { tracing } from '../../config/tracing/tracing.ts';
import { findPaymentIn, findTraceOfCreation } from '../../db/providers/callback-traces.ts';
import { isUuid } from '../../domain/common/ids.ts';
import type { Services } from '../http/services.ts';

/**
 * Applies an event of a callback as part of the trace of the request that made its resource, days before: a provider knows no trace of
 * ours. If that request was not followed, or a payment has just arrived, it belongs to the callback's own trace.
 */
export async function inTraceOf(
  services: Services,
  provider: string,
  event: ProviderEvent,
  request: TraceSpan | null,
  apply: (services: Services) => Promise<void>,
): Promise<void> {
  const traceparent = request === null ? null : await findTrace(services, provider, event);
  if (request === null || traceparent === null) return apply(services);
  const trace = tracing()?.beginReceipt(`receive ${event.type}`, { provider }, traceparent, request);
  const { database } = services;
  const ofResource = database.forCaller({ ...database.limits(), traceparent: trace?.traceparent });
  try {
    await apply({ ...services, database: ofResource });
    trace?.end({});
  } catch (error) {
    trace?.end({}, 'failed');
    throw error;
  }
}

async function findTrace({ database }: Services, provider: string, event: ProviderEvent): Promise<string | null> {
  const resourceId = await resourceOf(database.reader, provider, event);
  return resourceId === null || !isUuid(resourceId) ? null : findTraceOfCreation(database.reader, resourceId);
}

async function resourceOf(reader: Services['database']['reader'], provider: string, event: ProviderEvent) {
  if (event.type === 'payment-received') return null;
  if (event.type === 'payment-in-released') {
    return findPaymentIn(reader, { provider, serviceProviderId: event.serviceProviderId });
  }
  return 'accountId' in event ? event.accountId : event.ourReference;
}
