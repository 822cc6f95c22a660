/**
 * What a caller may write into a name or another free text. Names of every script pass and are kept as sent, in
 * Unicode's composed form (NFC); what would break storage, logs or the reader's eye does not.
 */
export type TextProblem =
  | 'empty'
  | 'too-long'
  | 'lone-surrogate'
  | 'control-character'
  | 'bidirectional-character'
  | 'invisible-character'
  | 'too-many-combining-marks';

/** ISO 20022 gives a party's name 140 characters; a longer one could not be sent to any bank. */
export const NAME_LENGTH_MAX = 140;
/** Given and family name, and the space between. */
export const FULL_NAME_LENGTH_MAX = 2 * NAME_LENGTH_MAX + 1;
/** Remittance information and the like: ISO 20022's 140 characters. */
export const DESCRIPTION_LENGTH_MAX = 140;
/** Lines of an address; ISO 20022 has 70 for each. */
export const ADDRESS_LINE_LENGTH_MAX = 70;
export const ALIAS_LENGTH_MAX = 30;

/** Vietnamese, Hebrew with points, Arabic, Thai and Tibetan need up to four on one letter; a heap of them is an attack. */
const COMBINING_MARKS_MAX = 4;

// Cc holds NUL and the line breaks; U+2028 and U+2029 are line breaks of their own.
const CONTROL = /[\p{Cc}\u2028\u2029]/u;
const BIDIRECTIONAL = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;
// Invisible without a use in any script. U+200C and U+200D stay: Persian and Indic names need them.
const INVISIBLE =
  /[\u200B\u2060-\u2064\u206A-\u206F\uFEFF\uFFF0-\uFFFB\u{E0000}-\u{E0FFF}\p{Co}\p{Noncharacter_Code_Point}]/u;
const COMBINING_HEAP = new RegExp(`\\p{M}{${COMBINING_MARKS_MAX + 1}}`, 'u');
const SOMETHING_VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;

export interface TextChecked {
  readonly value: string;
}

/** The text in NFC, or why it is refused. The length is counted in characters (code points) after composing. */
export function checkText(text: string, lengthMax: number): TextChecked | TextProblem {
  // Before any regular expression: a megabyte costs nothing to refuse. A character is at most two UTF-16 units, and
  // composing shortens a legitimate one by no more than its marks.
  if (text.length > lengthMax * 2 * (COMBINING_MARKS_MAX + 1)) return 'too-long';
  if (/\p{Cs}/u.test(text)) return 'lone-surrogate';
  if (CONTROL.test(text)) return 'control-character';
  if (BIDIRECTIONAL.test(text)) return 'bidirectional-character';
  if (INVISIBLE.test(text)) return 'invisible-character';
  const value = text.normalize('NFC');
  if (COMBINING_HEAP.test(value)) return 'too-many-combining-marks';
  if ([...value].length > lengthMax) return 'too-long';
  if (!SOMETHING_VISIBLE.test(value)) return 'empty';
  return { value };
}

/** A client's or beneficiary's full name (specification 2.2): given and family name, or the legal name. */
export function fullNameOf(
  identity:
    | { readonly type: 'individual'; readonly givenName: string; readonly familyName: string }
    | { readonly type: 'corporate'; readonly legalName: string },
): string {
  return identity.type === 'corporate' ? identity.legalName : `${identity.givenName} ${identity.familyName}`;
}
