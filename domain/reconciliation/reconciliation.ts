/**
 * Identifies a payment, or the opening balance of a migrated account: `reference` is the outgoing transfer's id, the provider's
 * own id for money in, or the account's id.
 */
export interface PaymentKey {
  readonly direction: 'in' | 'out' | 'opening';
  readonly reference: string;
}

/** The state of a payment on one side. */
export interface Standing {
  /** In minor units; null if that side does not say. */
  readonly amountMinor: bigint | null;
  /** The payment moved money and was not undone: neither rejected, failed nor returned. */
  readonly moved: boolean;
  /** The amount undone: all, or the returned part. Null if nothing was undone or that side does not say. */
  readonly undoneMinor: bigint | null;
  /** In how many parts it was undone; absent if that side does not say. */
  readonly undoneTimes?: number;
}

/** How the provider and our ledger differ on a payment. */
export const PAYMENT_DIFFERENCES = [
  'statement-unknown-payment',
  'statement-not-booked',
  'statement-not-at-provider',
  'statement-amount-differs',
] as const;
export type PaymentDifference = (typeof PAYMENT_DIFFERENCES)[number];

/** What only the whole statement of a day shows; see daily-reconciliation.ts. */
export const DAILY_DIFFERENCES = [
  'statement-payment-missing',
  'statement-account-differs',
  'statement-payment-doubled',
  'statement-booked-late',
] as const;

/** Explained differences: recorded as resolved, so that the day's sums agree. */
export const EXPLAINED_DIFFERENCES = ['statement-day-differs', 'statement-moved-nothing'] as const;
export type ExplainedDifference = (typeof EXPLAINED_DIFFERENCES)[number];

export type DailyDifference = PaymentDifference | (typeof DAILY_DIFFERENCES)[number] | ExplainedDifference;

/** Contradictions within a statement, between a figure and its parts. */
export const FIGURE_DIFFERENCES = [
  'statement-entry-differs',
  'statement-charges',
  'statement-batch-differs',
  'statement-summary-differs',
  'statement-balance-differs',
] as const;
export type FigureDifference = (typeof FIGURE_DIFFERENCES)[number];

/** How a provider and our ledger contradict each other; the kind of a reconciliation break. */
export type Difference =
  | DailyDifference
  | FigureDifference
  | 'statement-reference-ambiguous'
  | 'statement-entry-unreadable'
  | 'statement-sums-differ';

/** Every kind of break: from statements, callbacks and look-ups. */
export const BREAK_KINDS = [
  ...PAYMENT_DIFFERENCES,
  ...DAILY_DIFFERENCES,
  ...EXPLAINED_DIFFERENCES,
  ...FIGURE_DIFFERENCES,
  'statement-reference-ambiguous',
  'statement-entry-unreadable',
  'statement-sums-differ',
  'callback-contradicts',
  'account-closed-with-money',
  'account-outcome-contradicts',
  'account-outcome-impossible',
  'account-of-another-provider',
] as const;

export type BreakKind = (typeof BREAK_KINDS)[number];

export const BREAK_STATUSES = ['open', 'resolved'] as const;
export type BreakStatus = (typeof BREAK_STATUSES)[number];

/** The difference for a person to investigate, or null. There is none if neither side says that money moved. */
export function differenceOf(provider: Standing | null, ours: Standing | null): PaymentDifference | null {
  const there = provider?.moved ?? false;
  const here = ours?.moved ?? false;
  if (there !== here) {
    if (here) return 'statement-not-at-provider';
    return ours === null ? 'statement-unknown-payment' : 'statement-not-booked';
  }
  return amountsDiffer(provider, ours) ? 'statement-amount-differs' : null;
}

/**
 * Whether the statement of a period contradicts our ledger. For a payment returned in parts it may lack the parts of other
 * periods, but never has more than we have.
 */
export function statementDiffers(period: Standing | null, ours: Standing | null): boolean {
  const [undone, booked] = [period?.undoneMinor ?? null, ours?.undoneMinor ?? null];
  const isPartOf =
    undone !== null && booked !== null && undone < booked && (period?.undoneTimes ?? 1) < (ours?.undoneTimes ?? 1);
  if (ours === null || !isPartOf) return amountsDiffer(period, ours);
  return amountsDiffer(period, { ...ours, undoneMinor: undone });
}

/** Whether the sides differ in the amount, or the amount undone. Unknown amounts never differ. */
export function amountsDiffer(one: Standing | null, other: Standing | null): boolean {
  return (
    isOther(one?.amountMinor ?? null, other?.amountMinor ?? null) ||
    isOther(one?.undoneMinor ?? null, other?.undoneMinor ?? null)
  );
}

function isOther(one: bigint | null, other: bigint | null): boolean {
  return one !== null && other !== null && one !== other;
}
