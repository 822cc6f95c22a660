import type { AccountIdentifiers, AccountPlace, CallOptions, NotFound, Refused } from './port.ts';

/**
 * Clients, beneficiaries and accounts that a provider had before the service did, for the migrations. Look-ups change
 * nothing. Without an intelligible answer every call throws `ProviderUnavailable`.
 */
export interface MigrationSource {
  lookUpClient(sourceId: string, call: CallOptions): Promise<ClientFound | NotFound | Refused>;
  lookUpBeneficiary(sourceId: string, call: CallOptions): Promise<BeneficiaryFound | NotFound | Refused>;
  lookUpExistingAccount(sourceId: string, call: CallOptions): Promise<ExistingAccount | NotFound | Refused>;
  /**
   * Hands the account over to the service, under the id that the first request names; a repetition under any id gives the
   * first answer. The stated balance joins the pooled position at that instant, as one statement entry: the provider reports
   * nothing about the account before it, and every later payment and move as of any other account. An overdrawn account is
   * refused, so that none is handed over that the service cannot store.
   */
  handOverAccount(request: HandOverRequest, call: CallOptions): Promise<AccountHandedOver | NotFound | Refused>;
  /** The balance with which an account was handed over. */
  lookUpOpeningBalance(accountId: string, call: CallOptions): Promise<OpeningBalance | NotFound>;
}

/**
 * Fields as in a direct creation (`data.client`, `data.beneficiary`), without those that the provider lacks. Not yet
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

/** The balance is that of the instant at which the provider handed the account over. */
export interface AccountHandedOver extends ExistingAccount {
  /** The id under which the provider knows the account from now on: that of the first request. */
  readonly accountId: string;
}

export interface OpeningBalance {
  readonly outcome: 'handed-over';
  readonly amountMinor: bigint;
  readonly currency: string;
}
