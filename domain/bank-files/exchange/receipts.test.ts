import { expect, test } from 'vitest';
import { isOtherPayer, isPooledAccount } from './receipts.ts';

type Pooled = { readonly iban?: string; readonly accountNumber?: string; readonly sortCode?: string };

const provider = ({ iban, accountNumber, sortCode }: Pooled) => ({
  offers: [
    {
      currencies: null,
      countries: null,
      defaultCountry: 'GB',
      schemes: [],
      bank: {
        name: 'Bank',
        address: 'Street',
        country: 'GB',
        routingCodes: sortCode === undefined ? {} : { 'sort-code': sortCode },
        intermediary: null,
        pooledAccount: {
          accountHolderName: 'Clients Ltd',
          iban: iban ?? null,
          accountNumber: accountNumber ?? null,
        },
      },
    },
  ],
});

const BRITISH = provider({ accountNumber: '31926819', sortCode: '60-16-13' });
const BY_IBAN = provider({ iban: 'GB29NWBK60161331926819' });
const GERMAN = provider({ iban: 'DE89370400440532013000' });

test.each([
  [BRITISH, '31926819', true],
  [BRITISH, '60161331926819', true],
  [BRITISH, '60-16-13 31926819', true],
  [BRITISH, 'GB29NWBK60161331926819', true],
  [BRITISH, '20000031926819', false],
  [BRITISH, 'GB61BARC20000031926819', false],
  [BRITISH, '26819', false],
  [BY_IBAN, '31926819', true],
  [BY_IBAN, '20000031926819', false],
  [GERMAN, 'DE89 3704 0044 0532 0130 00', true],
  [GERMAN, '0532013000', true],
  [GERMAN, '13000', false],
])('%#: an account that a bank names %s is ours: %s', (ours, named, expected) => {
  expect(isPooledAccount(ours, named)).toBe(expected);
});

const payer = (name: string | null, iban: string | null = null, accountNumber: string | null = null) => ({
  name,
  iban,
  accountNumber,
});

test.each([
  [payer('Grace Hopper'), payer(null), false],
  [payer('Grace Hopper'), payer('GRACE  HOPPER'), false],
  [payer('Grace Hopper and Sons'), payer('Grace Hopper and'), false],
  [payer('Jürgen Müller'), payer('MUELLER JUERGEN'), false],
  [payer('Mr G Hopper'), payer('Hopper Grace'), false],
  [payer('Grace Hopper'), payer('Alan Turing'), true],
  [payer('Grace Hopper', null, '55779911'), payer('G. Hopper', null, '55-779911'), false],
  [payer('Grace Hopper', null, '55779911'), payer('Grace Hopper', null, '55779912'), true],
  [payer('Grace Hopper', 'GB29NWBK60161331926819'), payer('Grace Hopper', null, '31926819'), false],
])('%#: two messages name one payer, unless they contradict each other', (one, other, expected) => {
  expect(isOtherPayer(one, other)).toBe(expected);
});
