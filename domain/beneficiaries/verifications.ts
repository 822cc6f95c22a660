/** A name directory's answer about a beneficiary's name and bank account (specification 2.11, 4.4). */
export const VERIFICATION_REASONS = [
  'close-match',
  'corporate-account-name-matched',
  'individual-account-name-matched',
  'corporate-account-close-match',
  'individual-account-close-match',
  'incorrect-account-number',
  'account-type-not-supported',
  'account-switched',
  'sort-code-not-supported',
  'invalid-secondary-identifier',
  'opted-out',
] as const;

export type VerificationReason = (typeof VERIFICATION_REASONS)[number];

/** The reasons that come with the account holder's name. */
export const REASONS_WITH_NAME = [
  'close-match',
  'corporate-account-close-match',
  'individual-account-close-match',
] as const satisfies readonly VerificationReason[];

/** The supported directories, each with the workflow code that queries it. */
export const DIRECTORIES = ['pay-uk'] as const;
export type DirectoryCode = (typeof DIRECTORIES)[number];

/** Pay.UK's codes other than a full match. The interface has no reason of its own for a name that does not match. */
const REASON_BY_SCHEME_CODE: Readonly<Record<string, VerificationReason>> = {
  ANNM: 'incorrect-account-number',
  MBAM: 'close-match',
  BANM: 'corporate-account-name-matched',
  PANM: 'individual-account-name-matched',
  BAMM: 'corporate-account-close-match',
  PAMM: 'individual-account-close-match',
  AC01: 'incorrect-account-number',
  IVCR: 'invalid-secondary-identifier',
  ACNS: 'account-type-not-supported',
  OPTO: 'opted-out',
  CASS: 'account-switched',
  SCNS: 'sort-code-not-supported',
};

export type VerificationIdentity =
  | { readonly type: 'individual'; readonly givenName: string; readonly familyName: string }
  | { readonly type: 'corporate'; readonly legalName: string };

export interface VerificationBankAccount {
  readonly accountNumber: string;
  readonly routingCodes: Readonly<Record<string, string>>;
}

export interface VerificationResult {
  readonly matched: boolean;
  /** Null for a match. */
  readonly reason: VerificationReason | null;
  /** The directory's own code; null for a match. */
  readonly schemeReasonCode: string | null;
  readonly accountHolderName: string | null;
}

export const MATCHED: VerificationResult = {
  matched: true,
  reason: null,
  schemeReasonCode: null,
  accountHolderName: null,
};

/**
 * The result for a Pay.UK code, or null for an unknown code. Keeps the name only for close matches, even if the directory
 * sends one with other codes.
 */
export function payUkResult(schemeReasonCode: string, accountHolderName: string | null): VerificationResult | null {
  const reason = Object.hasOwn(REASON_BY_SCHEME_CODE, schemeReasonCode)
    ? REASON_BY_SCHEME_CODE[schemeReasonCode]
    : undefined;
  if (reason === undefined) return null;
  const named = REASONS_WITH_NAME.some((known) => known === reason);
  return { matched: false, reason, schemeReasonCode, accountHolderName: named ? accountHolderName : null };
}

export interface BeneficiaryVerification extends VerificationResult {
  readonly id: string;
  readonly clientId: string;
  readonly directory: DirectoryCode;
  readonly provider: string;
  readonly identity: VerificationIdentity;
  readonly bankAccount: VerificationBankAccount;
  readonly secondaryIdentification: string | null;
}
