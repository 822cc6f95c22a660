import type { Identification } from '../common/parties/identifications.ts';

/** The supported directories; `client.<code>.cop` queries one. directories.ts has their rules. */
export const DIRECTORIES = ['pay-uk', 'eu-vop'] as const;
export type DirectoryCode = (typeof DIRECTORIES)[number];

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

export type VerificationIdentity =
  | { readonly type: 'individual'; readonly givenName: string; readonly familyName: string }
  | { readonly type: 'corporate'; readonly legalName: string };

/** As its directory names it: by sort code and number, or by IBAN. */
export interface VerificationBankAccount {
  readonly accountNumber?: string;
  readonly iban?: string;
  readonly routingCodes: Readonly<Record<string, string>>;
}

/** An organisation's identifier that is compared in place of its name. */
export type VerificationIdentification = Pick<Identification, 'type' | 'identificationNumber'>;

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

export interface BeneficiaryVerification extends VerificationResult {
  readonly id: string;
  readonly clientId: string;
  readonly directory: DirectoryCode;
  readonly provider: string;
  readonly identity: VerificationIdentity;
  readonly bankAccount: VerificationBankAccount;
  readonly secondaryIdentification: string | null;
  readonly identification: VerificationIdentification | null;
}
