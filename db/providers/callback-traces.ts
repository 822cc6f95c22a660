import { and, eq, gte, isNotNull, lt } from 'drizzle-orm';
import { leastIdAbout, leastIdAfter } from '../common/ids.ts';
import { events, incomingTransfers } from '../common/schema.ts';
import type { Reader } from '../query/database.ts';
import { type Given, prepared } from '../query/queries.ts';
import type { PaymentInKey } from './callbacks.ts';

// By ids, so that only the month in which the resource was made is looked at.
const FIRST_EVENT = prepared((db, given: Given<{ resourceId: string; from: string; before: string }>) =>
  db
    .select({ traceparent: events.traceparent })
    .from(events)
    .where(
      and(
        eq(events.resourceId, given.resourceId),
        eq(events.firstSequence, 1n),
        gte(events.id, given.from),
        lt(events.id, given.before),
        isNotNull(events.traceparent),
      ),
    ),
);

const PAYMENT_IN = prepared((db, given: Given<PaymentInKey>) =>
  db
    .select({ id: incomingTransfers.id })
    .from(incomingTransfers)
    .where(
      and(
        eq(incomingTransfers.provider, given.provider),
        eq(incomingTransfers.serviceProviderId, given.serviceProviderId),
      ),
    ),
);

/** The trace of the request that made a resource; null if it was not followed. */
export async function findTraceOfCreation(reader: Reader, resourceId: string): Promise<string | null> {
  const from = leastIdAbout(resourceId);
  const row = await reader.first(FIRST_EVENT, { resourceId, from, before: leastIdAfter(resourceId) });
  return row?.traceparent ?? null;
}

/** The incoming transfer that records a payment of a provider. */
export async function findPaymentIn(reader: Reader, payment: PaymentInKey): Promise<string | null> {
  return (await reader.first(PAYMENT_IN, payment))?.id ?? null;
}
