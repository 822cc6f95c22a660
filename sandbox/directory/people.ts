import { joined, lowered, sameWords, type Word, wordsOf } from './name-words.ts';

const TITLES_OF_MEN = 'mr sir lord herr monsieur'.split(' ');
const TITLES_OF_WOMEN = 'mrs miss ms dame lady frau mme mlle madame'.split(' ');
const TITLES = new Set([
  ...TITLES_OF_MEN,
  ...TITLES_OF_WOMEN,
  ...'mx dr doctor prof professor rev reverend'.split(' '),
]);
// Excludes kc, mba, mbe, obe and esquire, which are also family names (in Nepal, West Africa and England).
const HONOURS = new Set('cbe kbe dbe phd bsc msc llb esq qc'.split(' '));
/** May be joined to the next word or separate from it. */
const PARTICLES = new Set(
  'mc mac o de del della di da dos du la le van von der den ter ten el al bin ibn st ap'.split(' '),
);
/** "John Smith & Sons" is a business, perhaps not John Smith himself. */
const BUSINESSES = new Set('co company son sons daughter daughters partners associates bros brothers'.split(' '));
/** A person named together with one of these words may not be the beneficial owner of the money. */
const OTHERS_MONEY = new Set(
  (
    'trust trustee trustees estate executor executors administrator administrators foundation charity fund pension savings ' +
    'settlement minor minors deceased client clients account accounts escrow nominee nominees agent agents attorney attorneys ' +
    'guardian parentProcesses solicitor solicitors ltd limited plc llp inc gmbh'
  ).split(' '),
);
const GENERATIONS: Readonly<Record<string, string>> = {
  jr: 'jr',
  junior: 'jr',
  sr: 'sr',
  senior: 'sr',
  ii: 'ii',
  iii: 'iii',
  iv: 'iv',
};

/** One of the people named by an account or a request. */
export interface Person {
  /** The name's words in each possible form: particles and hyphenated parts joined, or separate. */
  readonly forms: readonly (readonly Word[])[];
  readonly generation: string | null;
  readonly titles: readonly string[];
  /** "Mr & Mrs" implies a second person. */
  readonly isCouple: boolean;
  /** The number of words before the comma, for names with the family name first. */
  readonly commaAfter: number | null;
  /** The hyphenated words, without their hyphens. */
  readonly hyphened: readonly Word[];
  /**
   * Why this may be another person of the same name: an incomplete name next to another person's, or words of a trust or
   * business.
   */
  readonly doubt: string | null;
}

/** "Mr & Mrs J Smith" is J Smith; "John & Jane Smith" are John Smith and Jane Smith. */
export function peopleOf(name: string): Person[] {
  const all = lowered(name)
    .split(/\s*(?:&|\+|\/|;|\s(?:and|und|et)\s)\s*/u)
    .map(bareName);
  const lastText = all.length > 1 ? (all.at(-1)?.text ?? '') : '';
  const isBusiness = BUSINESSES.has(lastText.split(' ')[0] ?? '');
  const wholeText = all.map(({ text }) => text).join(' & ');
  const isOthersMoney = wholeText.split(/[ -]/).some((word) => OTHERS_MONEY.has(word));
  const wholeDoubt = isBusiness ? `business: ${lastText}` : isOthersMoney ? `trust: ${wholeText}` : null;
  const parts = withSharedTitles(isBusiness ? all.slice(0, -1) : all);
  const shared = sharedFamilyName(parts);
  return parts.map(({ words, text: own, ...part }, index) => {
    const borrows = shared !== null && words.length === 1 && index < parts.length - 1;
    const isHalf = index < parts.length - 1 ? !isWhole(own, shared) : all.length > 1 && words.length === 1;
    return {
      ...part,
      forms: formsOf(borrows ? `${own} ${shared.familyName}` : own, part.dottedO),
      hyphened: own
        .split(' ')
        .filter((word) => word.includes('-'))
        .map((word) => joined(wordsOf(word))),
      doubt: wholeDoubt ?? (isHalf ? 'half-name' : null),
    };
  });
}

interface SharedFamilyName {
  readonly familyName: string;
  /** In "John & Jane Smith Jones" it is ambiguous whether John has one of the two names or both. */
  readonly isCertain: boolean;
}

/** The last person's family name, which the earlier ones may omit. */
function sharedFamilyName(parts: readonly BareName[]): SharedFamilyName | null {
  const last = parts.at(-1);
  if (last === undefined || last.words.length < 2) return null;
  const familyName = familyNameOf(last.text);
  return { familyName, isCertain: last.text.split(' ').length - familyName.split(' ').length === 1 };
}

/** Whether an earlier person's name is complete: it ends in the shared family name, or certainly lacks only that. */
function isWhole(own: string, shared: SharedFamilyName | null): boolean {
  if (shared === null) return false;
  return own.includes(' ') ? own.endsWith(` ${shared.familyName}`) : shared.isCertain;
}

/**
 * A part that has only titles adds them to the next name, which makes a couple; after the last name, they imply an
 * unnamed second person.
 */
function withSharedTitles(parts: readonly BareName[]): BareName[] {
  const named: BareName[] = [];
  let waiting: readonly string[] = [];
  for (const part of parts) {
    const titles = [...waiting, ...part.titles];
    if (part.words.length > 0) named.push({ ...part, titles, isCouple: waiting.length > 0 });
    waiting = part.words.length > 0 ? [] : titles;
  }
  return waiting.length === 0 ? named : named.map((part) => ({ ...part, isCouple: true }));
}

/** The last word, and the particles before it. */
function familyNameOf(text: string): string {
  const words = text.split(' ');
  let start = words.length - 1;
  while (start > 1 && PARTICLES.has(words[start - 1] ?? '')) start -= 1;
  return words.slice(start).join(' ');
}

interface BareName {
  readonly words: readonly Word[];
  readonly text: string;
  readonly generation: string | null;
  readonly titles: readonly string[];
  readonly isCouple: boolean;
  readonly commaAfter: number | null;
  /** "O." is an initial, while "O" may be the particle of O'Brien. */
  readonly dottedO: boolean;
}

function bareName(part: string): BareName {
  const parts = part
    .replaceAll(/[^\p{L}\p{M}\p{N},-]+/gu, ' ')
    .replaceAll(',', ' , ')
    .split(' ')
    .filter((word) => word === ',' || /[\p{L}\p{N}]/u.test(word));
  const titles: string[] = [];
  for (let first = parts[0]; first !== undefined && (first === ',' || TITLES.has(first)); first = parts[0]) {
    if (first !== ',') titles.push(first);
    parts.shift();
  }
  let generation: string | null = null;
  while (parts.length > 1) {
    const last = parts.at(-1) ?? '';
    if (last !== ',' && !HONOURS.has(last) && !Object.hasOwn(GENERATIONS, last)) break;
    generation = GENERATIONS[last] ?? generation;
    parts.pop();
  }
  const text = parts.filter((word) => word !== ',').join(' ');
  return {
    words: wordsOf(text),
    text,
    generation,
    titles,
    isCouple: false,
    commaAfter: parts.includes(',') ? parts.indexOf(',') : null,
    dottedO: /(?:^|\s)o\./u.test(part),
  };
}

/** The name as separate words, and with hyphenated parts, particles, or both joined. */
function formsOf(text: string, dottedO: boolean): Word[][] {
  const binds = (word: Word) =>
    word.spellings.some((spelling) => PARTICLES.has(spelling) && !(dottedO && spelling === 'o'));
  const apart = wordsOf(text.replaceAll('-', ' '));
  const together = text.split(' ').map((word) => joined(wordsOf(word)));
  const forms = [apart, together, withParticles(apart, binds), withParticles(together, binds)];
  return forms.filter((form, index) => forms.findIndex((other) => sameWords(form, other)) === index);
}

function withParticles(words: readonly Word[], binds: (word: Word) => boolean): Word[] {
  const result: Word[] = [];
  let waiting: Word[] = [];
  for (const [index, word] of words.entries()) {
    waiting.push(word);
    if (index > 0 && index < words.length - 1 && binds(word)) continue;
    result.push(waiting.length === 1 ? word : joined(waiting));
    waiting = [];
  }
  return result;
}

export function genderOf({ titles }: Person): 'man' | 'woman' | null {
  const man = titles.some((title) => TITLES_OF_MEN.includes(title));
  const woman = titles.some((title) => TITLES_OF_WOMEN.includes(title));
  if (man === woman) return null;
  return man ? 'man' : 'woman';
}
