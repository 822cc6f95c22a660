/**
 * Free text from callers, such as names. Names of every script are accepted and stored in Unicode's composed form (NFC);
 * text that would break storage or logs, or deceive a reader, is not.
 */
export type TextProblem =
  | 'empty'
  | 'too-long'
  | 'lone-surrogate'
  | 'control-character'
  | 'bidirectional-character'
  | 'invisible-character'
  | 'too-many-combining-marks';

/** ISO 20022 allows 140 characters for a party's name; no bank could receive a longer one. */
export const NAME_LENGTH_MAX = 140;
/** Given and family name with a space between them. */
export const FULL_NAME_LENGTH_MAX = 2 * NAME_LENGTH_MAX + 1;
/** A payer's or payee's name in answers: a full name, or the name that a bank reports. */
export const SHOWN_NAME_LENGTH_MAX = 300;
/** The payer's message, as its bank reports it. */
export const SENDER_INFORMATION_LENGTH_MAX = 500;
/** Remittance information and the like; ISO 20022 allows 140 characters. */
export const DESCRIPTION_LENGTH_MAX = 140;
/** Address lines; ISO 20022 allows 70 characters each. */
export const ADDRESS_LINE_LENGTH_MAX = 70;
export const ALIAS_LENGTH_MAX = 30;
/** Why an operator did something, in one line. */
export const REASON_LENGTH_MAX = 200;

/** Vietnamese, pointed Hebrew, Arabic, Thai and Tibetan need up to four marks on one letter; more is an attack. */
const COMBINING_MARKS_MAX = 4;

// Cc includes NUL and the ASCII line breaks; U+2028 and U+2029 are line breaks too.
const CONTROL = /[\p{Cc}\u2028\u2029]/u;
const BIDIRECTIONAL = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;
// Invisible characters that no script needs. Persian and Indic names need U+200C and U+200D, so these stay.
const INVISIBLE =
  /[\u200B\u2060-\u2064\u206A-\u206F\uFEFF\uFFF0-\uFFFB\u{E0000}-\u{E0FFF}\p{Co}\p{Noncharacter_Code_Point}]/u;
const EXCESS_MARKS = new RegExp(`\\p{M}{${COMBINING_MARKS_MAX + 1}}`, 'u');
const SOMETHING_VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;

export interface TextChecked {
  readonly value: string;
}

/** The text in NFC, or its problem. Length counts characters (code points) after composition. */
export function checkText(text: string, lengthMax: number): TextChecked | TextProblem {
  // Checked before any regular expression, so that rejecting a megabyte costs nothing. A character has at most two UTF-16
  // units, and composition shortens a legitimate one by no more than its marks.
  if (text.length > lengthMax * 2 * (COMBINING_MARKS_MAX + 1)) return 'too-long';
  if (/\p{Cs}/u.test(text)) return 'lone-surrogate';
  if (CONTROL.test(text)) return 'control-character';
  if (BIDIRECTIONAL.test(text)) return 'bidirectional-character';
  if (INVISIBLE.test(text)) return 'invisible-character';
  const value = text.normalize('NFC');
  if (EXCESS_MARKS.test(value)) return 'too-many-combining-marks';
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

const REJECTED_CHARACTERS = new RegExp(`${CONTROL.source}|${BIDIRECTIONAL.source}|${INVISIBLE.source}|\\p{Cs}`, 'gu');
const LINE_BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/gu;
const EXCESS_MARKS_IN_TEXT = new RegExp(`(\\p{M}{${COMBINING_MARKS_MAX}})\\p{M}+`, 'gu');
const CUT = '…';

/**
 * Makes text pass `checkText`, for senders who cannot be asked to correct it: removes rejected characters, replaces line breaks by
 * spaces, and ends a text that was too long with an ellipsis. Empty if nothing visible is left.
 */
export function cleanText(text: string, lengthMax: number): string {
  const plain = text
    .replace(LINE_BREAKS, ' ')
    .replace(REJECTED_CHARACTERS, '')
    .normalize('NFC')
    .replace(EXCESS_MARKS_IN_TEXT, '$1');
  const characters = [...plain];
  const kept = characters.length > lengthMax ? characters.slice(0, lengthMax - 1).join('') + CUT : plain;
  return SOMETHING_VISIBLE.test(kept) ? kept : '';
}
