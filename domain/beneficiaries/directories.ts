import { remainder97 } from '../common/numbers/check-digits.ts';
import type { Identification } from '../common/parties/identifications.ts';
import { FULL_NAME_LENGTH_MAX } from '../common/parties/names.ts';
import {
  DIRECTORIES,
  type DirectoryCode,
  MATCHED,
  REASONS_WITH_NAME,
  type VerificationReason,
  type VerificationResult,
} from './verifications.ts';

export interface DirectoryRules {
  /** Its scheme, in words. */
  readonly scheme: string;
  /** What names a bank account in it. */
  readonly accountsNamedBy: 'sort-code' | 'iban';
  /** The reason for each code of the scheme; null for a match. The interface has no separate reason for a name that does not match. */
  readonly reasons: Readonly<Record<string, VerificationReason | null>>;
  /**
   * The code by which the scheme says that no check was possible, and which an answer gets that cannot be read. Null: there is no such code, and
   * such an answer is none.
   */
  readonly notPossible: string | null;
  /** The codes of the scheme's errors: no answer to the question, whatever the status. */
  readonly errors: readonly string[];
  /** The longest name that it compares. */
  readonly nameLengthMax: number;
  /** The identifiers that the scheme compares in place of a name; the code by which it names each kind, if it has one. */
  readonly identifications: Readonly<Partial<Record<Identification['type'], string | null>>>;
}

export const DIRECTORY_RULES: Readonly<Record<DirectoryCode, DirectoryRules>> = {
  'pay-uk': {
    scheme: 'Confirmation of Payee (Pay.UK)',
    accountsNamedBy: 'sort-code',
    reasons: {
      MATC: null,
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
    },
    notPossible: null,
    errors: [],
    nameLengthMax: FULL_NAME_LENGTH_MAX,
    identifications: {},
  },
  'eu-vop': {
    scheme: 'Verification of Payee (European Payments Council)',
    accountsNamedBy: 'iban',
    reasons: {
      MTCH: null,
      CMTC: 'close-match',
      NMTC: 'incorrect-account-number',
      NOAP: 'account-type-not-supported',
    },
    notPossible: 'NOAP',
    errors: ['FORMAT_ERROR', 'CLIENT_INVALID', 'CLIENT_INCONSISTENT', 'TIMESTAMP_INVALID'],
    nameLengthMax: 140,
    // By ISO 20022's codes for the identification of organisations; a legal entity identifier has a field of its own.
    identifications: {
      lei: null,
      'vat-number': 'TXID',
      'tax-identification-number': 'TXID',
      'registration-number': 'COID',
    },
  },
};

/**
 * The result for a code of a directory's scheme, or null for an unknown code. Keeps the name only for close matches, even if the
 * directory sends one with other codes.
 */
export function directoryResult(
  directory: DirectoryCode,
  schemeCode: string,
  accountHolderName: string | null,
): VerificationResult | null {
  const { reasons } = DIRECTORY_RULES[directory];
  const reason = Object.hasOwn(reasons, schemeCode) ? reasons[schemeCode] : undefined;
  if (reason === undefined) return null;
  if (reason === null) return MATCHED;
  const named = REASONS_WITH_NAME.some((known) => known === reason);
  return {
    matched: false,
    reason,
    schemeReasonCode: schemeCode,
    accountHolderName: named ? accountHolderName : null,
  };
}

/** What an answer that cannot be read says in a directory: that no check was possible, or nothing (null). Never a match. */
export function unreadableResult(directory: DirectoryCode): VerificationResult | null {
  const { notPossible } = DIRECTORY_RULES[directory];
  return notPossible === null ? null : directoryResult(directory, notPossible, null);
}

const LEI = /^[A-Z0-9]{18}[0-9]{2}$/;

/** Whether an identifier can be that of an organisation: a legal entity identifier has check digits (ISO 17442). */
export function isComparable({ type, identificationNumber }: { type: string; identificationNumber: string }): boolean {
  if (type !== 'lei') return true;
  if (!LEI.test(identificationNumber)) return false;
  return remainder97([...identificationNumber].map((sign) => Number.parseInt(sign, 36)).join('')) === 1;
}

/** The accounts that a directory knows. */
export interface DirectoryReach {
  readonly currency: string;
  readonly countries: readonly string[];
}

/** The table of directories by country and currency, from the configuration, which has each pair at most once. */
export type DirectoryTable = Readonly<Record<DirectoryCode, DirectoryReach>>;

/** The directory that knows accounts of this currency in this country; null if none does. */
export function directoryFor(
  table: DirectoryTable,
  { country, currency }: { readonly country: string; readonly currency: string },
): DirectoryCode | null {
  const found = DIRECTORIES.find((code) => {
    const reach = table[code];
    return reach.currency === currency && reach.countries.includes(country);
  });
  return found ?? null;
}

/** The pairs of country and currency that two directories claim. */
export function doublyClaimed(table: DirectoryTable): string[] {
  const seen = new Set<string>();
  const doubled: string[] = [];
  for (const code of DIRECTORIES) {
    for (const country of table[code].countries) {
      const pair = `${country} and ${table[code].currency}`;
      if (seen.has(pair)) doubled.push(pair);
      seen.add(pair);
    }
  }
  return doubled;
}
