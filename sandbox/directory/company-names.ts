import {
  isSpelled,
  isTypingError,
  joined,
  lowered,
  sameWord,
  sameWords,
  sameWordsInAnyOrder,
  spelled,
  type Word,
  wordsOf,
} from './name-words.ts';
import { best, type NameMatch } from './person-names.ts';
import { canBePaired } from './several-names.ts';

/** Legal forms, longest first, with the canonical form of each variant. */
const FORMS: readonly (readonly [words: string, form: string])[] = [
  ['gesellschaft mit beschrankter haftung', 'gmbh'],
  ['community interest company', 'cic'],
  ['limited liability partnership', 'llp'],
  ['limited liability company', 'llc'],
  ['public limited company', 'plc'],
  ['limited partnership', 'lp'],
  ['societe anonyme', 'sa'],
  ['aktiengesellschaft', 'ag'],
  ['incorporated', 'inc'],
  ['corporation', 'corp'],
  ['cyfyngedig', 'ltd'],
  ['company', 'co'],
  ['limited', 'ltd'],
  ['cyf', 'ltd'],
  ...'ltd plc llp llc lp inc corp co cic gmbh ag kg ug sa sas sarl srl spa bv nv ab oy aps pty'
    .split(' ')
    .map((form) => [form, form] as const),
];
/** Words that describe where or how a company works rather than who it is. */
const DESCRIPTIONS = new Set(
  'uk gb group holding holdings service services solutions international trading enterprises global'.split(' '),
);
const ABBREVIATIONS: Readonly<Record<string, string>> = {
  intl: 'international',
  bros: 'brothers',
  eng: 'engineering',
  svcs: 'services',
  assoc: 'associates',
  mgmt: 'management',
  mfg: 'manufacturing',
  tech: 'technology',
  dept: 'department',
};
const TYPING_LENGTH_MIN = 5;

/** How symbols in company names are read aloud; any other symbol is a word of its own. */
const SIGNS: Readonly<Record<string, string>> = {
  '&': 'and',
  '+': 'and',
  '@': 'at',
  '%': 'percent',
  '#': 'hash',
  '*': 'star',
  '=': 'equals',
  '£': 'pound',
  '€': 'euro',
  $: 'dollar',
};
/** Symbols that are part of the name, or punctuation that Unicode counts among symbols. */
const NO_WORDS = new Set('®©^`´¨|~°'.split(''));

/** Compares two company names. An account's "a t/a b" matches a and b; a requested one must match both. */
export function matchCompanies(asked: string, held: string): NameMatch {
  const names = namesOf(asked);
  const holders = namesOf(held);
  const result = best(names.flatMap((name) => holders.map((holder) => matchCompany(name, holder))));
  if (result !== 'full') return result;
  return canBePaired(names, holders, (name, holder) => matchCompany(name, holder) === 'full') ? 'full' : 'close';
}

interface CompanyName {
  readonly words: readonly Word[];
  /** Its legal forms in order, such as "co ltd". */
  readonly forms: string;
}

function namesOf(name: string): CompanyName[] {
  return lowered(name)
    .split(/\s+(?:t\/a|trading as)\s+/u)
    .map(companyName)
    .filter(({ words }) => words.length > 0);
}

function companyName(name: string): CompanyName {
  let words = withoutSingleLetters(wordsOf(name.replaceAll(/[&@%#*\p{S}]/gu, spoken))).map((word, index) =>
    index > 0 && isSpelled(word, 'und') ? spelled('and') : word,
  );
  if (words.length > 1 && isSpelled(words[0], 'the')) words = words.slice(1);
  const forms: string[] = [];
  for (let found = formAtEnd(words); found !== null; found = formAtEnd(words)) {
    words = words.slice(0, -found.length);
    const isAndCompany = found.form === 'co' && words.length > 1 && isSpelled(words.at(-1), 'and');
    if (isAndCompany) words = words.slice(0, -1);
    forms.unshift(isAndCompany ? 'and co' : found.form);
  }
  return { words, forms: forms.join(' ') };
}

function spoken(sign: string): string {
  if (NO_WORDS.has(sign)) return ' ';
  return ` ${SIGNS[sign] ?? `sign${sign.codePointAt(0)}`} `;
}

/** "j p harrow" is "jp harrow", "s a" is "sa"; but "3 5" is not 35. */
function withoutSingleLetters(words: readonly Word[]): Word[] {
  const result: Word[] = [];
  let letters: Word[] = [];
  const flush = () => {
    if (letters.length > 0) result.push(joined(letters));
    letters = [];
  };
  for (const word of words) {
    if (/^\p{L}$/u.test(word.spellings[0] ?? '')) letters.push(word);
    else {
      flush();
      result.push(word);
    }
  }
  flush();
  return result;
}

/** The legal form at the end of a name, unless the name is nothing else. */
function formAtEnd(words: readonly Word[]): { form: string; length: number } | null {
  for (const [text, form] of FORMS) {
    const parts = text.split(' ').map(spelled);
    if (words.length > parts.length && sameWords(words.slice(-parts.length), parts)) {
      return { form, length: parts.length };
    }
  }
  return null;
}

function matchCompany(asked: CompanyName, held: CompanyName): NameMatch {
  if (sameWords(asked.words, held.words)) return asked.forms === held.forms ? 'full' : 'close';
  if (sameWord(joined(asked.words), joined(held.words)) || sameWordsInAnyOrder(asked.words, held.words)) return 'close';
  if (isDescribedBy(asked.words, held.words) || isDescribedBy(held.words, asked.words)) return 'close';
  return areCloseWords(asked.words, held.words) ? 'close' : 'none';
}

/** The same words in the same order, plus descriptions. */
function isDescribedBy(some: readonly Word[], all: readonly Word[]): boolean {
  let found = 0;
  for (const word of all) {
    const wanted = some[found];
    if (wanted !== undefined && sameWord(wanted, word)) found += 1;
    else if (!word.spellings.some((spelling) => DESCRIPTIONS.has(spelling))) return false;
  }
  return found > 0 && found === some.length;
}

function areCloseWords(asked: readonly Word[], held: readonly Word[]): boolean {
  if (asked.length !== held.length) return false;
  let typingErrors = 0;
  for (const [index, word] of asked.entries()) {
    const other = held[index];
    if (other === undefined) return false;
    if (sameWord(word, other) || sameWord(spelledOut(word), spelledOut(other))) continue;
    if (!isTypingError(word, other, TYPING_LENGTH_MIN)) return false;
    typingErrors += 1;
  }
  return typingErrors <= 1;
}

function spelledOut(word: Word): Word {
  return { ...word, spellings: word.spellings.map((spelling) => ABBREVIATIONS[spelling] ?? spelling) };
}
