import { matchCompanies } from './company-names.ts';
import { best, matchPersons, type NameMatch } from './person-names.ts';

/**
 * Compares a name with that of an account's holder, by the rules that schemes and banks publish. Names that differ only
 * in writing (case, titles, accents, punctuation, variants of a legal form) match fully. A different order of a
 * person's names, an initial, a missing name, a short form or a typing error is a close match, which a person decides.
 * Anything else does not match. docs/reference/sandbox/name-matching.md shows the results on a labelled set.
 */
export type HolderType = 'individual' | 'corporate';

export interface NamedParty {
  readonly name: string;
  readonly type: HolderType;
}

/** Pay.UK's codes; MATC is a full match. */
export type NameMatchCode = 'MATC' | 'ANNM' | 'MBAM' | 'BANM' | 'PANM' | 'BAMM' | 'PAMM';

export function matchNames(asked: NamedParty, holder: NamedParty): NameMatch {
  if (asked.type === holder.type) return compare(holder.type, asked.name, holder.name);
  return best([compare('individual', asked.name, holder.name), compare('corporate', asked.name, holder.name)]);
}

function compare(type: HolderType, asked: string, held: string): NameMatch {
  return type === 'corporate' ? matchCompanies(asked, held) : matchPersons(asked, held);
}

export function nameMatchCode(asked: NamedParty, holder: NamedParty): NameMatchCode {
  const match = matchNames(asked, holder);
  if (match === 'none') return 'ANNM';
  if (asked.type === holder.type) return match === 'full' ? 'MATC' : 'MBAM';
  if (holder.type === 'corporate') return match === 'full' ? 'BANM' : 'BAMM';
  return match === 'full' ? 'PANM' : 'PAMM';
}

/** The European Payments Council's codes; NOAP says that no check was possible. */
export type PayeeMatchCode = 'MTCH' | 'CMTC' | 'NMTC' | 'NOAP';

const PAYEE_MATCH_CODES = { full: 'MTCH', close: 'CMTC', none: 'NMTC' } as const satisfies Record<NameMatch, string>;

/** Verification of Payee says nothing of the payee's type: the name is read as the holder's is. */
export function payeeMatchCode(asked: string, holder: NamedParty): PayeeMatchCode {
  return PAYEE_MATCH_CODES[compare(holder.type, asked, holder.name)];
}
