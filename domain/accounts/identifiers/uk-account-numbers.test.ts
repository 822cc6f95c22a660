import { expect, test } from 'vitest';
import { checkBankAccount } from '../bank-accounts.ts';
import { ukAccountNumber } from './uk-account-numbers.ts';

test.each([
  ['six digits', '123456', '200052', '00123456', '200052'],
  ['seven digits', '1926819', '601613', '01926819', '601613'],
  ['seven digits without a sort code', '1926819', null, '01926819', null],
  ['eight digits', '31926819', '601613', '31926819', '601613'],
  ['eight digits with spaces', '3192 6819', '601613', '31926819', '601613'],
  ['nine digits of Santander', '123456789', '090000', '23456789', '090001'],
  ['nine digits of Santander whose first the sort code has', '623456789', '090126', '23456789', '090126'],
  ['ten digits of NatWest', '0199999999', '010004', '99999999', '010004'],
  ['ten digits of NatWest with its dash', '01-99999999', '560036', '99999999', '560036'],
  ['ten digits of the Co-operative Bank', '1234567890', '089299', '12345678', '089299'],
])('%s: %s at %s is %s at %s', (_, written, sortCode, accountNumber, changedSortCode) => {
  expect(ukAccountNumber(written, sortCode)).toEqual({ accountNumber, sortCode: changedSortCode });
});

test.each([
  ['five digits', '12345', '601613'],
  ['eleven digits', '12345678901', '601613'],
  ['nine digits without a sort code', '123456789', null],
  ['ten digits without a sort code', '1234567890', null],
  ['nine digits of a bank that does not number so', '123456789', '200052'],
  ['nine digits of Santander that the sort code contradicts', '123456789', '090126'],
  ['nine digits of another bank at 72', '123456789', '720000'],
  ['ten digits of a bank that does not number so', '1234567890', '200052'],
  ['ten digits of a bank that clears through NatWest', '1234567890', '608371'],
  ['ten digits at 08, but not of the Co-operative Bank', '1234567890', '083210'],
  ['letters', '1234567A', '601613'],
  ['other digits', '１２３４５６７８', '601613'],
  ['a dash elsewhere', '012-9999999', '010004'],
  ['nothing', '', '601613'],
])('%s: %j at %s has no certain form', (_, written, sortCode) => {
  expect(ukAccountNumber(written, sortCode)).toBeNull();
});

test('is stored in standard form, with the sort code that it changes', () => {
  const santander = { accountNumber: '123456789', routingCodes: { 'sort-code': '09-00-00' } };
  const { details, problems } = checkBankAccount(
    { country: 'GB', currency: 'GBP', ...santander },
    { entity: 'beneficiary', prefix: '' },
  );
  expect(problems).toEqual([]);
  expect(details).toMatchObject({ accountNumber: '23456789', routingCodes: { 'sort-code': '090001' } });
});

test('is rejected by a message that says what to send', () => {
  const barclays = { accountNumber: '123456789', routingCodes: { 'sort-code': '20-00-52' } };
  const { problems } = checkBankAccount(
    { country: 'GB', currency: 'GBP', ...barclays },
    { entity: 'beneficiary', prefix: '' },
  );
  expect(problems).toMatchObject([
    {
      code: 'common.validation.field_invalid',
      message: expect.stringContaining('Send a longer number as the eight digits'),
      messageParameters: ['beneficiary', 'accountNumber', '123456789'],
    },
  ]);
});
