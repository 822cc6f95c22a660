import type { ConnectionError } from '../../domain/accounts/accounts.ts';
import type { ProviderAccountMove } from '../../domain/accounts/connections.ts';
import type { PartyAccount } from '../../domain/incoming-transfers/incoming-transfers.ts';
import type { MigrationSource } from './migration-port.ts';
import type {
  PaymentAmount,
  PaymentAnswer,
  PaymentRequest,
  PaymentReturn,
  PaymentState,
  ProviderPayment,
  RecallAnswer,
  RecallRequest,
} from './ports/payment-port.ts';
import type { StatementPage, StatementRequest } from './ports/statement-port.ts';

/**
 * What the service needs of a bank or payment institution; each provider has an adapter.
 *
 * The contract of every adapter, which test/providers/provider-adapter-conformance.ts enforces:
 * - Every instruction carries our reference for its resource and step; a repetition returns the first result and does nothing.
 * - Only the provider's own statement about the reference in question is an outcome. An answer about another reference or,
 *   for a submitted payment, another amount is not.
 * - While the outcome is open the call throws `ProviderUnavailable` and is repeated: after a time-out, a cut connection,
 *   3xx, 401, 403, 405, 409, 429, 5xx, and any answer that is unintelligible or not from the provider.
 * - An instruction is refused only if the provider itself says that nothing was done.
 * - A look-up is never refused: a rejected query (400, 422, a gateway's page) says nothing about the payment or account.
 *   Only a refusal that the provider reports as the state of the payment or account is an outcome.
 * - `not-found` means that the provider itself does not know the reference; any other 404 leaves the outcome open.
 * - Look-ups and callbacks carry the provider's amount and currency, and for a return the returned amount.
 * - A refusal concerns one attempt: once it is an outcome, that attempt never pays. A later attempt under the same reference is a
 *   new one. Look-ups and callbacks say which attempt was refused; an answer about another attempt is not an outcome.
 * - Schemes and deposit information need no call: they are part of the provider's offers in the configuration.
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
  /** Asks for a released payment back. Absent if the provider takes no recalls. */
  recallPayment?(request: RecallRequest, call: CallOptions): Promise<RecallAnswer>;
  /** A payment in, as its callback reported it; `serviceProviderId` is the provider's id. */
  lookUpPaymentIn(serviceProviderId: string, call: CallOptions): Promise<PaymentInState | NotFound>;
  /** Returns money to its payer: the receiving account is closed, or the transfer was refused. */
  returnPayment(request: ReturnRequest, call: CallOptions): Promise<ReturnAnswer>;

  /** One page of the pooled position's entries with `from <= bookedAt < to`, oldest first. */
  fetchStatement(request: StatementRequest, call: CallOptions): Promise<StatementPage>;

  /**
   * The events of a signed callback. Throws `CallbackRefused`. `rawBody` is the body as received; header names are in
   * lower case.
   */
  verifyCallback(headers: Readonly<Record<string, string | undefined>>, rawBody: Buffer, now: Date): ProviderEvent[];
}

export interface CallOptions {
  /** Aborts the call, as at shutdown. The call then throws `ProviderUnavailable`, as its outcome is unknown. */
  readonly signal?: AbortSignal | undefined;
  /** Defaults to the adapter's own deadline. */
  readonly deadlineMs?: number | undefined;
}

/** The reference of a repeatable step of a resource, such as a change of an account. */
export function stepReference(resourceId: string, step: string, attempt: number): string {
  return `${resourceId}:${step}:${attempt}`;
}

/** Why a provider refused: the connection's error of specification 2.5. */
export type ProviderRefusal = ConnectionError;

export type Refused = { readonly outcome: 'refused'; readonly error: ProviderRefusal };

/** The provider does not know our reference. For an instruction under way this proves nothing: send it again. */
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

/** `reference` is the provider's id of the client. */
export type ClientAnswer = { readonly outcome: 'connected'; readonly reference: string } | Refused;

export interface AccountRequest extends AccountPlace {
  readonly accountId: string;
  /** From `connectClient`. */
  readonly clientReference: string;
  readonly accountHolderName: string;
  readonly alias: string;
}

/** Identifiers that the provider assigned to an account. */
export interface AccountIdentifiers {
  readonly iban: string | null;
  readonly accountNumber: string | null;
  readonly routingCodes: Readonly<Record<string, string>>;
}

export type OpenedAccount = AccountPlace & AccountIdentifiers & { readonly reference: string };

export type AccountAnswer =
  | ({ readonly outcome: 'opened' } & OpenedAccount)
  /** The provider is working on it and will report the result by callback. */
  | { readonly outcome: 'accepted'; readonly reference: string }
  | ({ readonly outcome: 'closed' } & OpenedAccount)
  | Refused;

export interface AccountChangeReference {
  readonly accountId: string;
  /** Unique to this change: `stepReference(accountId, 'close', attempt)`. */
  readonly changeReference: string;
}

export interface AccountChangeRequest extends AccountChangeReference {
  readonly change: { readonly kind: 'close' } | { readonly kind: 'alias'; readonly alias: string };
}

export type AccountChangeAnswer = { readonly outcome: 'changed' } | { readonly outcome: 'accepted' } | Refused;

export interface ReturnRequest {
  /** The incoming transfer's id: the provider returns its money once. */
  readonly incomingTransferId: string;
  /** Names the return in messages between banks, as that of a `PaymentRequest`. */
  readonly paymentReference: string;
  readonly serviceProviderId: string;
  readonly amountMinor: bigint;
  readonly currency: string;
  /** The ISO 20022 reason, such as AC04 (closed account). */
  readonly code: string;
}

export type ReturnAnswer = { readonly outcome: 'returned'; readonly reference: string } | Refused;

export interface PaymentClaim extends ProviderPayment, PaymentAmount {
  /** The outgoing transfer's id, as submitted. */
  readonly ourReference: string;
}

/** What a provider reports by callback. `providerEventId` is the same for every repetition. */
export type ProviderEvent = { readonly providerEventId: string; readonly occurredAt: Date } & (
  | ({ readonly type: 'account-opened'; readonly accountId: string } & OpenedAccount)
  | { readonly type: 'account-opening-refused'; readonly accountId: string; readonly error: ProviderRefusal }
  | ({ readonly type: 'account-changed' } & AccountChangeReference)
  | ({ readonly type: 'account-change-refused'; readonly error: ProviderRefusal } & AccountChangeReference)
  | ({ readonly type: 'account-status-changed' } & ProviderAccountMove<string>)
  | ({ readonly type: 'payment-released' } & PaymentClaim)
  | ({ readonly type: 'payment-completed' } & PaymentClaim)
  /** Refused before release; `attempt` is the submission that was refused. */
  | ({ readonly type: 'payment-refused'; readonly attempt: number; readonly error: ProviderRefusal } & PaymentClaim)
  /** Failed after release. */
  | ({ readonly type: 'payment-failed'; readonly code: string } & PaymentClaim)
  | ({ readonly type: 'payment-returned' } & PaymentClaim & PaymentReturn)
  /** The creditor's bank gives nothing back. An accepted recall is reported by its return. */
  | { readonly type: 'payment-recall-refused'; readonly ourReference: string; readonly recallReference: string }
  | ({ readonly type: 'payment-received' } & PaymentReceived)
  /** The provider releases money that it held; this may arrive before the payment itself. */
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
  /** The receiver that the payer named; any part may be missing or unknown to us. */
  readonly receiver: AccountIdentifiers;
  /** What the payer wrote, perhaps a ledger number. */
  readonly remittanceText: string | null;
  /** The money is in the pooled position, but the provider holds it until `payment-in-released`. */
  readonly held: boolean;
}

export type PaymentInState = PaymentReceived & {
  readonly outcome: 'received';
  /** The money has been returned to its payer. */
  readonly returned: boolean;
};

/** Nobody knows what the provider did. Never a failure of the payment: the caller repeats the same call. */
export class ProviderUnavailable extends Error {
  readonly provider: string;
  /** Short, without personal data: `timeout`, `status 503`, `connection`, `answer not understood`. */
  readonly reason: string;

  constructor(provider: string, reason: string, options?: ErrorOptions) {
    super(`${provider} gave no usable answer: ${reason}`, options);
    this.name = 'ProviderUnavailable';
    this.provider = provider;
    this.reason = reason;
  }
}

/** A callback to reject: forged, too old, or signed but unintelligible. */
export class CallbackRefused extends Error {
  readonly reason: 'signature' | 'timestamp' | 'malformed';

  constructor(reason: 'signature' | 'timestamp' | 'malformed', message: string) {
    super(message);
    this.name = 'CallbackRefused';
    this.reason = reason;
  }
}
