import type { VerificationResult } from '../../domain/beneficiaries/verifications.ts';
import type { CallOptions } from './port.ts';

/**
 * Asks a name directory, through a member provider, whether an account belongs to a name. Without an intelligible
 * answer the call throws `ProviderUnavailable`, and asking again is safe.
 */
export interface NameDirectory {
  /** The provider through which the directory is queried. */
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
  /** The directory's reference of this answer, for enquiries. */
  readonly reference: string;
}
