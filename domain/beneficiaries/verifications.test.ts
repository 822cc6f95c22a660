import { expect, test } from 'vitest';
import { payUkResult, VERIFICATION_REASONS } from './verifications.ts';

const CODES: readonly (readonly [code: string, reason: string, named: boolean])[] = [
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
];

test.each(CODES)('%s is %s; a name with it is kept: %s', (code, reason, named) => {
  expect(payUkResult(code, 'Mr John Smith')).toEqual({
    matched: false,
    reason,
    schemeReasonCode: code,
    accountHolderName: named ? 'Mr John Smith' : null,
  });
});

test('every reason has its code, and an unknown code has no result', () => {
  expect(new Set(CODES.map(([, reason]) => reason))).toEqual(new Set(VERIFICATION_REASONS));
  for (const code of ['XXXX', '', 'toString', 'MATC']) expect(payUkResult(code, null)).toBeNull();
});
