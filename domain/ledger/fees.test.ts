import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  feeMinor,
  implicitFee,
  type PriceTable,
  parseRatio,
  parseRatioPricing,
  type RatioPricing,
  ratioFee,
} from './fees.ts';

function pricing(ratio: string, minimumMinor: bigint | null = null, maximumMinor: bigint | null = null): RatioPricing {
  const parsed = parseRatio(ratio);
  if (parsed === null) throw new Error(`${ratio} is no ratio`);
  return { ratio: parsed, minimumMinor, maximumMinor };
}

describe('ratios', () => {
  test.each([
    '1e9',
    'NaN',
    'Infinity',
    '-0.1',
    '-0',
    '1.5',
    '2',
    '',
    '.5',
    '1.',
    '0.12345678901',
    '0,5',
    '٠',
    '0.5\n',
    '1e-2',
  ])('%j is rejected', (text) => {
    expect(parseRatio(text)).toBeNull();
  });

  test('are exact', () => {
    expect(parseRatio('0.0025')).toEqual({ numerator: 25n, denominator: 10_000n });
    expect(parseRatio('1')).toEqual({ numerator: 1n, denominator: 1n });
    expect(parseRatio('1.0')).toEqual({ numerator: 10n, denominator: 10n });
    expect(parseRatio('0')).toEqual({ numerator: 0n, denominator: 1n });
  });
});

describe('the fee of a ratio', () => {
  test.each([
    [1000n, '0.0005', 1n], // half a cent goes up
    [999n, '0.0005', 0n],
    [1001n, '0.0005', 1n],
    [10_000n, '0.015', 150n],
    [999_999_999_999_999n, '0.0000000001', 100_000n],
    [999_999_999_999_999n, '1', 999_999_999_999_999n],
    [1n, '0', 0n],
  ])('of %s minor units at %s is %s', (amountMinor, ratio, fee) => {
    expect(ratioFee(amountMinor, pricing(ratio))).toBe(fee);
  });

  test('stays within its bounds', () => {
    expect(ratioFee(100n, pricing('0.01', 50n, 200n))).toBe(50n);
    expect(ratioFee(1_000_000n, pricing('0.01', 50n, 200n))).toBe(200n);
    expect(ratioFee(10_000n, pricing('0.01', 50n, 200n))).toBe(100n);
  });

  test('is within half a minor unit of the exact value, half going up', () => {
    const amount = fc.bigInt({ min: 1n, max: 10n ** 15n - 1n });
    const millionths = fc.bigInt({ min: 0n, max: 1_000_000n });
    fc.assert(
      fc.property(amount, millionths, (amountMinor, numerator) => {
        const ratio = { numerator, denominator: 1_000_000n };
        const fee = ratioFee(amountMinor, { ratio, minimumMinor: null, maximumMinor: null });
        const twiceError = 2n * (fee * 1_000_000n - amountMinor * numerator);
        expect(twiceError > -1_000_000n && twiceError <= 1_000_000n).toBe(true);
      }),
    );
  });
});

describe('the price table', () => {
  const table: PriceTable = [
    { direction: 'outgoing', scheme: 'chaps', currency: 'GBP', fixedMinor: 1500n, pricing: null },
    { direction: 'outgoing', scheme: null, currency: 'EUR', fixedMinor: 20n, pricing: pricing('0.001', 0n, 500n) },
    { direction: 'incoming', scheme: 'swift', currency: null, fixedMinor: 0n, pricing: pricing('0.01') },
    { direction: 'incoming', scheme: null, currency: 'GBP', fixedMinor: 100n, pricing: null },
  ];
  const amountMinor = 100_000n;

  test('the first line that matches counts, and none is no fee', () => {
    expect(implicitFee({ direction: 'outgoing', scheme: 'chaps', currency: 'GBP', amountMinor }, table)).toBe(1500n);
    expect(implicitFee({ direction: 'outgoing', scheme: 'sepa', currency: 'EUR', amountMinor }, table)).toBe(120n);
    expect(implicitFee({ direction: 'incoming', scheme: 'swift', currency: 'GBP', amountMinor }, table)).toBe(1000n);
    expect(implicitFee({ direction: 'outgoing', scheme: 'internal', currency: 'GBP', amountMinor }, table)).toBe(0n);
    expect(implicitFee({ direction: 'outgoing', scheme: 'chaps', currency: 'GBP', amountMinor }, [])).toBe(0n);
  });

  test('an incoming transfer is never charged more than it brings', () => {
    expect(implicitFee({ direction: 'incoming', scheme: 'internal', currency: 'GBP', amountMinor: 40n }, table)).toBe(
      40n,
    );
  });
});

describe('explicit pricing', () => {
  test('is read exactly, bounds optional', () => {
    expect(
      parseRatioPricing({ ratio: '0.01', boundaryCurrency: 'EUR', minimumAmount: '0', maximumAmount: '12.5' }, 'EUR'),
    ).toEqual({ ratio: { numerator: 1n, denominator: 100n }, minimumMinor: 0n, maximumMinor: 1250n });
    expect(parseRatioPricing({ ratio: '0.01' }, 'EUR')).toMatchObject({ minimumMinor: null, maximumMinor: null });
  });

  test.each([
    [{ ratio: '1e9' }, 'ratio', '1e9'],
    [{ ratio: 'NaN' }, 'ratio', 'NaN'],
    [{ ratio: '0.1', boundaryCurrency: 'USD' }, 'boundaryCurrency', 'USD'],
    [{ ratio: '0.1', minimumAmount: '1' }, 'boundaryCurrency', ''],
    [{ ratio: '0.1', boundaryCurrency: 'EUR', minimumAmount: '-1' }, 'minimumAmount', '-1'],
    [{ ratio: '0.1', boundaryCurrency: 'EUR', maximumAmount: '0.001' }, 'maximumAmount', '0.001'],
    [{ ratio: '0.1', boundaryCurrency: 'EUR', maximumAmount: '1e309' }, 'maximumAmount', '1e309'],
    [{ ratio: '0.1', boundaryCurrency: 'EUR', minimumAmount: '2', maximumAmount: '1' }, 'minimumAmount', '2'],
  ])('%j is rejected for its %s', (request, field, value) => {
    expect(parseRatioPricing(request, 'EUR')).toMatchObject([{ messageParameters: ['pricing', field, value] }]);
  });

  test('all problems are reported at once', () => {
    const request = { ratio: 'x', boundaryCurrency: 'USD', minimumAmount: 'y', maximumAmount: 'z' };
    expect(parseRatioPricing(request, 'EUR')).toHaveLength(4);
  });
});

describe('the fee of an outgoing transfer', () => {
  const prices: PriceTable = [
    { direction: 'outgoing', scheme: 'internal', currency: 'GBP', fixedMinor: 7n, pricing: null },
    { direction: 'outgoing', scheme: 'chaps', currency: 'GBP', fixedMinor: 25n, pricing: null },
  ];
  const transfer = { currency: 'GBP', amountMinor: 10_000n };
  const explicit = { sourcingMethod: 'explicit' } as const;

  test('is that of the table, where an internal one has a line of its own', () => {
    expect(feeMinor(transfer, {}, prices)).toBe(7n);
    expect(feeMinor({ ...transfer, scheme: 'chaps' }, { pricing: { sourcingMethod: 'implicit' } }, prices)).toBe(25n);
  });

  test('is the caller’s own with explicit pricing, or none', () => {
    expect(feeMinor(transfer, { pricing: explicit, terms: { ratio: '0.01' } }, prices)).toBe(100n);
    expect(feeMinor(transfer, { pricing: { ...explicit, enabled: false } }, prices)).toBe(0n);
  });

  test.each([
    [{ pricing: explicit }, 'explicit pricing without terms'],
    [{ pricing: explicit, terms: { ratio: '2' } }, 'The ratio must be decimal text from 0 to 1.'],
  ])('%j has none: it throws', (request, message) => {
    expect(() => feeMinor(transfer, request, prices)).toThrow(message);
  });
});
