import type { AccountIdentifiers, AccountPlace, CallOptions, NotFound, Rejected } from './ports/common.ts';

/**
 * Clients, beneficiaries and accounts that exist at a provider before their migration to the service. Look-ups change nothing.
 * Without a valid answer every call throws `ProviderUnavailable`.
 */
export interface MigrationSource {
  lookUpClient(sourceId: string, call: CallOptions): Promise<ClientFound | NotFound | Rejected>;
  lookUpBeneficiary(sourceId: string, call: CallOptions): Promise<BeneficiaryFound | NotFound | Rejected>;
  lookUpExistingAccount(sourceId: string, call: CallOptions): Promise<ExistingAccount | NotFound | Rejected>;
  /**
   * Hands the account over to the service, under the id that the first request names; a repetition under any id returns the
   * first answer. At that instant the stated balance joins the pooled position, as one statement entry. The provider reports
   * nothing about the account before it, and every later payment and status change as for any other account. An overdrawn
   * account is rejected, because the service cannot store it.
   */
  handOverAccount(request: HandOverRequest, call: CallOptions): Promise<AccountHandedOver | NotFound | Rejected>;
  /** The balance with which an account was handed over. */
  lookUpOpeningBalance(accountId: string, call: CallOptions): Promise<OpeningBalance | NotFound>;
}

/**
 * Fields as in a direct creation (`data.client`, `data.beneficiary`), without those that the provider does not have. Not yet
 * validated against the service's rules.
 */
export type Unchecked = Readonly<Record<string, unknown>>;

export interface ClientFound {
  readonly outcome: 'found';
  /** The provider's client id, as `connectClient` would return it. */
  readonly reference: string;
  readonly client: Unchecked;
}

export interface BeneficiaryFound {
  readonly outcome: 'found';
  readonly reference: string;
  /** The provider's id of the client who owns the beneficiary. */
  readonly clientReference: string;
  readonly beneficiary: Unchecked;
}

/** Its identifiers are not yet validated against the service's rules. */
export interface ExistingAccount extends AccountPlace, AccountIdentifiers {
  readonly outcome: 'found';
  readonly reference: string;
  /** The provider's id of the client who owns the account. */
  readonly clientReference: string;
  /** Negative if overdrawn. */
  readonly balanceMinor: bigint;
}

export interface HandOverRequest {
  readonly sourceId: string;
  readonly accountId: string;
  readonly alias: string;
}

/** The balance is as of the instant at which the provider handed the account over. */
export interface AccountHandedOver extends ExistingAccount {
  /** The id under which the provider knows the account from now on: the id in the first request. */
  readonly accountId: string;
}

export interface OpeningBalance {
  readonly outcome: 'handed-over';
  readonly amountMinor: bigint;
  readonly currency: string;
}
