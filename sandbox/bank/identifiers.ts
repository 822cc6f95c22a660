import { randomInt } from 'node:crypto';
import { checkDigits97 } from '../../domain/common/numbers/check-digits.ts';
import type { Identifiers } from './books.ts';

/** Identifiers of a fictitious bank, drawn at random so that they also differ from those of an earlier sandbox. */
const BANK_CODE = 'SBNK';
export const SORT_CODE = '040075';
const IRISH_SORT_CODE = '990075';
const GERMAN_BANK_CODE = '99907500';
const FRENCH_BANK_CODE = '99075';
const FRENCH_BRANCH_CODE = '00001';
/** Nine digits whose weighted sum (3, 7, 1) is a multiple of ten. */
const ABA = '000000754';

export function bicOf(country: string): string {
  return `${BANK_CODE}${country}2L`;
}

interface Place {
  readonly currency: string;
  readonly country: string;
}

/** The number of digits of account numbers; ten in other countries. */
const NUMBER_LENGTHS: Readonly<Record<string, number>> = { GB: 8, IE: 8, DE: 10, FR: 11 };

/** Identifiers of a new account. The caller draws again if they are taken. */
export function drawIdentifiers(place: Place): Identifiers {
  return identifiersOf(place, digits(NUMBER_LENGTHS[place.country] ?? 10));
}

/** The identifiers of the account with this number. */
export function identifiersOf(place: Place, accountNumber: string): Identifiers {
  const bic = { bic: bicOf(place.country) };
  switch (place.country) {
    case 'GB': {
      const iban = ibanOf('GB', BANK_CODE + SORT_CODE + accountNumber);
      const local = place.currency === 'GBP' ? { 'sort-code': SORT_CODE } : {};
      return { iban, accountNumber, routingCodes: { ...local, ...bic } };
    }
    case 'IE': {
      return { iban: ibanOf('IE', BANK_CODE + IRISH_SORT_CODE + accountNumber), accountNumber, routingCodes: bic };
    }
    case 'DE': {
      return { iban: ibanOf('DE', GERMAN_BANK_CODE + accountNumber), accountNumber, routingCodes: bic };
    }
    case 'FR': {
      const bban = FRENCH_BANK_CODE + FRENCH_BRANCH_CODE + accountNumber;
      return { iban: ibanOf('FR', bban + frenchKey(accountNumber)), accountNumber, routingCodes: bic };
    }
    case 'US':
      return { iban: null, accountNumber, routingCodes: { aba: ABA, ...bic } };
    default:
      return { iban: null, accountNumber, routingCodes: bic };
  }
}

function digits(length: number): string {
  let text = String(randomInt(1, 10));
  while (text.length < length) text += String(randomInt(0, 10));
  return text;
}

export function ibanOf(country: string, bban: string): string {
  const numeric = [...(bban + country)].map((character) => Number.parseInt(character, 36)).join('');
  return country + checkDigits97(numeric) + bban;
}

/** The RIB key, by the weights of the French scheme. */
function frenchKey(accountNumber: string): string {
  const weighted = 89n * BigInt(FRENCH_BANK_CODE) + 15n * BigInt(FRENCH_BRANCH_CODE) + 3n * BigInt(accountNumber);
  return String(97n - (weighted % 97n)).padStart(2, '0');
}
