import type { VerificationResult } from '../../domain/beneficiaries/verifications.ts';
import type { CallOptions } from './port.ts';

/**
 * Asks a name directory, by way of a provider that is part of it, whether an account belongs to a name. Where no answer
 * comes, or one that is not understood, the call throws `ProviderUnavailable`: nothing was learnt, and asking again is safe.
 */
export interface NameDirectory {
  /** The provider by whose way it is asked. */
  readonly provider: string;
  verifyName(request: NameVerificationRequest, call: CallOptions): Promise<NameVerificationAnswer>;
}

export interface NameVerificationRequest {
  readonly name: string;
  readonly identityType: 'individual' | 'corporate';
  /** Six digits. */
  readonly sortCode: string;
  /** Eight digits. */
  readonly accountNumber: string;
  readonly secondaryIdentification: string | null;
}

export interface NameVerificationAnswer {
  readonly result: VerificationResult;
  /** The directory's own name of this answer, for questions to it. */
  readonly reference: string;
}
