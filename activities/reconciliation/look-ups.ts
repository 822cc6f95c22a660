import type { PaymentKey, Standing } from '../../domain/reconciliation/reconciliation.ts';
import { handsOverAccounts, type Provider, ProviderUnavailable } from '../providers/port.ts';
import type { CallOptions } from '../providers/ports/common.ts';

// How payments stand at their provider now.

/** Null if the provider does not know the payment, undefined if it does not answer. */
export async function lookUp(
  provider: Provider,
  key: PaymentKey,
  call: CallOptions,
): Promise<Standing | null | undefined> {
  try {
    switch (key.direction) {
      case 'in':
        return await lookUpIn(provider, key.reference, call);
      case 'out':
        return await lookUpOut(provider, key.reference, call);
      case 'opening':
        return await lookUpOpening(provider, key.reference, call);
    }
  } catch (error) {
    if (error instanceof ProviderUnavailable && !call.signal?.aborted) return undefined;
    throw error;
  }
}

async function lookUpIn(provider: Provider, reference: string, call: CallOptions): Promise<Standing | null> {
  const payment = await provider.lookUpPaymentIn(reference, call);
  if (payment.outcome === 'not-found') return null;
  const { amountMinor, returned } = payment;
  return { amountMinor, moved: !returned, undoneMinor: returned ? amountMinor : null };
}

async function lookUpOut(
  provider: Provider,
  reference: string,
  call: CallOptions,
): Promise<Standing | null | undefined> {
  const payment = await provider.lookUpPayment(reference, call);
  const { outcome } = payment;
  if (outcome === 'not-found') return null;
  // It may be on the statement already: that counts until the provider says more.
  if (outcome === 'queued') return undefined;
  const { amountMinor } = payment;
  const moved = outcome === 'accepted' || outcome === 'completed';
  if (moved) return { amountMinor, moved, undoneMinor: null };
  if (outcome !== 'returned') return { amountMinor, moved, undoneMinor: amountMinor };
  return { amountMinor, moved, undoneMinor: payment.returns.reduce((sum, one) => sum + one.returnedMinor, 0n) };
}

async function lookUpOpening(provider: Provider, accountId: string, call: CallOptions): Promise<Standing | null> {
  const opening = handsOverAccounts(provider) ? await provider.lookUpOpeningBalance(accountId, call) : null;
  if (opening === null || opening.outcome === 'not-found') return null;
  return { amountMinor: opening.amountMinor, moved: true, undoneMinor: null };
}
