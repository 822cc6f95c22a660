/** Which payment is meant: `reference` is the outgoing transfer's id, of money that came in the provider's own id. */
export interface PaymentKey {
  readonly direction: 'in' | 'out';
  readonly reference: string;
}

/** One payment as one side's books have it. */
export interface Standing {
  /** In minor units; null where the side does not say. */
  readonly amountMinor: bigint | null;
  /** The payment has moved money and has not been undone: not refused, failed, returned or sent back. */
  readonly moved: boolean;
  /** What was undone of it: all, or the part that was returned. Null where nothing was, or the side does not say. */
  readonly undoneMinor: bigint | null;
}

/** Where a payment stands differently in a provider's books and in ours. */
export const PAYMENT_DIFFERENCES = [
  'statement-unknown-payment',
  'statement-not-booked',
  'statement-not-at-provider',
  'statement-amount-differs',
] as const;
export type PaymentDifference = (typeof PAYMENT_DIFFERENCES)[number];

/** How a provider's books and ours contradict each other; the kind of the reconciliation break. */
export type Difference = PaymentDifference | 'statement-entry-unreadable';

/** What a person must look at, or null. A payment that neither side says has moved money is none. */
export function differenceOf(provider: Standing | null, ours: Standing | null): PaymentDifference | null {
  const there = provider?.moved ?? false;
  const here = ours?.moved ?? false;
  if (there !== here) {
    if (here) return 'statement-not-at-provider';
    return ours === null ? 'statement-unknown-payment' : 'statement-not-booked';
  }
  return amountsDiffer(provider, ours) ? 'statement-amount-differs' : null;
}

/** Whether both sides say how much was paid, or how much of it was undone, and say different things. */
export function amountsDiffer(one: Standing | null, other: Standing | null): boolean {
  return (
    isOther(one?.amountMinor ?? null, other?.amountMinor ?? null) ||
    isOther(one?.undoneMinor ?? null, other?.undoneMinor ?? null)
  );
}

function isOther(one: bigint | null, other: bigint | null): boolean {
  return one !== null && other !== null && one !== other;
}
