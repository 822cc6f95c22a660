import { describe, expect, test } from 'vitest';
import { checkBankAccount } from '../../domain/accounts/bank-accounts.ts';
import { drawIdentifiers } from './identifiers.ts';

const PLACES = [
  { currency: 'GBP', country: 'GB', kinds: ['bic', 'sort-code'], iban: /^GB\d\dSBNK040075\d{8}$/ },
  { currency: 'CHF', country: 'GB', kinds: ['bic'], iban: /^GB\d\dSBNK040075\d{8}$/ },
  { currency: 'EUR', country: 'DE', kinds: ['bic'], iban: /^DE\d\d99907500\d{10}$/ },
  { currency: 'EUR', country: 'IE', kinds: ['bic'], iban: /^IE\d\dSBNK990075\d{8}$/ },
  { currency: 'EUR', country: 'FR', kinds: ['bic'], iban: /^FR\d\d9907500001\d{13}$/ },
  { currency: 'USD', country: 'US', kinds: ['aba', 'bic'], iban: null },
  { currency: 'JPY', country: 'JP', kinds: ['bic'], iban: null },
];

describe('identifiers that the bank gives', () => {
  test.each(PLACES)('a $currency account in $country is a valid bank account', ({ currency, country, kinds, iban }) => {
    for (let draw = 0; draw < 200; draw += 1) {
      const identifiers = drawIdentifiers({ currency, country });
      const { details, problems } = checkBankAccount(
        { currency, country, ...identifiers },
        { entity: 'account', prefix: '' },
      );
      expect(problems).toEqual([]);
      expect(details).toMatchObject(identifiers);
      expect(Object.keys(identifiers.routingCodes).sort()).toEqual(kinds);
      if (iban === null) expect(identifiers.iban).toBeNull();
      else expect(identifiers.iban).toMatch(iban);
    }
  });

  test('the key of a French number makes its own sum a multiple of 97', () => {
    const { iban } = drawIdentifiers({ currency: 'EUR', country: 'FR' });
    const bban = iban?.slice(4) ?? '';
    const [bank, branch, account, key] = [bban.slice(0, 5), bban.slice(5, 10), bban.slice(10, 21), bban.slice(21)];
    const sum = 89n * BigInt(bank) + 15n * BigInt(branch) + 3n * BigInt(account) + BigInt(key);
    expect(sum % 97n).toBe(0n);
  });
});
