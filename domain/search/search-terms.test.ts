import { expect, test } from 'vitest';
import { isExact, searchTermsOf } from './search-terms.ts';

const by = (text: string) => searchTermsOf(text).map((term) => term.by);

test('an id is found in any spelling, and also as a reference that a bank may have made of it', () => {
  const id = '0198c2f4-7d1a-7cc3-9a55-2f3b1c0d9e8f';
  for (const written of [id, id.toUpperCase(), id.replaceAll('-', ''), ` ${id} `]) {
    expect(searchTermsOf(written)[0]).toEqual({ by: 'id', value: id });
    expect(by(written)).toEqual(['id', 'reference']);
  }
});

test.each([
  ['20261124-abc123', 'transaction-number', '20261124-ABC123'],
  ['000000000195', 'ledger-number', '000000000195'],
  ['0000000195', 'client-number', '0000000195'],
  ['gb33 BUKB 2020 1555 5555 55', 'iban', 'GB33BUKB20201555555555'],
  ['Ada@Example.com', 'email', 'ada@example.com'],
  ['Lovelace', 'name', 'Lovelace'],
  ['SBP-17/a', 'reference', 'SBP-17/a'],
] as const)('%s is looked up as %s', (text, kind, value) => {
  expect(searchTermsOf(text)).toContainEqual({ by: kind, value });
});

test('an account number is looked up as any country stores it, and as Britain does', () => {
  expect(searchTermsOf('3192 6819')).toContainEqual({
    by: 'account-number',
    value: '31926819',
    sterling: '31926819',
  });
  expect(searchTermsOf('1926819')).toContainEqual({ by: 'account-number', value: '1926819', sterling: '01926819' });
});

test('an amount with a date is exact in each currency that has such an amount', () => {
  expect(searchTermsOf('1250.5 GBP 2026-11-24')).toEqual([
    { by: 'amount', amounts: [{ currency: 'GBP', amountMinor: 125_050n }], date: '2026-11-24' },
  ]);
  const [term] = searchTermsOf('2026-11-24 1250.5');
  const currencies = term?.by === 'amount' ? term.amounts.map(({ currency }) => `${currency}`) : [];
  expect(currencies).toContain('EUR');
  expect(currencies).not.toContain('JPY');
});

test.each(['', ' ', '1250.00', '2026-11-24', 'GBP', '-'])('%j is no amount with a date', (text) => {
  expect(by(text)).not.toContain('amount');
});

test('nothing is looked for by an empty text; names and amounts are not exact', () => {
  expect(searchTermsOf('  ')).toEqual([]);
  expect(searchTermsOf('x'.repeat(141)).filter(isExact)).toEqual([]);
  expect(searchTermsOf('1250.00 2026-11-24').some(isExact)).toBe(false);
});
