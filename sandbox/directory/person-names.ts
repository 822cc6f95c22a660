import { isSpelled, isTypingError, joined, sameWord, sameWords, sameWordsInAnyOrder, type Word } from './name-words.ts';
import { genderOf, type Person, peopleOf } from './people.ts';
import { canBePaired } from './several-names.ts';
import { areShortForms, isGivenName } from './short-names.ts';

export type NameMatch = 'full' | 'close' | 'none';

/** In shorter names, one different letter makes a different name: Joan and John, Hall and Hill. */
const GIVEN_NAME_TYPING_LENGTH_MIN = 5;
const FAMILY_NAME_TYPING_LENGTH_MIN = 5;
const TYPING_ERRORS_MAX = 2;

/** Compares a requested personal name with an account's; either may list the holders of a joint account. */
export function matchPersons(asked: string, held: string): NameMatch {
  const askedPeople = peopleOf(asked);
  const holders = peopleOf(held);
  if (askedPeople.length === 0) return 'none';
  if (canBePaired(askedPeople, holders, (person, holder) => matchPerson(person, holder) === 'full')) return 'full';
  const some = askedPeople.some((person) => holders.some((holder) => matchPerson(person, holder) !== 'none'));
  return some ? 'close' : 'none';
}

export function best(matches: readonly NameMatch[]): NameMatch {
  if (matches.includes('full')) return 'full';
  return matches.includes('close') ? 'close' : 'none';
}

function matchPerson(asked: Person, holder: Person): NameMatch {
  if (asked.generation !== null && holder.generation !== null && asked.generation !== holder.generation) return 'none';
  const results = asked.forms.flatMap((words, index) =>
    holder.forms.map((others, other) => {
      const match = matchWords(words, others);
      // If both are joined, the words may have been divided differently: de Lara, del Ara.
      return match === 'full' && index > 0 && other > 0 ? 'close' : match;
    }),
  );
  const result = best(results);
  return result === 'full' && isDoubtful(asked, holder) ? 'close' : result;
}

/** Whether the same name may mean another person, such as father and son, or husband and wife. */
function isDoubtful(asked: Person, holder: Person): boolean {
  if (asked.generation !== holder.generation || asked.doubt !== holder.doubt) return true;
  if (asked.commaAfter !== holder.commaAfter) return true;
  const sameTitles = asked.titles.join(' ') === holder.titles.join(' ');
  if (asked.isCouple && !(holder.isCouple && sameTitles)) return true;
  const [some, others] = [asked.hyphened, holder.hyphened];
  // A missing hyphen does not matter, but one in another place does: Anna Smith-Jones, Anna-Smith Jones.
  if (some.length > 0 && others.length > 0 && !some.some((word) => others.some((other) => sameWord(word, other))))
    return true;
  const isOneWord = (asked.forms[0] ?? []).length === 1;
  if (isOneWord && !sameTitles) return true;
  const genders = [genderOf(asked), genderOf(holder)];
  return genders.includes('man') && genders.includes('woman');
}

function matchWords(asked: readonly Word[], held: readonly Word[]): NameMatch {
  if (sameWords(asked, held)) return 'full';
  if (asked.length < 2 || held.length < 2) return sameWord(joined(asked), joined(held)) ? 'close' : 'none';
  // Another order means another person, or the same one with the family name first: James Thomas, Thomas James.
  if (sameWordsInAnyOrder(asked, held) || sameWord(joined(asked), joined(held))) return 'close';
  if (isPartOf(asked, held) || isPartOf(held, asked)) return 'close';
  const close =
    rotationsOf(asked).some((words) => areCloseNames(words, held)) ||
    rotationsOf(held).some((words) => areCloseNames(asked, words));
  return close ? 'close' : 'none';
}

function rotationsOf(words: readonly Word[]): Word[][] {
  return words.map((_, index) => [...words.slice(index), ...words.slice(0, index)]);
}

/** Whether one name is the other with some words missing, but not both the first and the last. */
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

/** The same family name, with given names that differ by an initial, a short form or a typing error. */
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
  // Two approximations are too many, except two typing errors.
  const guessed = all.filter((kind) => kind !== 'same').length;
  return guessed <= 1 || (errors === guessed && errors <= TYPING_ERRORS_MAX);
}

/** One known given name is not a typing error of another: Paul is not Paula, but Zoé may be Zoë. */
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
