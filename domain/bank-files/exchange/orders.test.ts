import { expect, test } from 'vitest';
import { readBankProfile } from '../../../config/bank-profiles/bank-profiles.ts';
import { type Order, problemOfOrder } from './orders.ts';

const [sepa, uk] = ['sepa', 'uk'].map((code) => readBankProfile(code, `config/bank-profiles/${code}.json`));

const ORDER: Order = {
  amountMinor: 100n,
  currency: 'EUR',
  scheme: 'sepa',
  description: 'Invoice 7',
  schemeAttributes: null,
  bankAccountId: 'the bank account',
  creditor: {
    name: 'Ana Müller',
    country: 'DE',
    iban: 'DE89370400440532013000',
    accountNumber: null,
    routingCodes: null,
  },
  transferDate: '2026-12-01',
  source: { id: 'the account', accountHolderName: 'Ada Lovelace' },
};

const parametersOf = (changed: Partial<Order>, profile = sepa) =>
  profile === undefined ? undefined : problemOfOrder({ ...ORDER, ...changed }, profile)?.messageParameters.slice(1);

test('what a bank would not take names the field of the request', () => {
  expect(parametersOf({})).toBeUndefined();
  expect(parametersOf({ description: null })).toBeUndefined();
  expect(parametersOf({ description: '株' })).toEqual(['description', '']);
  expect(parametersOf({ description: 'x'.repeat(141) })).toEqual(['description', '']);
  expect(parametersOf({ scheme: 'target2' })).toEqual(['scheme', 'target2']);
  expect(parametersOf({ creditor: { ...ORDER.creditor, name: 'x'.repeat(71) } })).toEqual([
    'destination.beneficiaryBankAccountId',
    'the bank account',
  ]);
  expect(parametersOf({ creditor: { ...ORDER.creditor, iban: null, accountNumber: '123' } })).toEqual([
    'destination.beneficiaryBankAccountId',
    'the bank account',
  ]);
  const source = { id: 'the account', accountHolderName: '株'.repeat(2) };
  expect(parametersOf({ source })).toEqual(['source.accountId', 'the account']);
  expect(parametersOf({ schemeAttributes: { 'purpose-code': 'salary' } })).toEqual([
    'schemeAttributes.purpose-code',
    '',
  ]);
  expect(parametersOf({ schemeAttributes: { 'trade-name': 'x' } })).toEqual(['schemeAttributes.trade-name', '']);
  expect(parametersOf({ scheme: 'chaps', currency: 'GBP' }, uk)).toEqual([
    'destination.beneficiaryBankAccountId',
    'the bank account',
  ]);
});

test('the message names the rule, and repeats no text of the payment', () => {
  const problem = sepa === undefined ? null : problemOfOrder({ ...ORDER, description: 'x'.repeat(141) }, sepa);
  expect(problem).toMatchObject({
    code: 'common.validation.field_invalid',
    message: 'The bank takes at most 140 characters, as it writes them. Its rule for remittanceText is length.',
  });
});
