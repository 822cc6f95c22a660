import { describe, expect, test } from 'vitest';
import {
  DIRECTORY_RULES,
  type DirectoryTable,
  directoryFor,
  directoryResult,
  doublyClaimed,
  isComparable,
  unreadableResult,
} from './directories.ts';
import { DIRECTORIES, type DirectoryCode, MATCHED, VERIFICATION_REASONS } from './verifications.ts';

/** Facts of the schemes; a new directory does not compile without its own. */
const CODES: Readonly<Record<DirectoryCode, readonly (readonly [code: string, reason: string, named: boolean])[]>> = {
  'pay-uk': [
    ['ANNM', 'incorrect-account-number', false],
    ['MBAM', 'close-match', true],
    ['BANM', 'corporate-account-name-matched', false],
    ['PANM', 'individual-account-name-matched', false],
    ['BAMM', 'corporate-account-close-match', true],
    ['PAMM', 'individual-account-close-match', true],
    ['AC01', 'incorrect-account-number', false],
    ['IVCR', 'invalid-secondary-identifier', false],
    ['ACNS', 'account-type-not-supported', false],
    ['OPTO', 'opted-out', false],
    ['CASS', 'account-switched', false],
    ['SCNS', 'sort-code-not-supported', false],
  ],
  'eu-vop': [
    ['CMTC', 'close-match', true],
    ['NMTC', 'incorrect-account-number', false],
    ['NOAP', 'account-type-not-supported', false],
  ],
};
const FULL_MATCHES: Readonly<Record<DirectoryCode, string>> = { 'pay-uk': 'MATC', 'eu-vop': 'MTCH' };

describe.each(DIRECTORIES)('%s', (directory) => {
  test.each(CODES[directory])('%s is %s; a name with it is kept: %s', (code, reason, named) => {
    expect(directoryResult(directory, code, 'Mr John Smith')).toEqual({
      matched: false,
      reason,
      schemeReasonCode: code,
      accountHolderName: named ? 'Mr John Smith' : null,
    });
  });

  test('one code is a match, without a name, and there are no others', () => {
    const known = [...CODES[directory].map(([code]) => code), FULL_MATCHES[directory]];
    expect(Object.keys(DIRECTORY_RULES[directory].reasons).sort()).toEqual(known.sort());
    expect(directoryResult(directory, FULL_MATCHES[directory], 'Mr John Smith')).toEqual(MATCHED);
  });

  test('an unknown code, also one of another scheme, is no result', () => {
    const others = DIRECTORIES.filter((other) => other !== directory).map((other) => FULL_MATCHES[other]);
    for (const code of ['XXXX', '', 'toString', '__proto__', ...others]) {
      expect(directoryResult(directory, code, null), code).toBeNull();
    }
  });

  test('an answer that cannot be read is never a match', () => {
    expect(unreadableResult(directory)?.matched ?? false).toBe(false);
  });
});

test('every reason of the interface has its code', () => {
  const reached = Object.values(CODES).flatMap((codes) => codes.map(([, reason]) => reason));
  expect(new Set(reached)).toEqual(new Set(VERIFICATION_REASONS));
});

const TABLE: DirectoryTable = {
  'pay-uk': { currency: 'GBP', countries: ['GB', 'JE'] },
  'eu-vop': { currency: 'EUR', countries: ['DE', 'FR'] },
};

test.each([
  ['GB', 'GBP', 'pay-uk'],
  ['JE', 'GBP', 'pay-uk'],
  ['DE', 'EUR', 'eu-vop'],
  ['GB', 'EUR', null],
  ['DE', 'GBP', null],
  ['CH', 'EUR', null],
  ['US', 'USD', null],
])('an account in %s in %s asks for %s', (country, currency, directory) => {
  expect(directoryFor(TABLE, { country, currency })).toBe(directory);
});

test('a pair of country and currency in two directories is found', () => {
  expect(doublyClaimed(TABLE)).toEqual([]);
  expect(doublyClaimed({ ...TABLE, 'pay-uk': { currency: 'EUR', countries: ['IE', 'FR'] } })).toEqual(['FR and EUR']);
});

test.each([
  ['lei', '529900T8BM49AURSDO55', true],
  ['lei', '529900T8BM49AURSDO56', false],
  ['lei', '529900t8bm49aursdo55', false],
  ['lei', '529900T8BM49AURSDO5', false],
  ['vat-number', 'DE123456789', true],
])('the %s %s can be compared: %s', (type, identificationNumber, comparable) => {
  expect(isComparable({ type, identificationNumber })).toBe(comparable);
});
