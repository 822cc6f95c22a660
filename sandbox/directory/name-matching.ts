import { matchCompanies } from './company-names.ts';
import { best, matchPersons, type NameMatch } from './person-names.ts';

/**
 * Whether a name is that of an account's holder, by what schemes and banks publish of their matching: what only the writing
 * tells apart (case, titles, accents, punctuation, the order of names, ways of writing a legal form) is a full match; an
 * initial, a name left out, a short form or a slip of the keyboard is close, so that a person decides; all else is no match.
 * docs/name-matching.md shows what that does to a labelled set.
 */
export type HolderType = 'individual' | 'corporate';

export interface NamedParty {
  readonly name: string;
  readonly type: HolderType;
}

/** Pay.UK's codes; MATC stands for a full match. */
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
