import { expect, test } from 'vitest';
import { type NearAccount, type UnmatchedReceiver, whyNotChosen } from './near-accounts.ts';

const ACCOUNT: NearAccount = {
  id: 'one',
  mainAccountId: null,
  status: 'active',
  provider: 'sandbox-bank',
  currency: 'GBP',
  iban: 'GB33BUKB20201555555555',
  accountNumber: '31926819',
  routingCodes: { 'sort-code': '601613' },
  ledgerNumber: '000000000195',
};

const MONEY: UnmatchedReceiver = {
  provider: 'sandbox-bank',
  currency: 'GBP',
  iban: null,
  accountNumber: '31926819',
  routingCodes: { 'sort-code': '601613' },
  ledgerNumbers: [],
};

const OTHER = { ...ACCOUNT, id: 'other', ledgerNumber: '000000000292' };
const NUMBERS = ['000000000195', '000000000292'];

test.each<[Partial<NearAccount>, Partial<UnmatchedReceiver>, NearAccount[], string]>([
  [
    {},
    { iban: ACCOUNT.iban, currency: 'EUR' },
    [],
    'has the IBAN of the payment, but holds GBP, and the money is EUR.',
  ],
  [
    { provider: 'other-bank' },
    {},
    [],
    'has the account number of the payment, but is an account of other-bank, and the money is at sandbox-bank.',
  ],
  [
    {},
    { routingCodes: { 'sort-code': '040004' } },
    [],
    'has the account number of the payment, but has the sort-code 601613, and the payment says 040004.',
  ],
  [
    { iban: null },
    { routingCodes: { 'sort-code': '040004' } },
    [],
    'has the account number of the payment, but has the sort-code 601613, and the payment says 040004.',
  ],
  [{}, { routingCodes: {} }, [], 'has the account number of the payment, but the payment has no routing code of it.'],
  [
    {},
    { routingCodes: { bic: 'BUKBGB22' } },
    [],
    'has the account number of the payment, but the payment has no routing code of it.',
  ],
  [
    { mainAccountId: 'main' },
    {},
    [],
    'has the account number of the payment, but is a sub-account, and the reference lacks its ledger number.',
  ],
  [
    {},
    {},
    [OTHER],
    'has the account number of the payment, but shares it with another account, and the reference has no ledger number to tell them apart.',
  ],
  [
    {},
    { ledgerNumbers: NUMBERS },
    [OTHER],
    'has the ledger number in the payment’s reference, but the reference has the ledger numbers of several accounts.',
  ],
  [
    {},
    { ledgerNumbers: NUMBERS },
    [],
    'has the ledger number in the payment’s reference, but the payment’s bank details are those of another account.',
  ],
  [
    { status: 'closed' },
    {},
    [],
    'has the account number of the payment, but is closed, and was so when the money arrived.',
  ],
  [{}, {}, [], 'has the account number of the payment, but did not have it, or was not open, when the money arrived.'],
])('account %j, money %j', (account, money, others, words) => {
  const one = { ...ACCOUNT, ...account };
  expect(whyNotChosen(one, { ...MONEY, ...money }, [one, ...others])).toBe(words);
});
