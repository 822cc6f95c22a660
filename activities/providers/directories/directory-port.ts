import type {
  VerificationBankAccount,
  VerificationIdentification,
  VerificationResult,
} from '../../../domain/beneficiaries/verifications.ts';
import type { CallOptions } from '../ports/common.ts';

/**
 * Asks a name directory once, through a participating provider, whether an account belongs to a name. Without a valid answer the
 * call throws `ProviderUnavailable`, and is safe to repeat.
 */
export interface NameDirectory {
  /** The provider through which the directory is queried. */
  readonly provider: string;
  verifyName(request: NameVerificationRequest, call: CallOptions): Promise<NameVerificationAnswer>;
}

export interface NameVerificationRequest {
  /** Ours, a UUID: by it a scheme finds the request again. */
  readonly reference: string;
  readonly name: string;
  readonly identityType: 'individual' | 'corporate';
  /** As the directory names accounts. */
  readonly bankAccount: VerificationBankAccount;
  readonly secondaryIdentification: string | null;
  /** Compared in place of the name. */
  readonly identification: VerificationIdentification | null;
}

export interface NameVerificationAnswer {
  readonly result: VerificationResult;
  /** The directory's reference of this answer, for inquiries. */
  readonly reference: string;
}
