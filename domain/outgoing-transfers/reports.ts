import type { RecallReport } from './outcomes/recalls.ts';
import type { OutgoingTransferStatus } from './statuses.ts';

/**
 * A payment's amount according to its provider. Minor units as decimal text, because a look-up's result passes through a
 * workflow's history, which holds no bigint.
 */
export interface PaymentClaim {
  readonly amountMinor: string;
  readonly currency: string;
  /** The returned amount, under the provider's id of the return. */
  readonly returned: { readonly reference: string; readonly amountMinor: string } | null;
}

/** Whether a claim has another amount or currency than the transfer, or a return above the payment. */
export function contradictsAmount(
  { currency, returned, ...claim }: PaymentClaim,
  transfer: { readonly amountMinor: bigint; readonly currency: string },
): boolean {
  if (currency !== transfer.currency || BigInt(claim.amountMinor) !== transfer.amountMinor) return true;
  return returned !== null && BigInt(returned.amountMinor) > transfer.amountMinor;
}

/**
 * A payment's outcome as a provider or a plug-in caller reports it. A later outcome implies the earlier ones. `queued`, by a built-in
 * provider only: it has taken the instruction and has not decided on it.
 */
export type PaymentOutcome = 'queued' | 'released' | 'completed' | 'failed' | 'returned';

/**
 * The statuses through which a report moves a transfer, in order. Empty if its outcome is already recorded; null if it
 * contradicts a settled state, which makes it a reconciliation break.
 */
export function statusesAfterReport(
  status: OutgoingTransferStatus,
  { outcome, failedAfterRelease = false }: Pick<PaymentReport, 'outcome' | 'failedAfterRelease'>,
): readonly OutgoingTransferStatus[] | null {
  switch (outcome) {
    case 'queued':
      // Its own news is no status, and news of before once there is another status.
      return status === 'pending' || status === 'cancelled' ? null : [];
    case 'released':
      if (status === 'processing') return ['released'];
      return status === 'released' || status === 'completed' || status === 'failed' ? [] : null;
    case 'completed':
    case 'returned':
      if (status === 'processing') return ['released', 'completed'];
      if (status === 'released') return ['completed'];
      return status === 'completed' ? [] : null;
    case 'failed':
      // The provider has booked the payment out and back, whether or not its release was ever reported.
      if (status === 'processing') return failedAfterRelease ? ['released', 'failed'] : ['failed'];
      if (status === 'released') return ['failed'];
      return status === 'failed' ? [] : null;
  }
}

/** A report about a payment: a provider's answer, look-up or callback, or a plug-in caller's report. */
export interface PaymentReport {
  readonly outcome: PaymentOutcome;
  /** The provider's own id and reference of the payment, if it has them. */
  readonly serviceProviderId: string | null;
  readonly serviceProviderReference: string | null;
  /** The attempt that the provider rejected before releasing the payment. Absent in every other report. */
  readonly rejectedAttempt?: number;
  /** The attempt that the provider has taken and not decided on. In reports of `queued` only, and in each of them. */
  readonly queuedAttempt?: number;
  /**
   * The provider says that the payment failed after it had released it. Absent in rejections and in a plug-in
   * caller's reports: neither implies a release.
   */
  readonly failedAfterRelease?: boolean;
  /** Why it failed or was returned: the provider's code, never free text, which might contain personal data. */
  readonly code: string | null;
  /** A plug-in caller's explanation of the code. Never a provider's, because that would enter a workflow's history. */
  readonly message?: string | null;
  /** Every provider's report has one. A plug-in caller's has none and covers the whole payment. */
  readonly claim?: PaymentClaim | undefined;
}

/** A look-up's result: a provider's report, which always includes the amount. */
export type LookedUpPayment = PaymentReport & {
  readonly claim: PaymentClaim;
  /** For a payment returned in parts, every return but the last, which the report is about; oldest first. */
  readonly returnsBefore?: readonly (NonNullable<PaymentClaim['returned']> & { readonly code: string })[];
  /** The latest recall that the provider knows. */
  readonly recall?: RecallReport | null;
};

export type ReportOutcome = 'applied' | 'no-effect' | 'break';

/** Why a payment failed or was returned, with a default for reports without a code. */
export function reasonCodeOf({ outcome, code }: PaymentReport, method: 'built-in' | 'plug-in'): string {
  if (code !== null) return code;
  if (method === 'plug-in') return 'caller.reported';
  return outcome === 'returned' ? 'provider.returned' : 'provider.rejected';
}
