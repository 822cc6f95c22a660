import { and, eq, sql } from 'drizzle-orm';
import type { Transaction } from '../driver/client.ts';
import { readClock } from '../frame/clock.ts';
import { newId } from '../frame/ids.ts';
import { providerCallbacks } from '../frame/schema.ts';

/**
 * What became of a callback. `waiting`: its reference is not known (yet). `break`: it contradicts what is settled; nothing
 * is posted and a person looks.
 */
export type CallbackOutcome = 'applied' | 'no-effect' | 'waiting' | 'break';

/** One thing that a provider told us; `payload` is kept as proof. */
export interface StoredCallback {
  readonly provider: string;
  readonly providerEventId: string;
  readonly kind: string;
  readonly ourReference: string | null;
  /** JSON text. */
  readonly payload: string;
}

/**
 * Stores a callback and applies it in the same transaction, once per provider event id: a replayed one has no effect,
 * unless the first waited for a reference that we may know by now. The row stands before `apply` takes its locks; nobody who holds those asks for a row that is not committed.
 */
export async function applyCallbackOnce(
  tx: Transaction,
  callback: StoredCallback,
  apply: () => Promise<CallbackOutcome>,
): Promise<CallbackOutcome> {
  const { provider, providerEventId, kind, ourReference, payload } = callback;
  const stored = await tx.execute(sql`
    INSERT INTO provider_callbacks (provider, provider_event_id, kind, our_reference, payload, outcome, received_at)
    VALUES (${provider}, ${providerEventId}, ${kind}, ${ourReference}, ${payload}::jsonb, 'no-effect', service_now())
    ON CONFLICT (provider, provider_event_id) DO UPDATE SET received_at = excluded.received_at
      WHERE provider_callbacks.outcome = 'waiting'
    RETURNING 1 AS stored`);
  if (stored.length === 0) return 'no-effect';
  const outcome = await apply();
  await tx.drizzle
    .update(providerCallbacks)
    .set({ outcome })
    .where(and(eq(providerCallbacks.provider, provider), eq(providerCallbacks.providerEventId, providerEventId)));
  return outcome;
}

/** The callback by which a provider lets go of money that it held. */
export const RELEASE_CALLBACK = 'payment-in-released';

export interface PaymentInKey {
  readonly provider: string;
  readonly serviceProviderId: string;
}

/**
 * Serializes the callbacks about one payment in until the transaction ends, before any account is locked: its arrival,
 * its repetition and its release come in any order, and before there is a row of it to lock.
 */
export async function lockPaymentIn(tx: Transaction, { provider, serviceProviderId }: PaymentInKey): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`${provider} ${serviceProviderId}`}, 7423021))`);
}

/** Whether the release of this payment, which is locked, has arrived before the payment itself. */
export async function hasEarlyRelease(tx: Transaction, payment: PaymentInKey): Promise<boolean> {
  const rows = await tx.execute(sql`
    SELECT 1 FROM provider_callbacks WHERE provider = ${payment.provider} AND outcome = 'waiting'
      AND our_reference = ${payment.serviceProviderId} AND kind = ${RELEASE_CALLBACK}`);
  return rows.length > 0;
}

/** Notes for a person that a callback contradicts what is settled. */
export async function recordCallbackBreak(tx: Transaction, callback: StoredCallback): Promise<void> {
  const now = await readClock(tx);
  const details = JSON.stringify({ providerEventId: callback.providerEventId, event: callback.kind });
  await tx.execute(sql`
    INSERT INTO reconciliation_breaks (id, provider, kind, our_reference, details, found_at)
    VALUES (${newId()}, ${callback.provider}, 'callback-contradicts', ${callback.ourReference}, ${details}::jsonb, ${now})`);
}
