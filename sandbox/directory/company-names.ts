import { isTypingError, joined, lowered, sameBag, sameWord, sameWords, type Word, wordsOf } from './name-words.ts';
import { best, type NameMatch } from './person-names.ts';

/** Legal forms, longest first, with the one that each is a way of writing. */
const FORMS: readonly (readonly [words: string, form: string])[] = [
  ['gesellschaft mit beschrankter haftung', 'gmbh'],
  ['community interest company', 'cic'],
  ['limited liability partnership', 'llp'],
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
  ...'ltd plc llp lp inc corp co cic gmbh ag kg ug sa sas sarl srl spa bv nv ab oy aps pty'
    .split(' ')
    .map((form) => [form, form] as const),
];
/** Words that say less of who a company is than of where or how it works. */
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

/** Compares two companies' names; "a t/a b" is known as a and as b. */
export function matchCompanies(asked: string, held: string): NameMatch {
  const holders = namesOf(held);
  return best(namesOf(asked).flatMap((name) => holders.map((holder) => matchCompany(name, holder))));
}

interface CompanyName {
  readonly words: readonly Word[];
  /** Its legal forms in order: co, ltd. */
  readonly forms: string;
}

function namesOf(name: string): CompanyName[] {
  return lowered(name)
    .split(/\s+(?:t\/a|trading as)\s+/u)
    .map(companyName)
    .filter(({ words }) => words.length > 0);
}

function companyName(name: string): CompanyName {
  const spoken = name.replaceAll(/[&+]/g, ' and ');
  let words = withoutSingleLetters(wordsOf(spoken));
  if (words.length > 1 && (words[0] ?? []).includes('the')) words = words.slice(1);
  const forms: string[] = [];
  for (let found = formAtEnd(words); found !== null; found = formAtEnd(words)) {
    forms.unshift(found.form);
    words = words.slice(0, -found.length);
    if ((words.at(-1) ?? []).includes('and')) words = words.slice(0, -1);
  }
  return { words, forms: forms.join(' ') };
}

/** "j p harrow" is "jp harrow", "s a" is "sa". */
function withoutSingleLetters(words: readonly Word[]): Word[] {
  const result: Word[] = [];
  let letters: Word[] = [];
  const flush = () => {
    if (letters.length > 0) result.push(joined(letters));
    letters = [];
  };
  for (const word of words) {
    if ((word[0] ?? '').length === 1) letters.push(word);
    else {
      flush();
      result.push(word);
    }
  }
  flush();
  return result;
}

/** A name that is nothing but a form keeps it as its word. */
function formAtEnd(words: readonly Word[]): { form: string; length: number } | null {
  for (const [text, form] of FORMS) {
    const parts = text.split(' ').map((part): Word => [part]);
    if (words.length > parts.length && sameWords(words.slice(-parts.length), parts)) {
      return { form, length: parts.length };
    }
  }
  return null;
}

function matchCompany(asked: CompanyName, held: CompanyName): NameMatch {
  if (sameWords(asked.words, held.words)) return asked.forms === held.forms ? 'full' : 'close';
  if (sameWord(joined(asked.words), joined(held.words)) || sameBag(asked.words, held.words)) return 'close';
  if (isDescribedBy(asked.words, held.words) || isDescribedBy(held.words, asked.words)) return 'close';
  return areCloseWords(asked.words, held.words) ? 'close' : 'none';
}

/** The same words in the same order, and descriptions besides. */
function isDescribedBy(some: readonly Word[], all: readonly Word[]): boolean {
  let found = 0;
  for (const word of all) {
    if (found < some.length && sameWord(some[found] ?? [], word)) found += 1;
    else if (!word.some((spelling) => DESCRIPTIONS.has(spelling))) return false;
  }
  return found > 0 && found === some.length;
}

function areCloseWords(asked: readonly Word[], held: readonly Word[]): boolean {
  if (asked.length !== held.length) return false;
  let typingErrors = 0;
  for (const [index, word] of asked.entries()) {
    const other = held[index] ?? [];
    if (sameWord(word, other) || sameWord(spelledOut(word), spelledOut(other))) continue;
    if (!isTypingError(word, other, TYPING_LENGTH_MIN)) return false;
    typingErrors += 1;
  }
  return typingErrors <= 1;
}

function spelledOut(word: Word): Word {
  return word.map((spelling) => ABBREVIATIONS[spelling] ?? spelling);
}
