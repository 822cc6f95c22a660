import { type AccountIdentifiers, type Rejected, stepReference } from './common.ts';

/** Outgoing payments: requests, answers and reports of a provider. port.ts states the contract. */
export interface PaymentRequest {
  /** The outgoing transfer's id: the provider pays once for it, however often we submit it. */
  readonly ourReference: string;
  /** Identifies the payment in messages between banks: ISO 20022's EndToEndId, which holds 35 characters, so our id without dashes. */
  readonly paymentReference: string;
  /**
   * The number of our submission. Only the reference identifies the payment: whatever the attempt, the provider pays once. A
   * number above that of a rejected attempt requests the payment again.
   */
  readonly attempt: number;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly scheme: string;
  readonly debtor: PaymentParty & { readonly accountId: string };
  readonly creditor: PaymentParty;
  readonly remittanceText: string;
  /** Scheme attributes of specification 4.9. */
  readonly attributes: Readonly<Record<string, string>>;
  /**
   * The payment returns this payment in, or a part of it, to its payer, who is the creditor. Of the creditor only what the payer's bank wrote
   * is known, perhaps nothing or nothing valid: no reason to reject the return. Such a payment has outcomes like any other. A provider that
   * knows no returns pays it to the creditor.
   */
  readonly returnOf?: ReturnedPayment | undefined;
}

export interface ReturnedPayment {
  /** The payment in, by the provider's id. */
  readonly serviceProviderId: string;
  /** The ISO 20022 reason, such as CUST (the beneficiary requested the return). */
  readonly code: string;
}

export interface PaymentParty extends AccountIdentifiers {
  readonly name: string;
  readonly country: string | null;
}

/** The provider's ids of a payment: `serviceProviderId`, `serviceProviderReference` of specification 2.7 and 4.9. */
export interface ProviderPayment {
  readonly serviceProviderId: string;
  readonly serviceProviderReference: string | null;
}

export type PaymentAnswer =
  /** Released: the provider has accepted the payment and will report its outcome by callback. */
  | ({ readonly outcome: 'accepted' } & ProviderPayment)
  /** Released and settled at once; there may be no callback. */
  | ({ readonly outcome: 'completed' } & ProviderPayment)
  | Queued
  /** Explicitly not carried out; nothing was booked. */
  | Rejected;

/**
 * The provider has taken the instruction and will carry it out, once, but has neither released nor rejected the payment. A look-up or a
 * callback reports that later; until then a look-up answers `queued`, never `not-found`. Such as a bank that takes files.
 */
export interface Queued {
  readonly outcome: 'queued';
  /** The submission that the provider has taken: an earlier one than the repeated request, if that was taken. */
  readonly attempt: number;
}

/** The payment's amount at the provider, compared with the transfer's before any posting. */
export interface PaymentAmount {
  readonly amountMinor: bigint;
  readonly currency: string;
}

export type PaymentState = PaymentAmount & {
  /** The latest recall that the provider knows; absent without one. */
  readonly recall?: RecallState | null;
} & (
    | Exclude<PaymentAnswer, Rejected>
    /** `attempt`: the submission that was rejected. */
    | (Rejected & { readonly attempt: number })
    /** Failed after release: booked and reversed. */
    | ({ readonly outcome: 'failed'; readonly code: string } & ProviderPayment)
    /** In full or in part, at least once; oldest first. */
    | ({
        readonly outcome: 'returned';
        readonly returns: readonly [PaymentReturn, ...PaymentReturn[]];
      } & ProviderPayment)
  );

export interface PaymentReturn {
  /** The provider's id of the return, unique among the returns of a payment. */
  readonly returnReference: string;
  readonly code: string;
  /** The returned amount, all or part, in the payment's currency. */
  readonly returnedMinor: bigint;
}

export interface RecallRequest {
  /** The outgoing transfer's id. */
  readonly ourReference: string;
  /** Unique to this recall: `recallReference`. */
  readonly recallReference: string;
}

/** `asked`: the provider has passed the request on. Its outcome is a return, or a rejection by callback or look-up. */
export type RecallAnswer = { readonly outcome: 'asked' } | Rejected;

export interface RecallState {
  readonly recallReference: string;
  readonly outcome: 'asked' | 'accepted' | 'rejected';
}

const RECALL = 'recall';

/** The reference of an outgoing transfer's recall. Recalls of one transfer are numbered from 1. */
export function recallReference(ourReference: string, number: number): string {
  return stepReference(ourReference, RECALL, number);
}

/** The number in a recall's reference; null if it is not one of this transfer. */
export function recallNumber(ourReference: string, reference: string): number | null {
  const number = Number(reference.slice(recallReference(ourReference, 1).length - 1));
  return Number.isSafeInteger(number) && recallReference(ourReference, number) === reference ? number : null;
}
