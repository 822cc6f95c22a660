import type { CallOptions, NotFound, Refused } from './port.ts';

/**
 * Looks up clients and beneficiaries that a provider had before the service did, for `workflow.code` `migration`.
 * Look-ups change nothing. Without an intelligible answer they throw `ProviderUnavailable`.
 */
export interface MigrationSource {
  lookUpClient(sourceId: string, call: CallOptions): Promise<ClientFound | NotFound | Refused>;
  lookUpBeneficiary(sourceId: string, call: CallOptions): Promise<BeneficiaryFound | NotFound | Refused>;
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
