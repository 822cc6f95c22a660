import { and, eq, sql } from 'drizzle-orm';
import { readClock } from '../common/clock.ts';
import { newId } from '../common/ids.ts';
import type { Transaction } from '../query/database.ts';
import { type Given, preparedChange } from '../query/queries.ts';
import { insertRow } from '../query/rows.ts';
import { reconciliationBreaks } from '../reconciliation/schema.ts';
import type { StoredCallback } from '../transfers/transfer-changes.ts';
import { providerCallbacks } from './schema.ts';

/**
 * The result of a callback. `waiting`: its reference is still unknown. `break`: it contradicts a settled state; nothing
 * is posted, and a person investigates.
 */
export type CallbackOutcome = 'applied' | 'no-effect' | 'waiting' | 'break';

const SET_OUTCOME = preparedChange(
  (db, given: Given<Pick<StoredCallback, 'provider' | 'providerEventId'> & { readonly outcome: CallbackOutcome }>) =>
    db
      .update(providerCallbacks)
      .set({ outcome: sql`${given.outcome}` })
      .where(
        and(
          eq(providerCallbacks.provider, given.provider),
          eq(providerCallbacks.providerEventId, given.providerEventId),
        ),
      ),
);

/**
 * Stores a callback and applies it in the same transaction, once per provider event id. A repeated callback has no effect,
 * unless the first one still waits for its reference. The row is inserted before `apply` takes its locks, and no holder of
 * those locks ever waits for it.
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
  await tx.run(SET_OUTCOME, { provider, providerEventId, outcome });
  return outcome;
}

const MIGRATIONS_LOCK = 7423022;

/** The callback that releases money held by a provider. */
export const RELEASE_CALLBACK = 'payment-in-released';

export interface PaymentInKey {
  readonly provider: string;
  readonly serviceProviderId: string;
}

/**
 * Serializes the callbacks about one payment in, before any account is locked. The arrival, its repetitions and the release
 * arrive in any order, and the first of them finds no row to lock.
 */
export async function lockPaymentIn(tx: Transaction, { provider, serviceProviderId }: PaymentInKey): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`${provider} ${serviceProviderId}`}, 7423021))`);
}

/**
 * A provider's report about an account that it has just handed over may arrive before the account is stored, and a transaction
 * does not see an account that another is about to commit. So callbacks that find none share this lock and look again, and the
 * migration of an account holds it exclusively, before it locks anything else: either it finds their rows, or they find the account.
 */
export async function awaitMigrations(tx: Transaction, provider: string): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock_shared(hashtextextended(${provider}, ${MIGRATIONS_LOCK}))`);
}

/** See `awaitMigrations`. Migrations at one provider follow one another. */
export async function lockMigrations(tx: Transaction, provider: string): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${provider}, ${MIGRATIONS_LOCK}))`);
}

/** Whether the release of this payment arrived before the payment itself. The caller has locked the payment. */
export async function hasEarlyRelease(tx: Transaction, payment: PaymentInKey): Promise<boolean> {
  const rows = await tx.execute(sql`
    SELECT 1 FROM provider_callbacks WHERE provider = ${payment.provider} AND outcome = 'waiting'
      AND our_reference = ${payment.serviceProviderId} AND kind = ${RELEASE_CALLBACK}`);
  return rows.length > 0;
}

/** Records a callback that contradicts a settled state as a reconciliation break. */
export async function recordCallbackBreak(tx: Transaction, callback: StoredCallback): Promise<void> {
  await insertRow(tx, reconciliationBreaks, {
    id: newId(),
    provider: callback.provider,
    kind: 'callback-contradicts',
    ourReference: callback.ourReference,
    details: { providerEventId: callback.providerEventId, event: callback.kind },
    foundAt: await readClock(tx),
  });
}
