import anyAscii from 'any-ascii';
import type { BankProfile } from './profiles.ts';

/**
 * The characters of the EPC's Latin set. SWIFT's set X has the same but for line breaks, which no text here has.
 */
const LATIN = /^[A-Za-z0-9/\-?:().,'+ ]+$/;
/** Letters that banks replace by rule, with their marks, and what stands between them. Others have no agreed spelling in Latin letters. */
const REPLACEABLE =
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{M}\p{P}\p{Zs}\p{Sc}\p{Nd}\u00A1-\u00FF\u2100-\u214F$+<=>^`|~]+$/u;
/** What the EPC's best practices replace of the printable characters of ASCII; any other becomes a full stop. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  '&': '+',
  '"': "'",
  ';': ',',
  '<': '(',
  '>': ')',
  '[': '(',
  ']': ')',
  '{': '(',
  '}': ')',
  '`': "'",
  _: '-',
  '~': '-',
  '\\': '/',
  '|': '/',
};
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const UNWRITABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/** The text in the characters that the bank takes, or null if it cannot be written in them. */
export function writableText(text: string, characters: BankProfile['characters']): string | null {
  const composed = text.normalize('NFC').trim();
  if (!LETTER_OR_DIGIT.test(composed) || UNWRITABLE.test(composed)) return null;
  if (characters === 'utf-8' || LATIN.test(composed)) return composed;
  if (!REPLACEABLE.test(composed)) return null;
  const written = anyAscii(composed)
    .replaceAll(/[^A-Za-z0-9/\-?:().,'+ ]/g, (character) => REPLACEMENTS[character] ?? '.')
    .trim();
  return LETTER_OR_DIGIT.test(written) ? written : null;
}

/** The EPC's rule for references: they are never changed, and no part between slashes is empty. */
export function isWritableReference(reference: string): boolean {
  return LATIN.test(reference) && reference.trim() === reference && !/^\/|\/$|\/\//.test(reference);
}
