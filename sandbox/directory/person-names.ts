import {
  isSpelled,
  isTypingError,
  joined,
  lowered,
  sameBag,
  sameWord,
  sameWords,
  type Word,
  wordsOf,
} from './name-words.ts';
import { eachHasItsOwn } from './several-names.ts';
import { areShortForms, isGivenName } from './short-names.ts';

export type NameMatch = 'full' | 'close' | 'none';

const TITLES_OF_MEN = 'mr sir lord herr monsieur'.split(' ');
const TITLES_OF_WOMEN = 'mrs miss ms dame lady frau mme mlle madame'.split(' ');
const TITLES = new Set([
  ...TITLES_OF_MEN,
  ...TITLES_OF_WOMEN,
  ...'mx dr doctor prof professor rev reverend'.split(' '),
]);
// Without kc: it is a family name of Nepal.
const HONOURS = new Set('obe mbe cbe kbe dbe phd bsc msc mba llb esq esquire qc'.split(' '));
/** Written together with what follows, or apart, as the writer likes. */
const PARTICLES = new Set(
  'mc mac o de del della di da dos du la le van von der den ter ten el al bin ibn st ap'.split(' '),
);
/** "John Smith & Sons" is no John Smith: what he does, but perhaps not he. */
const BUSINESSES = new Set('co company son sons daughter daughters partners associates bros brothers'.split(' '));
/** Whoever is named beside one of these may hold nothing: it is the money of others, or of all of them. */
const TRUSTS = /(?<!\p{L})(?:trust|trustees?|estate|executors?|foundation|charity|fund|pension)(?!\p{L})/u;
const GENERATIONS: Readonly<Record<string, string>> = {
  jr: 'jr',
  junior: 'jr',
  sr: 'sr',
  senior: 'sr',
  ii: 'ii',
  iii: 'iii',
  iv: 'iv',
};
/** Below this a single other letter makes another name: Joan and John, Hall and Hill. */
const GIVEN_NAME_TYPING_LENGTH_MIN = 5;
const FAMILY_NAME_TYPING_LENGTH_MIN = 5;
const TYPING_ERRORS_MAX = 2;

/** Compares a name as asked with an account's, both of people; either may name the several holders of a joint account. */
export function matchPersons(asked: string, held: string): NameMatch {
  const askedPeople = peopleOf(asked);
  const holders = peopleOf(held);
  if (askedPeople.length === 0) return 'none';
  if (eachHasItsOwn(askedPeople, holders, (person, holder) => matchPerson(person, holder) === 'full')) return 'full';
  const some = askedPeople.some((person) => holders.some((holder) => matchPerson(person, holder) !== 'none'));
  return some ? 'close' : 'none';
}

export function best(matches: readonly NameMatch[]): NameMatch {
  if (matches.includes('full')) return 'full';
  return matches.includes('close') ? 'close' : 'none';
}

interface Person {
  /** The name's words in each way of writing them: particles and hyphens together, or apart. */
  readonly forms: readonly (readonly Word[])[];
  readonly generation: string | null;
  readonly titles: readonly string[];
  /** The words that are written with a hyphen, without it. */
  readonly hyphened: readonly Word[];
  /** Why another of the same name may be somebody else: half a name beside another's, or the name of a business or trust. */
  readonly doubt: 'half-name' | 'business' | 'trust' | null;
}

/** "Mr & Mrs J Smith" is J Smith; "John & Jane Smith" are John Smith and Jane Smith. */
function peopleOf(name: string): Person[] {
  const text = lowered(name);
  const all = text.split(/\s*(?:&|\+|\/|;|\s(?:and|und|et)\s)\s*/u).map(bareName);
  const isBusiness = all.length > 1 && BUSINESSES.has(all.at(-1)?.text.split(' ')[0] ?? '');
  const wholeDoubt = isBusiness ? 'business' : TRUSTS.test(text) ? 'trust' : null;
  const parts = withSharedTitles(isBusiness ? all.slice(0, -1) : all);
  const last = parts.at(-1);
  return parts.map(({ words, text: own, generation, titles, dottedO }) => {
    const isFirst = last !== undefined && own !== last.text && last.words.length > 1;
    const whole = isFirst && words.length === 1 ? `${own} ${familyNameOf(last.text)}` : own;
    const isHalf = isFirst
      ? words.length > 1 && words.slice(-1).some(isGivenName)
      : all.length > 1 && words.length === 1;
    return {
      forms: formsOf(whole, dottedO),
      generation,
      titles,
      hyphened: own
        .split(' ')
        .filter((word) => word.includes('-'))
        .map((word) => joined(wordsOf(word))),
      doubt: wholeDoubt ?? (isHalf ? 'half-name' : null),
    };
  });
}

/** The titles of a part that is nothing else stand before the next one's name too. */
function withSharedTitles(parts: readonly BareName[]): BareName[] {
  const named: BareName[] = [];
  let waiting: readonly string[] = [];
  for (const part of parts) {
    const titles = [...waiting, ...part.titles];
    if (part.words.length > 0) named.push({ ...part, titles });
    waiting = part.words.length > 0 ? [] : titles;
  }
  return named;
}

/** The last word with the particles before it. */
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
  /** "O." is an initial, where "O" may be the particle of O'Brien. */
  readonly dottedO: boolean;
}

function bareName(part: string): BareName {
  const parts = part
    .replaceAll(/[^\p{L}\p{M}\p{N}-]+/gu, ' ')
    .trim()
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  const titles: string[] = [];
  for (let first = parts[0]; first !== undefined && TITLES.has(first); first = parts[0]) {
    titles.push(first);
    parts.shift();
  }
  let generation: string | null = null;
  while (parts.length > 1) {
    const last = parts.at(-1) ?? '';
    if (!HONOURS.has(last) && !Object.hasOwn(GENERATIONS, last)) break;
    generation = GENERATIONS[last] ?? generation;
    parts.pop();
  }
  const text = parts.join(' ');
  return { words: wordsOf(text), text, generation, titles, dottedO: /(?:^|\s)o\./u.test(part) };
}

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

function matchPerson(asked: Person, holder: Person): NameMatch {
  if (asked.generation !== null && holder.generation !== null && asked.generation !== holder.generation) return 'none';
  const results = asked.forms.flatMap((words) => holder.forms.map((others) => matchWords(words, others)));
  const result = best(results);
  return result === 'full' && isDoubtful(asked, holder) ? 'close' : result;
}

/** The same name, and yet perhaps another person: father and son, husband and wife. */
function isDoubtful(asked: Person, holder: Person): boolean {
  if (asked.generation !== holder.generation || asked.doubt !== holder.doubt) return true;
  const [some, others] = [asked.hyphened, holder.hyphened];
  // One hyphen left out is a way of writing, another one elsewhere is not: Anna Smith-Jones, Anna-Smith Jones.
  if (some.length > 0 && others.length > 0 && !some.some((word) => others.some((other) => sameWord(word, other))))
    return true;
  const isOneWord = (asked.forms[0] ?? []).length === 1;
  if (isOneWord && asked.titles.join(' ') !== holder.titles.join(' ')) return true;
  const genders = [genderOf(asked), genderOf(holder)];
  return genders.includes('man') && genders.includes('woman');
}

function genderOf({ titles }: Person): 'man' | 'woman' | null {
  const man = titles.some((title) => TITLES_OF_MEN.includes(title));
  const woman = titles.some((title) => TITLES_OF_WOMEN.includes(title));
  if (man === woman) return null;
  return man ? 'man' : 'woman';
}

function matchWords(asked: readonly Word[], held: readonly Word[]): NameMatch {
  const order = sameInAnotherOrder(asked, held);
  if (order === 'full') return order;
  if (asked.length < 2 || held.length < 2) return sameWord(joined(asked), joined(held)) ? 'close' : 'none';
  if (sameBag(asked, held) || sameWord(joined(asked), joined(held))) return 'close';
  if (isPartOf(asked, held) || isPartOf(held, asked)) return 'close';
  const close =
    rotationsOf(asked).some((words) => areCloseNames(words, held)) ||
    rotationsOf(held).some((words) => areCloseNames(asked, words));
  return close ? 'close' : 'none';
}

/**
 * The family name may come first; the given names keep their order. Where either end may be a given name it is not to be
 * seen which is the family's: James Thomas and Thomas James are two people.
 */
function sameInAnotherOrder(asked: readonly Word[], held: readonly Word[]): NameMatch {
  for (const [moved, words] of rotationsOf(asked).entries()) {
    if (!sameWords(words, held)) continue;
    const isFamilyName = (part: readonly Word[]) => !part.some((word) => isGivenName(word) || isInitial(word));
    if (moved === 0 || isFamilyName(asked.slice(0, moved)) || isFamilyName(asked.slice(moved))) return 'full';
  }
  return 'none';
}

function rotationsOf(words: readonly Word[]): Word[][] {
  return words.map((_, index) => [...words.slice(index), ...words.slice(0, index)]);
}

/** Names left out, with the first or the last still there. */
function isPartOf(some: readonly Word[], all: readonly Word[]): boolean {
  if (some.length >= all.length) return false;
  if (!areSame(some[0], all[0]) && !areSame(some.at(-1), all.at(-1))) return false;
  let found = 0;
  for (const word of all) {
    if (areSame(some[found], word)) found += 1;
  }
  return found === some.length;
}

function areSame(one: Word | undefined, other: Word | undefined): boolean {
  return one !== undefined && other !== undefined && sameWord(one, other);
}

/** The same family name, and given names that an initial, a short form or a typing error tells apart. */
function areCloseNames(asked: readonly Word[], held: readonly Word[]): boolean {
  const family = resemblance(asked.at(-1), held.at(-1), FAMILY_NAME_TYPING_LENGTH_MIN);
  if (family !== 'same' && family !== 'typing-error') return false;
  const given = asked.slice(0, -1);
  const heldGiven = held.slice(0, -1);
  if (family === 'same' && (areInitialsOf(given, heldGiven) || areInitialsOf(heldGiven, given))) return true;
  const first = resemblance(given[0], heldGiven[0], GIVEN_NAME_TYPING_LENGTH_MIN);
  if (first === 'other' || (first === 'typing-error' && areGivenNames(given[0], heldGiven[0]))) return false;
  const all = [family, first];
  const errors = all.filter((kind) => kind === 'typing-error').length;
  // A guess on top of a guess is no resemblance.
  const guessed = all.filter((kind) => kind !== 'same').length;
  return guessed <= 1 || (errors === guessed && errors <= TYPING_ERRORS_MAX);
}

/** Two names that people are given are no slip of one another: Paul is not Paula. Zoé may be Zoë. */
function areGivenNames(one: Word | undefined, other: Word | undefined): boolean {
  if (one === undefined || other === undefined || one.spellings[0] === other.spellings[0]) return false;
  return isGivenName(one) && isGivenName(other);
}

type Resemblance = 'same' | 'initial' | 'short-form' | 'typing-error' | 'other';

function resemblance(one: Word | undefined, other: Word | undefined, typingLengthMin: number): Resemblance {
  if (one === undefined || other === undefined) return 'other';
  if (sameWord(one, other)) return 'same';
  if (isInitialOf(one, other) || isInitialOf(other, one)) return 'initial';
  if (areShortForms(one, other)) return 'short-form';
  return isTypingError(one, other, typingLengthMin) ? 'typing-error' : 'other';
}

function isInitial({ spellings }: Word): boolean {
  return spellings.some((spelling) => [...spelling].length === 1);
}

function isInitialOf(one: Word, other: Word): boolean {
  return one.spellings.some(
    (letter) => [...letter].length === 1 && other.spellings.some((spelling) => spelling.startsWith(letter)),
  );
}

/** "JA" of "John Andrew". */
function areInitialsOf(some: readonly Word[], names: readonly Word[]): boolean {
  const initials = names.map(({ spellings: [spelling = ''] }) => [...spelling][0] ?? '').join('');
  return some.length === 1 && names.length > 1 && isSpelled(some[0], initials);
}
