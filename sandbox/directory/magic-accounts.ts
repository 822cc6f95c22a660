import type { HolderType, NameMatchCode } from './name-matching.ts';

/** Accounts at this sort code answer by their number; every other number is a full match. */
export const MAGIC_SORT_CODE = '123456';

export type DirectoryCode = NameMatchCode | 'AC01' | 'IVCR' | 'ACNS' | 'OPTO' | 'CASS' | 'SCNS';

/** Codes that reveal the type of the account's holder. */
export const CODES_WITH_NAME: ReadonlySet<DirectoryCode> = new Set<DirectoryCode>(['MBAM', 'BAMM', 'PAMM']);

const CODES: ReadonlyMap<string, DirectoryCode> = new Map<string, DirectoryCode>([
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
  const code = CODES.get(accountNumber) ?? 'MATC';
  const holderType = code === 'BAMM' ? 'corporate' : code === 'PAMM' ? 'individual' : askedType;
  return { code, holderName: HOLDERS[holderType] };
}
