import { ibanOf } from '../bank/identifiers.ts';
import type { HolderType, NameMatchCode, PayeeMatchCode } from './name-matching.ts';

/** Accounts at this sort code answer by their number; every other number is a full match. */
export const MAGIC_SORT_CODE = '123456';

export type DirectoryCode = NameMatchCode | 'AC01' | 'IVCR' | 'ACNS' | 'OPTO' | 'CASS' | 'SCNS';

/** Codes that reveal the type of the account's holder. */
export const CODES_WITH_NAME: ReadonlySet<DirectoryCode> = new Set<DirectoryCode>(['MBAM', 'BAMM', 'PAMM']);

/** docs/sandbox.md is printed from them. */
export const MAGIC_CODES: ReadonlyMap<string, DirectoryCode> = new Map<string, DirectoryCode>([
  ['00934891', 'ANNM'],
  ['00934892', 'MBAM'],
  ['00934893', 'BANM'],
  ['00934894', 'PANM'],
  ['00934895', 'BAMM'],
  ['00934896', 'PAMM'],
  ['00934897', 'AC01'],
  ['00934898', 'IVCR'],
  ['00934899', 'ACNS'],
  ['00934900', 'OPTO'],
  ['00934901', 'CASS'],
  ['00934902', 'SCNS'],
]);

const HOLDERS: Readonly<Record<HolderType, string>> = {
  individual: 'Mr John Smith',
  corporate: 'Smith Trading Ltd',
};

export function magicAnswer(accountNumber: string, askedType: HolderType): { code: DirectoryCode; holderName: string } {
  const code = MAGIC_CODES.get(accountNumber) ?? 'MATC';
  const holderType = code === 'BAMM' ? 'corporate' : code === 'PAMM' ? 'individual' : askedType;
  return { code, holderName: HOLDERS[holderType] };
}

/** German accounts at this bank answer by their number; every other number is a match. */
const MAGIC_BANK_CODE = '99912300';

export interface MagicPayee {
  /** What the number stands for. */
  readonly shows: string;
  readonly partyNameMatch: PayeeMatchCode | 'XXXX';
  /** The holder's name, of a close match. */
  readonly matchedName?: string;
}

const MAGIC_PAYEES: Readonly<Record<string, MagicPayee>> = {
  '0000934891': { shows: 'another name', partyNameMatch: 'NMTC' },
  '0000934892': { shows: 'a similar name', partyNameMatch: 'CMTC', matchedName: 'Jürgen Groß' },
  '0000934893': { shows: 'a similar name in Greek', partyNameMatch: 'CMTC', matchedName: 'Γεώργιος Παπαδόπουλος' },
  '0000934894': { shows: 'a closed account', partyNameMatch: 'NOAP' },
  '0000934895': { shows: 'an answer that no one can read', partyNameMatch: 'XXXX' },
};

const MATCHING_PAYEE: MagicPayee = { shows: 'a match', partyNameMatch: 'MTCH' };

/** docs/sandbox.md is printed from them. */
export const MAGIC_IBANS: ReadonlyMap<string, MagicPayee> = new Map(
  Object.entries(MAGIC_PAYEES).map(([number, payee]) => [ibanOf('DE', MAGIC_BANK_CODE + number), payee]),
);

/** Null for an IBAN of any other bank. */
export function magicPayee(iban: string): MagicPayee | null {
  if (!iban.startsWith('DE') || iban.slice(4, 12) !== MAGIC_BANK_CODE) return null;
  return MAGIC_IBANS.get(iban) ?? MATCHING_PAYEE;
}
