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
}

export const DIFFERENCES = [
  'statement-unknown-payment',
  'statement-not-booked',
  'statement-not-at-provider',
  'statement-amount-differs',
] as const;
/** How a provider's books and ours contradict each other; the kind of the reconciliation break. */
export type Difference = (typeof DIFFERENCES)[number];

/** What a person must look at, or null. A payment that neither side says has moved money is none. */
export function differenceOf(provider: Standing | null, ours: Standing | null): Difference | null {
  const there = provider?.moved ?? false;
  const here = ours?.moved ?? false;
  if (there !== here) {
    if (here) return 'statement-not-at-provider';
    return ours === null ? 'statement-unknown-payment' : 'statement-not-booked';
  }
  const amounts = [provider?.amountMinor ?? null, ours?.amountMinor ?? null];
  const differs = here && !amounts.includes(null) && amounts[0] !== amounts[1];
  return differs ? 'statement-amount-differs' : null;
}
