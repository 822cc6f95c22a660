import { COMMON_PASSWORDS, COMMON_WORDS } from './common-passwords.ts';

/**
 * Passwords are rated by length and by how early an attacker would guess them, not by character classes. Lengths count characters
 * in the prepared form, which is also the form that is hashed.
 */
export const PASSWORD_LENGTH_MIN = 12;
/** Limits the work of hashing. */
export const PASSWORD_LENGTH_MAX = 128;
/**
 * The longest password as sent, in UTF-16 units; a character with all its marks has at most four. The limit applies before
 * composition, which takes seconds on a megabyte.
 */
export const PASSWORD_UNITS_MAX = 4 * PASSWORD_LENGTH_MAX;

export type PasswordProblem = 'too-short' | 'too-long' | 'character' | 'common' | 'personal';

/**
 * RFC 8264's free-form class: letters, marks, numbers, punctuation, symbols and spaces; no invisible, control or unassigned
 * characters.
 */
const CHARACTERS = /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}]*$/u;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;
/** Conjoining jamo, which compose to syllables on some systems and stay separate on others. */
const OLD_HANGUL = /[\u1100-\u11FF\uA960-\uA97C\uD7B0-\uD7FB]/u;
/** U+200C and U+200D within a word, where Persian and Indic scripts need them. */
const JOINER_IN_WORD = /(?<=[\p{L}\p{M}])[\u200C\u200D](?=[\p{L}\p{M}])/gu;

/**
 * Normalizes a password by RFC 8265's OpaqueString, whichever way a keyboard composes it: every space is U+0020, and the text is in
 * NFC. Every entry point accepts passwords only through this function; rejected text cannot be a user's password.
 */
export function preparePassword(text: string): { readonly password: string } | { readonly problem: PasswordProblem } {
  if (text.length > PASSWORD_UNITS_MAX) return { problem: 'too-long' };
  const password = text.replace(/\p{Zs}/gu, ' ').normalize('NFC');
  const visible = password.replace(JOINER_IN_WORD, '');
  if (!CHARACTERS.test(visible) || INVISIBLE.test(visible) || OLD_HANGUL.test(visible)) return { problem: 'character' };
  return [...password].length > PASSWORD_LENGTH_MAX ? { problem: 'too-long' } : { password };
}

/** Why a new password is rejected, or null. `personal` holds words that anyone who knows the person would try. */
export function checkPassword(text: string, personal: readonly string[]): PasswordProblem | null {
  const prepared = preparePassword(text);
  if ('problem' in prepared) return prepared.problem;
  if ([...prepared.password].length < PASSWORD_LENGTH_MIN) return 'too-short';
  const lower = prepared.password.toLowerCase();
  if (isCommon(lower)) return 'common';
  return personal.some((word) => isLittleMoreThan(lower, word.toLowerCase())) ? 'personal' : null;
}

/** Fewer distinct characters than this form a pattern. */
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
  // `Password1234!` is a common word with digits and symbols; `p4ssw0rd…` is the same in disguise.
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

/** Removes leading and trailing digits and symbols, which are literal there. */
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

/** Whether the password is one of the person's names or addresses with a few characters added. */
function isLittleMoreThan(lower: string, word: string): boolean {
  const WORD_LENGTH_MIN = 4;
  const ADDED_LENGTH_MAX = 8;
  return word.length >= WORD_LENGTH_MIN && lower.includes(word) && lower.length - word.length <= ADDED_LENGTH_MAX;
}
