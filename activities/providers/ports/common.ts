// Types that all provider calls share.

import type { ConnectionError } from '../../../domain/accounts/accounts.ts';

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

/** Why a provider rejected: the connection's error of specification 2.5. */
export type ProviderRejection = ConnectionError;

export type Rejected = { readonly outcome: 'rejected'; readonly error: ProviderRejection };

/** The provider does not know our reference. For an instruction in progress this proves nothing: send it again. */
export type NotFound = { readonly outcome: 'not-found' };

export interface AccountPlace {
  readonly currency: string;
  readonly country: string;
}

/** Identifiers that the provider assigned to an account. */
export interface AccountIdentifiers {
  readonly iban: string | null;
  readonly accountNumber: string | null;
  readonly routingCodes: Readonly<Record<string, string>>;
}
