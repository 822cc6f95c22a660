import type { CallOptions, NotFound, Refused } from './port.ts';

/**
 * What a provider tells of those whom it knew before the service did, for `workflow.code` `migration`. A look-up changes
 * nothing at the provider. Where no answer comes, or one that is not understood, it throws `ProviderUnavailable`.
 */
export interface MigrationSource {
  lookUpClient(sourceId: string, call: CallOptions): Promise<ClientFound | NotFound | Refused>;
  lookUpBeneficiary(sourceId: string, call: CallOptions): Promise<BeneficiaryFound | NotFound | Refused>;
}

/**
 * Fields named as those of a direct creation (`data.client`, `data.beneficiary`); what the provider does not have is left
 * out. Nothing of it has been checked against the service's rules.
 */
export type Unchecked = Readonly<Record<string, unknown>>;

export interface ClientFound {
  readonly outcome: 'found';
  /** The provider's own id of the client, as `connectClient` would answer it. */
  readonly reference: string;
  readonly client: Unchecked;
}

export interface BeneficiaryFound {
  readonly outcome: 'found';
  readonly reference: string;
  /** Whose beneficiary it is: the provider's own id of the client. */
  readonly clientReference: string;
  readonly beneficiary: Unchecked;
}
