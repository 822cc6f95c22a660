import { COMMON_PASSWORDS, COMMON_WORDS } from './common-passwords.ts';

/**
 * Passwords are judged by their length and by how early a guesser would try them, not by classes of characters. Lengths
 * count characters as a reader sees them in the composed form, in which a password is also hashed.
 */
export const PASSWORD_LENGTH_MIN = 12;
/** Bounds what is hashed. */
export const PASSWORD_LENGTH_MAX = 128;
/**
 * UTF-16 units of a password as sent. A character with all its marks takes at most four before it is composed; composing a
 * longer text takes seconds (one unit can become 18 characters), so it is refused by its length first.
 */
export const PASSWORD_UNITS_MAX = 4 * PASSWORD_LENGTH_MAX;

export type PasswordProblem = 'too-short' | 'too-long' | 'common' | 'personal';

/** The same characters, however a keyboard composed them. */
export function normalizePassword(password: string): string {
  return password.normalize('NFKC');
}

/** Why a password is refused, or null. `personal` holds words that anybody who knows the person would try. */
export function checkPassword(password: string, personal: readonly string[]): PasswordProblem | null {
  if (password.length > PASSWORD_UNITS_MAX) return 'too-long';
  const normal = normalizePassword(password);
  const length = [...normal].length;
  if (length < PASSWORD_LENGTH_MIN) return 'too-short';
  if (length > PASSWORD_LENGTH_MAX) return 'too-long';
  const lower = normal.toLowerCase();
  if (isCommon(lower)) return 'common';
  return personal.some((word) => isLittleMoreThan(lower, word.toLowerCase())) ? 'personal' : null;
}

/** Fewer different characters than this are a pattern, whatever they are. */
const DIFFERENT_CHARACTERS_MIN = 5;

const LOOKALIKES: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'l',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '@': 'a',
  $: 's',
};
const SEQUENCES = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
];

function isCommon(lower: string): boolean {
  if (COMMON_PASSWORDS.has(lower) || new Set(lower).size < DIFFERENT_CHARACTERS_MIN) return true;
  if (SEQUENCES.some((sequence) => isWithin(lower, sequence) || isWithin([...lower].reverse().join(''), sequence))) {
    return true;
  }
  // `Password1234!`: a common word among digits and signs. `p4ssw0rd…`: the same in disguise.
  return [lower, undisguised(lower), undisguised(trimmed(lower))].some((text) => {
    const letters = text.replace(/[^\p{L}]+/gu, '');
    return letters === '' || isRepeatOfWord(letters);
  });
}

function undisguised(text: string): string {
  return text.replace(/[01345@$]/g, (sign) => LOOKALIKES[sign] ?? sign);
}

function isWithin(text: string, sequence: string): boolean {
  return `${sequence}${sequence}`.includes(text);
}

/** Without the digits and signs at both ends, which stand for themselves. */
function trimmed(text: string): string {
  return text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
}

function isRepeatOfWord(letters: string): boolean {
  for (let length = 3; length <= letters.length; length += 1) {
    const word = letters.slice(0, length);
    if (letters === word.repeat(letters.length / length) && COMMON_WORDS.has(word)) return true;
  }
  return false;
}

/** A name or address of the person with a few characters around it. */
function isLittleMoreThan(lower: string, word: string): boolean {
  const WORD_LENGTH_MIN = 4;
  const ADDED_LENGTH_MAX = 8;
  return word.length >= WORD_LENGTH_MIN && lower.includes(word) && lower.length - word.length <= ADDED_LENGTH_MAX;
}
