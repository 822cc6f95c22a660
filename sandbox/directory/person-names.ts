import { isTypingError, joined, lowered, sameBag, sameWord, sameWords, type Word, wordsOf } from './name-words.ts';
import { areShortForms } from './short-names.ts';

export type NameMatch = 'full' | 'close' | 'none';

const TITLES = new Set(
  'mr mrs miss ms mx dr doctor prof professor sir dame lord lady rev reverend herr frau mme mlle monsieur madame'.split(
    ' ',
  ),
);
const HONOURS = new Set('obe mbe cbe kbe dbe phd bsc msc mba llb esq esquire qc kc'.split(' '));
/** Written together with what follows, or apart, as the writer likes. */
const PARTICLES = new Set(
  'mc mac o d de del della di da dos du la le van von der den ter ten el al bin ibn st ap'.split(' '),
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
/** Below this a single other letter makes another name: Joan and John, Hall and Hill. */
const GIVEN_NAME_TYPING_LENGTH_MIN = 5;
const FAMILY_NAME_TYPING_LENGTH_MIN = 5;
const TYPING_ERRORS_MAX = 2;

/** Compares a name as asked with an account's, both of people; either may name the several holders of a joint account. */
export function matchPersons(asked: string, held: string): NameMatch {
  const askedPeople = peopleOf(asked);
  const holders = peopleOf(held);
  if (askedPeople.length === 0) return 'none';
  const results = askedPeople.map((person) => best(holders.map((holder) => matchPerson(person, holder))));
  if (results.length <= holders.length && results.every((result) => result === 'full')) return 'full';
  return results.some((result) => result !== 'none') ? 'close' : 'none';
}

export function best(matches: readonly NameMatch[]): NameMatch {
  if (matches.includes('full')) return 'full';
  return matches.includes('close') ? 'close' : 'none';
}

interface Person {
  /** The name's words in each way of writing them: particles and hyphens together, or apart. */
  readonly forms: readonly (readonly Word[])[];
  readonly generation: string | null;
}

/** "Mr & Mrs J Smith" is J Smith; "John & Jane Smith" are John Smith and Jane Smith. */
function peopleOf(name: string): Person[] {
  const parts = lowered(name)
    .split(/\s*(?:&|\+|\/|;|\s(?:and|und|et)\s)\s*/u)
    .map((part) => bareName(part))
    .filter(({ words }) => words.length > 0);
  const family = parts.at(-1)?.words.at(-1);
  return parts.map(({ words, text, generation }) => {
    const shared = parts.length > 1 && words.length === 1 && family !== undefined;
    const whole = shared ? `${text} ${parts.at(-1)?.text.split(' ').at(-1) ?? ''}` : text;
    return { forms: formsOf(whole), generation };
  });
}

function bareName(part: string): { words: Word[]; text: string; generation: string | null } {
  const parts = part
    .replaceAll(/[^\p{L}\p{M}\p{N}-]+/gu, ' ')
    .trim()
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  while (TITLES.has(parts[0] ?? '')) parts.shift();
  let generation: string | null = null;
  while (parts.length > 1) {
    const last = parts.at(-1) ?? '';
    if (!HONOURS.has(last) && !Object.hasOwn(GENERATIONS, last)) break;
    generation = GENERATIONS[last] ?? generation;
    parts.pop();
  }
  const text = parts.join(' ');
  return { words: wordsOf(text), text, generation };
}

function formsOf(text: string): Word[][] {
  const apart = wordsOf(text.replaceAll('-', ' '));
  const together = text.split(' ').map((word) => joined(wordsOf(word)));
  const forms = [apart, together, withParticles(apart), withParticles(together)];
  return forms.filter((form, index) => forms.findIndex((other) => sameWords(form, other)) === index);
}

function withParticles(words: readonly Word[]): Word[] {
  const result: Word[] = [];
  let waiting: Word[] = [];
  for (const [index, word] of words.entries()) {
    waiting.push(word);
    const binds = index > 0 && index < words.length - 1 && word.some((spelling) => PARTICLES.has(spelling));
    if (binds) continue;
    result.push(waiting.length === 1 ? word : joined(waiting));
    waiting = [];
  }
  return result;
}

function matchPerson(asked: Person, holder: Person): NameMatch {
  if (asked.generation !== null && holder.generation !== null && asked.generation !== holder.generation) return 'none';
  const results = asked.forms.flatMap((words) => holder.forms.map((others) => matchWords(words, others)));
  const result = best(results);
  return result === 'full' && asked.generation !== holder.generation ? 'close' : result;
}

function matchWords(asked: readonly Word[], held: readonly Word[]): NameMatch {
  const rotations = rotationsOf(asked);
  // The family name may come first; the given names keep their order.
  if (rotations.some((words) => sameWords(words, held))) return 'full';
  if (asked.length < 2 || held.length < 2) return sameWord(joined(asked), joined(held)) ? 'close' : 'none';
  if (sameBag(asked, held) || sameWord(joined(asked), joined(held))) return 'close';
  if (isPartOf(asked, held) || isPartOf(held, asked)) return 'close';
  const close =
    rotations.some((words) => areCloseNames(words, held)) ||
    rotationsOf(held).some((words) => areCloseNames(asked, words));
  return close ? 'close' : 'none';
}

function rotationsOf(words: readonly Word[]): Word[][] {
  return words.map((_, index) => [...words.slice(index), ...words.slice(0, index)]);
}

/** Names left out, with the first or the last still there. */
function isPartOf(some: readonly Word[], all: readonly Word[]): boolean {
  if (some.length >= all.length) return false;
  const startsOrEnds = sameWord(some[0] ?? [], all[0] ?? []) || sameWord(some.at(-1) ?? [], all.at(-1) ?? []);
  let found = 0;
  for (const word of all) {
    if (found < some.length && sameWord(some[found] ?? [], word)) found += 1;
  }
  return startsOrEnds && found === some.length;
}

/** The same family name, and given names that an initial, a short form or a typing error tells apart. */
function areCloseNames(asked: readonly Word[], held: readonly Word[]): boolean {
  const family = resemblance(asked.at(-1) ?? [], held.at(-1) ?? [], FAMILY_NAME_TYPING_LENGTH_MIN);
  if (family !== 'same' && family !== 'typing-error') return false;
  const given = asked.slice(0, -1);
  const heldGiven = held.slice(0, -1);
  if (family === 'same' && (areInitialsOf(given, heldGiven) || areInitialsOf(heldGiven, given))) return true;
  const first = resemblance(given[0] ?? [], heldGiven[0] ?? [], GIVEN_NAME_TYPING_LENGTH_MIN);
  if (first === 'other') return false;
  const all = [family, first];
  const errors = all.filter((kind) => kind === 'typing-error').length;
  // A guess on top of a guess is no resemblance.
  const guessed = all.filter((kind) => kind !== 'same').length;
  return guessed <= 1 || (errors === guessed && errors <= TYPING_ERRORS_MAX);
}

type Resemblance = 'same' | 'initial' | 'short-form' | 'typing-error' | 'other';

function resemblance(one: Word, other: Word, typingLengthMin: number): Resemblance {
  if (sameWord(one, other)) return 'same';
  if (isInitialOf(one, other) || isInitialOf(other, one)) return 'initial';
  if (areShortForms(one, other)) return 'short-form';
  return isTypingError(one, other, typingLengthMin) ? 'typing-error' : 'other';
}

function isInitialOf(one: Word, other: Word): boolean {
  return one.some((letter) => [...letter].length === 1 && other.some((spelling) => spelling.startsWith(letter)));
}

/** "JA" of "John Andrew". */
function areInitialsOf(some: readonly Word[], names: readonly Word[]): boolean {
  const initials = names.map(([spelling = '']) => [...spelling][0] ?? '').join('');
  return some.length === 1 && names.length > 1 && (some[0] ?? []).includes(initials);
}
