import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CURRENCIES, formatAmount, isCurrency, minorUnits, money, parseAmountMinor } from './money.ts';

const currency = fc.constantFrom(...CURRENCIES);

describe('currencies', () => {
  test('every active ISO 4217 code has its minor units, and nothing else is money', () => {
    const counts = new Map<number, number>();
    for (const code of CURRENCIES) counts.set(minorUnits(code), (counts.get(minorUnits(code)) ?? 0) + 1);
    expect(Object.fromEntries(counts)).toEqual({ 0: 17, 2: 139, 3: 7, 4: 2 });
    for (const code of 'XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX HRK gbp GB'.split(' ')) {
      expect(isCurrency(code), code).toBe(false);
      expect(() => minorUnits(code)).toThrow(RangeError);
      expect(() => money(1n, code)).toThrow(RangeError);
    }
  });
});

describe('parseAmountMinor', () => {
  test.each([
    ['10', 'EUR', 1000n],
    ['10.5', 'EUR', 1050n],
    ['10.50000', 'EUR', 1050n],
    ['0.01', 'EUR', 1n],
    ['100', 'JPY', 100n],
    ['100.000', 'JPY', 100n],
    ['1.234', 'KWD', 1234n],
    ['1.2345', 'CLF', 12345n],
    ['1e2', 'EUR', 10000n],
    ['1.5E+1', 'JPY', 15n],
    ['1500e-3', 'EUR', 150n],
    ['9999999999999.99', 'EUR', 999999999999999n],
    ['999999999999999', 'JPY', 999999999999999n],
  ])('%s %s is exactly %s minor units', (digits, code, expected) => {
    expect(parseAmountMinor(digits, code)).toBe(expected);
  });

  test.each([
    ['1e309', 'EUR', 'too-large'],
    ['1e21', 'EUR', 'too-large'],
    ['1e999999999999999999999', 'EUR', 'too-large'],
    ['1e-999999999999999999999', 'EUR', 'too-many-decimals'],
    [`1e${'9'.repeat(400)}`, 'EUR', 'too-large'],
    ['"10"', 'EUR', 'not-a-number'],
    ['+1', 'EUR', 'not-a-number'],
    ['01', 'EUR', 'not-a-number'],
    ['.5', 'EUR', 'not-a-number'],
    ['1.', 'EUR', 'not-a-number'],
    ['NaN', 'EUR', 'not-a-number'],
    ['Infinity', 'EUR', 'not-a-number'],
    ['', 'EUR', 'not-a-number'],
    ['1\n', 'EUR', 'not-a-number'],
    ['１', 'EUR', 'not-a-number'],
    ['0', 'EUR', 'not-positive'],
    ['-0', 'EUR', 'not-positive'],
    ['0e99999', 'EUR', 'not-positive'],
    ['-5', 'EUR', 'not-positive'],
    ['0.001', 'JPY', 'too-many-decimals'],
    ['0.0001', 'EUR', 'too-many-decimals'],
    ['9007199254740993', 'EUR', 'too-large'],
    ['1000000000000000', 'JPY', 'too-large'],
    ['10000000000000', 'EUR', 'too-large'],
  ])('%s %s is rejected as %s', (digits, code, expected) => {
    expect(parseAmountMinor(digits, code)).toBe(expected);
  });

  test('bounds of a filter may be zero or negative, and minus zero is zero', () => {
    expect(parseAmountMinor('-5', 'EUR', { positive: false })).toBe(-500n);
    expect(parseAmountMinor('0', 'EUR', { positive: false })).toBe(0n);
    expect(parseAmountMinor('-0.00', 'EUR', { positive: false })).toBe(0n);
  });

  test('a megabyte of digits is answered, not expanded', () => {
    expect(parseAmountMinor(`1${'0'.repeat(1_000_000)}1`, 'EUR')).toBe('too-large');
    expect(parseAmountMinor(`1.${'0'.repeat(1_000_000)}1`, 'EUR')).toBe('too-many-decimals');
    expect(parseAmountMinor(`1.${'0'.repeat(1_000_000)}`, 'EUR')).toBe(100n);
  });

  test('what is typed comes back: format then parse is the identity', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 15n) + 1n, max: 10n ** 15n - 1n }), currency, (amountMinor, code) => {
        const text = formatAmount(amountMinor, code);
        expect(parseAmountMinor(text, code, { positive: false })).toBe(amountMinor);
        expect(() => JSON.parse(text)).not.toThrow();
        expect(text).not.toMatch(/\.\d*0$/);
      }),
    );
  });
});

describe('formatAmount', () => {
  test.each([
    [1050n, 'EUR', '10.5'],
    [10000n, 'EUR', '100'],
    [1n, 'EUR', '0.01'],
    [0n, 'EUR', '0'],
    [-1n, 'KWD', '-0.001'],
    [100n, 'JPY', '100'],
  ])('%s %s is written %s', (amountMinor, code, expected) => {
    expect(formatAmount(amountMinor, code)).toBe(expected);
  });
});
