import { type AccountIdentifiers, type Refused, stepReference } from '../port.ts';

/** Payments out, as a provider takes, answers and reports them. The contract is that of port.ts. */
export interface PaymentRequest {
  /** The outgoing transfer's id: the provider pays once for it, however often we submit it. */
  readonly ourReference: string;
  /** Names the payment in messages between banks: ISO 20022's EndToEndId. The id without dashes, for it holds 35 characters. */
  readonly paymentReference: string;
  /**
   * Our submission's number. The reference alone is the payment's identity: whatever the attempt, the provider pays once. A higher
   * one than that of a refused attempt asks for the payment anew.
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
  /** Released and settled at once; a callback need not follow. */
  | ({ readonly outcome: 'completed' } & ProviderPayment)
  /** Explicitly not carried out; nothing was booked. */
  | Refused;

/** The payment's amount as the provider has it, compared with the transfer's before any posting. */
export interface PaymentAmount {
  readonly amountMinor: bigint;
  readonly currency: string;
}

export type PaymentState = PaymentAmount & {
  /** The latest recall that the provider knows; absent: none. */
  readonly recall?: RecallState | null;
} & (
    | Exclude<PaymentAnswer, Refused>
    /** `attempt`: the submission that was refused. */
    | (Refused & { readonly attempt: number })
    /** Failed after release: booked and booked back. */
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

/** `asked`: the provider has passed the request on. Its outcome is a return, or a refusal by callback or look-up. */
export type RecallAnswer = { readonly outcome: 'asked' } | Refused;

export interface RecallState {
  readonly recallReference: string;
  readonly outcome: 'asked' | 'accepted' | 'refused';
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
