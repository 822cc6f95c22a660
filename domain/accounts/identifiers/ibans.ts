import { countrySpecs } from 'ibantools';
import { remainder97 } from '../../common/numbers/check-digits.ts';

/**
 * Where the library's structures differ from the SWIFT IBAN registry (release 101, January 2026), or, for Côte d'Ivoire, from the one
 * that the banks of the West African union share: two letters, or in older numbers a letter and a digit.
 */
export const CORRECTIONS: Readonly<Record<string, string>> = {
  BY: '[A-Z0-9]{4}[0-9]{4}[A-Z0-9]{16}',
  CI: '[A-Z0-9]{2}[0-9]{22}',
  DO: '[A-Z0-9]{4}[0-9]{20}',
  GE: '[A-Z]{2}[0-9]{16}',
  IE: '[A-Z]{4}[0-9]{14}',
  PK: '[A-Z]{4}[A-Z0-9]{16}',
  PS: '[A-Z]{4}[A-Z0-9]{21}',
  TR: '[0-9]{6}[A-Z0-9]{16}',
  VG: '[A-Z]{4}[0-9]{16}',
};

/** The pattern after country and check digits, by country. Not all of the library’s patterns are anchored. */
const ACCOUNT_PARTS: ReadonlyMap<string, RegExp> = new Map(
  Object.entries(countrySpecs).flatMap(([country, { bban_regexp: pattern }]) =>
    pattern ? [[country, new RegExp(`^(?:${CORRECTIONS[country] ?? pattern})$`)] as const] : [],
  ),
);

/** Null for a country without IBANs. */
export function accountPart(country: string): RegExp | null {
  return ACCOUNT_PARTS.get(country) ?? null;
}

/** In upper case, without spaces. Not validated yet. */
export function normalIban(iban: string): string {
  // Only a to z: toUpperCase on the whole text would turn some non-ASCII letters into ASCII ones.
  return iban.replaceAll(' ', '').replace(/[a-z]/g, (letter) => letter.toUpperCase());
}

/**
 * Checks structure and length by country, and mod 97. Ignores national check digits: banks issue exceptions to them, and
 * mod 97 already catches typing errors.
 */
export function isIban(iban: string): boolean {
  if (!/^[A-Z]{2}[0-9]{2}/.test(iban) || !accountPart(iban.slice(0, 2))?.test(iban.slice(4))) return false;
  const digits = (iban.slice(4) + iban.slice(0, 4)).replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  const check = Number(iban.slice(2, 4));
  // 00, 01 and 99 can also leave remainder 1, but valid check digits run from 02 to 98.
  return check >= 2 && check <= 98 && remainder97(digits) === 1;
}
