import type { OutgoingTransferStatus } from './outgoing-transfers.ts';

/**
 * How much a payment is of, as its provider says. In minor units as decimal text: what a look-up found passes through a
 * workflow's history, which holds no bigint.
 */
export interface PaymentClaim {
  readonly amountMinor: string;
  readonly currency: string;
  /** What came back of it, under the provider's id of the return. */
  readonly returned: { readonly reference: string; readonly amountMinor: string } | null;
}

/** Whether a claim is of other money than the transfer, or says that more came back than went out. */
export function isOfOtherMoney(
  { currency, returned, ...claim }: PaymentClaim,
  transfer: { readonly amountMinor: bigint; readonly currency: string },
): boolean {
  if (currency !== transfer.currency || BigInt(claim.amountMinor) !== transfer.amountMinor) return true;
  return returned !== null && BigInt(returned.amountMinor) > transfer.amountMinor;
}

/** What a provider, or a plug-in caller, says of a payment. A later word implies the earlier ones. */
export type PaymentOutcome = 'released' | 'completed' | 'failed' | 'returned';

/**
 * The statuses that a word moves a transfer through, in order; empty when it says nothing new, null when it contradicts
 * what is settled (a break, for a person to look at).
 */
export function statusesAfterReport(
  status: OutgoingTransferStatus,
  word: PaymentOutcome,
): readonly OutgoingTransferStatus[] | null {
  switch (word) {
    case 'released':
      if (status === 'processing') return ['released'];
      return status === 'released' || status === 'completed' || status === 'failed' ? [] : null;
    case 'completed':
    case 'returned':
      if (status === 'processing') return ['released', 'completed'];
      if (status === 'released') return ['completed'];
      return status === 'completed' ? [] : null;
    case 'failed':
      if (status === 'processing' || status === 'released') return ['failed'];
      return status === 'failed' ? [] : null;
  }
}

/** What a provider's answer, look-up or callback, or a plug-in caller's report, says of a payment. */
export interface PaymentReport {
  readonly word: PaymentOutcome;
  /** The provider's own id and reference of the payment, where it gives them. */
  readonly serviceProviderId: string | null;
  readonly serviceProviderReference: string | null;
  /** Why it failed or came back: the provider's code, never free text about a person. */
  readonly code: string | null;
  /** What a plug-in caller says of the code; a provider's report has none, as it passes through a workflow's history. */
  readonly message?: string | null;
  /** Every provider's word has one. A plug-in caller's has none: it speaks of the whole payment. */
  readonly claim?: PaymentClaim | undefined;
}

/** Why a payment failed or came back; a report that names no reason has one of its own. */
export function reasonCodeOf({ word, code }: PaymentReport, method: 'built-in' | 'plug-in'): string {
  if (code !== null) return code;
  if (method === 'plug-in') return 'caller.reported';
  return word === 'returned' ? 'provider.returned' : 'provider.refused';
}
