import type { ProviderStatusChange } from '../../domain/accounts/connections.ts';
import type { PartyAccount } from '../../domain/incoming-transfers/incoming-transfers.ts';
import type { MigrationSource } from './migration-port.ts';
import type {
  AccountIdentifiers,
  AccountPlace,
  CallOptions,
  NotFound,
  ProviderRejection,
  Rejected,
} from './ports/common.ts';
import type {
  PaymentAmount,
  PaymentAnswer,
  PaymentParty,
  PaymentRequest,
  PaymentReturn,
  PaymentState,
  ProviderPayment,
  Queued,
  RecallAnswer,
  RecallRequest,
} from './ports/payment-port.ts';
import type { StatedDayRequest, StatementPage, StatementRequest } from './ports/statement-port.ts';

/**
 * What the service needs of a bank or payment institution; each provider has an adapter.
 *
 * The contract of every adapter, which test/providers/conformance enforces:
 * - Every instruction carries our reference for its resource and step; a repetition returns the first result and does nothing.
 * - Only the provider's own statement about the reference in question is an outcome. An answer about another reference or,
 *   for a submitted payment, another amount is not.
 *- While the outcome is unknown the call throws `ProviderUnavailable` and is repeated: after a time-out, a cut connection,
 *   3xx, 401, 403, 405, 409, 429, 5xx, and any answer that is invalid or not from the provider.
 * - An instruction is rejected only if the provider itself says that nothing was done.
 * - A look-up is never rejected: a rejected query (400, 422, a gateway's page) says nothing about the payment or account.
 *   Only a rejection that the provider reports as the state of the payment or account is an outcome.
 ** - `not-found` means that the provider itself does not know the reference; any other 404 leaves the outcome unknown.
 * - Look-ups and callbacks carry the provider's amount and currency, and for a return the returned amount.
 * - A rejection concerns one attempt: once it is an outcome, that attempt never pays. A later attempt under the same reference is a
 *   new one. Look-ups and callbacks say which attempt was rejected; an answer about another attempt is not an outcome.
 * - Schemes and deposit information need no call: they are part of the provider's offers in the configuration.
 */
export interface Provider extends Partial<AccountCalls>, Partial<MigrationSource> {
  readonly name: string;

  submitPayment(request: PaymentRequest, call: CallOptions): Promise<PaymentAnswer>;
  /** `ourReference` is the outgoing transfer's id. */
  lookUpPayment(ourReference: string, call: CallOptions): Promise<PaymentState | NotFound>;
  /** Requests the recall of a released payment. Absent if the provider takes no recalls. */
  recallPayment?(request: RecallRequest, call: CallOptions): Promise<RecallAnswer>;
  /** A payment in, as its callback reported it; `serviceProviderId` is the provider's id. */
  lookUpPaymentIn(serviceProviderId: string, call: CallOptions): Promise<PaymentInState | NotFound>;
  /**
   * Returns money to its payer: the receiving account is closed, or the transfer was rejected. A provider that has `queued` the return
   * reports its end; whatever keeps it from paying the return is its own to show, and to let people end.
   */
  returnPayment(request: ReturnRequest, call: CallOptions): Promise<ReturnAnswer>;

  /** One page of the pooled position's entries with `from <= bookedAt < to`, oldest first. */
  fetchStatement(request: StatementRequest, call: CallOptions): Promise<StatementPage>;

  /**
   * Of a provider that states whole days, as a bank by its camt.053: whether a day can be compared. Absent if each statement is there when it
   * is asked for.
   */
  hasStatementOf?(day: StatedDayRequest, call: CallOptions): Promise<boolean>;

  /**
   * The events of a signed callback. Throws `CallbackRejected`. `rawBody` is the body as received; header names are in
   * lower case. Absent if the provider sends no callbacks.
   */
  verifyCallback?(headers: Readonly<Record<string, string | undefined>>, rawBody: Buffer, now: Date): ProviderEvent[];
}

/**
 * The calls of a provider that opens an account for each of our clients' accounts: all of them or none. A provider without them only
 * pays, from one account of its own, and our clients' accounts are known to us alone (ports/own-accounts.ts).
 */
export interface AccountCalls {
  connectClient(request: ClientRequest, call: CallOptions): Promise<ClientAnswer>;
  openAccount(request: AccountRequest, call: CallOptions): Promise<AccountAnswer>;
  lookUpAccount(accountId: string, call: CallOptions): Promise<AccountAnswer | NotFound>;
  changeAccount(request: AccountChangeRequest, call: CallOptions): Promise<AccountChangeAnswer>;
  lookUpAccountChange(change: AccountChangeReference, call: CallOptions): Promise<AccountChangeAnswer | NotFound>;
}

const ACCOUNT_CALLS = [
  'connectClient',
  'openAccount',
  'lookUpAccount',
  'changeAccount',
  'lookUpAccountChange',
] as const satisfies readonly (keyof AccountCalls)[];

const MIGRATION_CALLS = [
  'lookUpClient',
  'lookUpBeneficiary',
  'lookUpExistingAccount',
  'handOverAccount',
  'lookUpOpeningBalance',
] as const satisfies readonly (keyof MigrationSource)[];

/** The calls that an adapter lacks of a group of which it has others. */
export function missingCalls(provider: Provider): string[] {
  return [ACCOUNT_CALLS, MIGRATION_CALLS].flatMap((group) => {
    const missing = group.filter((call) => provider[call] === undefined);
    return missing.length === group.length ? [] : missing;
  });
}

export function opensAccounts(provider: Provider): provider is Provider & AccountCalls {
  return provider.openAccount !== undefined;
}

/** Whether clients, beneficiaries and accounts can be migrated from the provider. */
export function handsOverAccounts(provider: Provider): provider is Provider & MigrationSource {
  return provider.handOverAccount !== undefined;
}

export interface ClientRequest {
  readonly clientId: string;
  readonly identityType: 'individual' | 'corporate';
  readonly fullName: string;
  readonly country: string | null;
}

/** `reference` is the provider's id of the client. */
export type ClientAnswer = { readonly outcome: 'connected'; readonly reference: string } | Rejected;

export interface AccountRequest extends AccountPlace {
  readonly accountId: string;
  /** From `connectClient`. */
  readonly clientReference: string;
  readonly accountHolderName: string;
  readonly alias: string;
}

export type OpenedAccount = AccountPlace & AccountIdentifiers & { readonly reference: string };

export type AccountAnswer =
  | ({ readonly outcome: 'opened' } & OpenedAccount)
  /** The provider is working on it and will report the result by callback. */
  | { readonly outcome: 'accepted'; readonly reference: string }
  | ({ readonly outcome: 'closed' } & OpenedAccount)
  | Rejected;

export interface AccountChangeReference {
  readonly accountId: string;
  /** Unique to this change: `stepReference(accountId, 'close', attempt)`. */
  readonly changeReference: string;
}

export interface AccountChangeRequest extends AccountChangeReference {
  readonly change: { readonly kind: 'close' } | { readonly kind: 'alias'; readonly alias: string };
}

export type AccountChangeAnswer = { readonly outcome: 'changed' } | { readonly outcome: 'accepted' } | Rejected;

export interface ReturnRequest {
  /** The incoming transfer's id: the provider returns its money once. */
  readonly incomingTransferId: string;
  /** Identifies the return in messages between banks, like `paymentReference` of a `PaymentRequest`. */
  readonly paymentReference: string;
  readonly serviceProviderId: string;
  readonly amountMinor: bigint;
  readonly currency: string;
  /** The ISO 20022 reason, such as AC04 (closed account). */
  readonly code: string;
  /** For a provider that knows no returns, and pays it to the payer like any payment. Null: it is not known how the money came. */
  readonly scheme: string | null;
  /** The payer, of whom only what the payer's bank wrote is known, perhaps nothing. */
  readonly creditor: PaymentParty;
  /** The account that the payer named. */
  readonly receiver: AccountIdentifiers;
  readonly remittanceText: string;
}

export type ReturnAnswer = { readonly outcome: 'returned'; readonly reference: string } | Queued | Rejected;

export interface PaymentClaim extends ProviderPayment, PaymentAmount {
  /** The outgoing transfer's id, as submitted. */
  readonly ourReference: string;
}

/** What a provider reports by callback. `providerEventId` is the same for every repetition. */
export type ProviderEvent = { readonly providerEventId: string; readonly occurredAt: Date } & (
  | ({ readonly type: 'account-opened'; readonly accountId: string } & OpenedAccount)
  | { readonly type: 'account-opening-rejected'; readonly accountId: string; readonly error: ProviderRejection }
  | ({ readonly type: 'account-changed' } & AccountChangeReference)
  | ({ readonly type: 'account-change-rejected'; readonly error: ProviderRejection } & AccountChangeReference)
  | ({ readonly type: 'account-status-changed' } & ProviderStatusChange<string>)
  | ({ readonly type: 'payment-released' } & PaymentClaim)
  | ({ readonly type: 'payment-completed' } & PaymentClaim)
  /** Rejected before release; `attempt` is the submission that was rejected. */
  | ({ readonly type: 'payment-rejected'; readonly attempt: number; readonly error: ProviderRejection } & PaymentClaim)
  /** Failed after release. */
  | ({ readonly type: 'payment-failed'; readonly code: string } & PaymentClaim)
  | ({ readonly type: 'payment-returned' } & PaymentClaim & PaymentReturn)
  /** The creditor's bank returns nothing. An accepted recall is reported by its return. */
  | { readonly type: 'payment-recall-rejected'; readonly ourReference: string; readonly recallReference: string }
  | ({ readonly type: 'payment-received' } & PaymentReceived)
  | ({ readonly type: 'payment-in-sent-back' } & SentBack)
  /** The provider releases money that it held. May arrive before the payment itself. */
  | ({ readonly type: 'payment-in-released' } & PaymentInReleased)
);

/** Money in has gone back to its payer. */
export interface SentBack extends PaymentAmount {
  /** The incoming transfer's id. */
  readonly ourReference: string;
  /** Whether the provider did so by our instruction. Otherwise it must not carry one out as well. */
  readonly isInstructed: boolean;
}

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

/** The reason of a `ProviderUnavailable` whose answer came and cannot be read. */
export const NOT_UNDERSTOOD = 'answer not understood';

/** The outcome at the provider is unknown. Never a failure of the payment: the caller repeats the same call. */
export class ProviderUnavailable extends Error {
  readonly provider: string;
  /** Short, without personal data: `timeout`, `status 503`, `status 400 FORMAT_ERROR`, `connection`, `answer not understood`. */
  readonly reason: string;

  constructor(provider: string, reason: string, options?: ErrorOptions) {
    super(`${provider} gave no usable answer: ${reason}`, options);
    this.name = 'ProviderUnavailable';
    this.provider = provider;
    this.reason = reason;
  }
}

/** A callback to reject: forged, too old, or signed but malformed. */
export class CallbackRejected extends Error {
  readonly reason: 'signature' | 'timestamp' | 'malformed';

  constructor(reason: 'signature' | 'timestamp' | 'malformed', message: string) {
    super(message);
    this.name = 'CallbackRejected';
    this.reason = reason;
  }
}
