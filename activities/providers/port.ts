import type { ConnectionError } from '../../domain/accounts/accounts.ts';
import type { PartyAccount } from '../../domain/incoming-transfers/incoming-transfers.ts';
import type { MigrationSource } from './migration-port.ts';

/**
 * What the service needs of a bank or payment institution; an adapter per provider maps the provider's words onto it.
 *
 * What every adapter keeps, and test/provider-adapter-conformance.ts holds it to:
 * - Every instruction carries a reference of ours that is derived from the resource and the step: sending it again gets the
 *   first result and never a second effect.
 * - An outcome is only what the provider itself says of the very thing that was asked about. An answer about another
 *   reference or, of a payment submitted, another amount is none.
 * - Where the outcome is open the call throws `ProviderUnavailable`, and the same call goes out again: after a time-out, a
 *   cut connection, 3xx, 401, 403, 405, 409, 429, 5xx, and an answer that is not the provider's own or not understood.
 * - An instruction is refused only where the provider says in its own words that nothing was done.
 * - A look-up is never refused: what is wrong with asking (400, 422, a gateway's page) says nothing of the payment or the
 *   account. Only a refusal that the provider reports as the state of what was looked up is an outcome.
 * - `not-found` is the provider's own word that it does not know the reference; any other 404 leaves the outcome open.
 * - Look-ups and callbacks carry amount and currency as the provider has them, and of a return how much came back.
 *
 * Schemes and deposit information need no call: they are the provider's offers in the configuration (domain/providers/providers.ts).
 */
export interface Provider extends MigrationSource {
  readonly name: string;

  connectClient(request: ClientRequest, call: CallOptions): Promise<ClientAnswer>;
  openAccount(request: AccountRequest, call: CallOptions): Promise<AccountAnswer>;
  lookUpAccount(accountId: string, call: CallOptions): Promise<AccountAnswer | NotFound>;
  changeAccount(request: AccountChangeRequest, call: CallOptions): Promise<AccountChangeAnswer>;
  lookUpAccountChange(change: AccountChangeReference, call: CallOptions): Promise<AccountChangeAnswer | NotFound>;

  submitPayment(request: PaymentRequest, call: CallOptions): Promise<PaymentAnswer>;
  /** `ourReference` is the outgoing transfer's id. */
  lookUpPayment(ourReference: string, call: CallOptions): Promise<PaymentState | NotFound>;
  /** A payment that came in, as it was told when it did; `serviceProviderId` is the provider's own id. */
  lookUpPaymentIn(serviceProviderId: string, call: CallOptions): Promise<PaymentInState | NotFound>;
  /** Gives money back to its payer: the receiving account is closed, or the transfer was refused. */
  returnPayment(request: ReturnRequest, call: CallOptions): Promise<ReturnAnswer>;

  /** One page of the pooled position's entries, oldest first, of `from <= bookedAt < to`. */
  fetchStatement(request: StatementRequest, call: CallOptions): Promise<StatementPage>;

  /**
   * The events of a callback that the provider signed. Throws `CallbackRefused`. `rawBody` is the body as it came in;
   * header names are in lower case.
   */
  verifyCallback(headers: Readonly<Record<string, string | undefined>>, rawBody: Buffer, now: Date): ProviderEvent[];
}

export interface CallOptions {
  /** Ends the call at once, as at shutdown. The call then throws `ProviderUnavailable`, as its outcome is unknown. */
  readonly signal?: AbortSignal | undefined;
  /** The longest that the call may take; the adapter has a default. */
  readonly deadlineMs?: number | undefined;
}

/** The reference of a step that a resource takes more than once or beside others, as a change of an account. */
export function stepReference(resourceId: string, step: string, attempt: number): string {
  return `${resourceId}:${step}:${attempt}`;
}

/** Why a provider, or the way to it, refused: the connection's error of specification 2.5. */
export type ProviderRefusal = ConnectionError;

export type Refused = { readonly outcome: 'refused'; readonly error: ProviderRefusal };

/** The provider has never heard of our reference. Of an instruction under way it proves nothing: send it again. */
export type NotFound = { readonly outcome: 'not-found' };

export interface AccountPlace {
  readonly currency: string;
  readonly country: string;
}

export interface ClientRequest {
  readonly clientId: string;
  readonly identityType: 'individual' | 'corporate';
  readonly fullName: string;
  readonly country: string | null;
}

/** `reference` is the provider's own id of the client. */
export type ClientAnswer = { readonly outcome: 'connected'; readonly reference: string } | Refused;

export interface AccountRequest extends AccountPlace {
  readonly accountId: string;
  /** From `connectClient`. */
  readonly clientReference: string;
  readonly accountHolderName: string;
  readonly alias: string;
}

/** The identifiers that a provider gives an account. */
export interface AccountIdentifiers {
  readonly iban: string | null;
  readonly accountNumber: string | null;
  readonly routingCodes: Readonly<Record<string, string>>;
}

export type OpenedAccount = AccountPlace & AccountIdentifiers & { readonly reference: string };

export type AccountAnswer =
  | ({ readonly outcome: 'opened' } & OpenedAccount)
  /** The provider works on it and tells the result by an event. */
  | { readonly outcome: 'accepted'; readonly reference: string }
  | { readonly outcome: 'closed'; readonly reference: string }
  | Refused;

export interface AccountChangeReference {
  readonly accountId: string;
  /** Of this change alone: `stepReference(accountId, 'close', attempt)`. */
  readonly changeReference: string;
}

export interface AccountChangeRequest extends AccountChangeReference {
  readonly change: { readonly kind: 'close' } | { readonly kind: 'alias'; readonly alias: string };
}

export type AccountChangeAnswer = { readonly outcome: 'changed' } | { readonly outcome: 'accepted' } | Refused;

export interface PaymentRequest {
  /** The outgoing transfer's id: the provider pays once for it, however often it is submitted. */
  readonly ourReference: string;
  /** Which submission of ours this is, for the provider's logs; never part of what makes a payment the same. */
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

/** The provider's own names of a payment: `serviceProviderId`, `serviceProviderReference` of specification 2.7 and 4.9. */
export interface ProviderPayment {
  readonly serviceProviderId: string;
  readonly serviceProviderReference: string | null;
}

export type PaymentAnswer =
  /** Released: the provider has taken the payment on, and tells by an event how it ends. */
  | ({ readonly outcome: 'accepted' } & ProviderPayment)
  /** Released and settled at once; no event need follow. */
  | ({ readonly outcome: 'completed' } & ProviderPayment)
  /** Explicitly not carried out; nothing was booked. */
  | Refused;

/** How much a payment is of, as the provider has it. It is compared with the transfer’s before anything moves. */
export interface PaymentAmount {
  readonly amountMinor: bigint;
  readonly currency: string;
}

export type PaymentState = PaymentAmount &
  (
    | PaymentAnswer
    /** Failed after release: booked and booked back. */
    | ({ readonly outcome: 'failed'; readonly code: string } & ProviderPayment)
    | ({ readonly outcome: 'returned' } & ProviderPayment & PaymentReturn)
  );

export interface PaymentReturn {
  /** The provider's id of the return, unique among all payments in. */
  readonly returnReference: string;
  readonly code: string;
  /** What came back, in the payment's currency: all of it, or a part. */
  readonly returnedMinor: bigint;
}

export interface ReturnRequest {
  /** The incoming transfer's id: money goes back once for it. */
  readonly incomingTransferId: string;
  readonly serviceProviderId: string;
  readonly amountMinor: bigint;
  readonly currency: string;
  /** The ISO 20022 reason, such as AC04 (closed account). */
  readonly code: string;
}

export type ReturnAnswer = { readonly outcome: 'returned'; readonly reference: string } | Refused;

export interface StatementRequest {
  readonly currency: string;
  readonly from: Date;
  readonly to: Date;
  /** `next` of the page before; absent for the first. */
  readonly after?: string | undefined;
}

export interface StatementPage {
  readonly entries: readonly StatementEntry[];
  /** What names each entry that could not be read: its id or, without one, a digest. It hides no other entry. */
  readonly unreadable: readonly string[];
  /** Null on the last page. */
  readonly next: string | null;
}

export const STATEMENT_ENTRY_KINDS = [
  'payment-out',
  'payment-out-failed',
  'payment-out-returned',
  'payment-in',
  'payment-in-sent-back',
] as const;
export type StatementEntryKind = (typeof STATEMENT_ENTRY_KINDS)[number];

export interface StatementEntry {
  readonly entryId: string;
  readonly bookedAt: Date;
  readonly kind: StatementEntryKind;
  /** As the pooled position sees it: `credit` is money that came in. */
  readonly direction: 'debit' | 'credit';
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly serviceProviderId: string;
  /** The outgoing transfer's id, of entries about payments out; the incoming transfer's, of money sent back. */
  readonly ourReference: string | null;
}

export interface PaymentClaim extends ProviderPayment, PaymentAmount {
  /** The outgoing transfer's id, as submitted. */
  readonly ourReference: string;
}

/** What a provider tells by itself. `providerEventId` stays the same when it is told again. */
export type ProviderEvent = { readonly providerEventId: string; readonly occurredAt: Date } & (
  | ({ readonly type: 'account-opened'; readonly accountId: string } & OpenedAccount)
  | { readonly type: 'account-opening-refused'; readonly accountId: string; readonly error: ProviderRefusal }
  | ({ readonly type: 'account-changed' } & AccountChangeReference)
  | ({ readonly type: 'account-change-refused'; readonly error: ProviderRefusal } & AccountChangeReference)
  | ({ readonly type: 'payment-released' } & PaymentClaim)
  | ({ readonly type: 'payment-completed' } & PaymentClaim)
  /** Refused before release. */
  | ({ readonly type: 'payment-refused'; readonly error: ProviderRefusal } & PaymentClaim)
  /** Failed after release. */
  | ({ readonly type: 'payment-failed'; readonly code: string } & PaymentClaim)
  | ({ readonly type: 'payment-returned' } & PaymentClaim & PaymentReturn)
  | ({ readonly type: 'payment-received' } & PaymentReceived)
  /** The provider lets go of money that it held; this may arrive before the payment itself. */
  | ({ readonly type: 'payment-in-released' } & PaymentInReleased)
);

export interface PaymentInReleased {
  readonly serviceProviderId: string;
  readonly amountMinor: bigint;
  readonly currency: string;
}

export interface PaymentReceived extends ProviderPayment {
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly scheme: string;
  readonly senderName: string | null;
  readonly senderAccount: PartyAccount | null;
  /** Whom the payer named; any of them may be missing or unknown to us. */
  readonly receiver: AccountIdentifiers;
  /** What the payer wrote, perhaps a ledger number. */
  readonly remittanceText: string | null;
  /** The money is on the pooled position, and the provider does not let it be paid on yet: `payment-in-released` ends that. */
  readonly held: boolean;
}

export type PaymentInState = PaymentReceived & {
  readonly outcome: 'received';
  /** The money has gone back to its payer. */
  readonly returned: boolean;
};

/** What the provider did is unknown. Never a failure of the payment: the same call goes out again. */
export class ProviderUnavailable extends Error {
  readonly provider: string;
  /** Short and without personal data: `timeout`, `status 503`, `connection`, `answer not understood`. */
  readonly reason: string;

  constructor(provider: string, reason: string, options?: ErrorOptions) {
    super(`${provider} gave no usable answer: ${reason}`, options);
    this.name = 'ProviderUnavailable';
    this.provider = provider;
    this.reason = reason;
  }
}

/** A callback that must have no effect: forged, too old, or signed but not understood. */
export class CallbackRefused extends Error {
  readonly reason: 'signature' | 'timestamp' | 'malformed';

  constructor(reason: 'signature' | 'timestamp' | 'malformed', message: string) {
    super(message);
    this.name = 'CallbackRefused';
    this.reason = reason;
  }
}
