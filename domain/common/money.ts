import { LosslessNumber } from 'lossless-json';

/**
 * Money is a whole number of minor units (`bigint`) and a currency, never a float. Amounts arrive as the digits the caller
 * sent and leave as decimal text that is a JSON number.
 */
declare const brand: unique symbol;

/** An active ISO 4217 code with a known minor unit. Excludes precious metals, test codes and baskets. */
export type Currency = string & { readonly [brand]: 'Currency' };

export interface Money {
  readonly amountMinor: bigint;
  readonly currency: Currency;
}

export type AmountProblem = 'not-a-number' | 'too-many-decimals' | 'too-large' | 'not-positive';

/** Below 10^15 minor units, so that nine thousand of the largest amounts still fit Postgres's bigint. */
const AMOUNT_DIGITS_MAX = 15;

// ISO 4217 list one as of 2026-02, by minor units. Not from Intl, because CLDR differs from ISO for several currencies.
const CODES_BY_MINOR_UNITS: ReadonlyArray<readonly [units: number, codes: string]> = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  [
    2,
    `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY
     COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS
     INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR
     MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP
     STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG`,
  ],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
];

const MINOR_UNITS: ReadonlyMap<string, number> = new Map(
  CODES_BY_MINOR_UNITS.flatMap(([units, codes]) => codes.split(/\s+/).map((code) => [code, units] as const)),
);

/** Every accepted currency, sorted by code. */
export const CURRENCIES: readonly Currency[] = [...MINOR_UNITS.keys()].sort().filter(isCurrency);

export function isCurrency(text: string): text is Currency {
  return MINOR_UNITS.has(text);
}

/** The currency's number of decimals. Throws on an unknown code, which is a bug, not a caller's error. */
export function minorUnits(currency: string): number {
  const units = MINOR_UNITS.get(currency);
  if (units === undefined) throw new RangeError(`${currency} is not a currency of this service`);
  return units;
}

/** Throws on an unknown currency, so use it for validated values or values from the database. */
export function money(amountMinor: bigint, currency: string): Money {
  if (!isCurrency(currency)) throw new RangeError(`${currency} is not a currency of this service`);
  return { amountMinor, currency };
}

const JSON_NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Parses a JSON number's text as minor units. Only its digits count: trailing zeros are not decimals, and an exponent is
 * allowed if the value is exact (`1e2` is 100; `1e-3` EUR has too many decimals). `positive` (the default) rejects zero,
 * minus zero and negative amounts; pass false for the bounds of a filter.
 */
export function parseAmountMinor(
  digits: string,
  currency: string,
  options: { positive?: boolean } = {},
): bigint | AmountProblem {
  const match = JSON_NUMBER.exec(digits);
  if (match === null) return 'not-a-number';
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const positive = options.positive ?? true;

  const coefficient = (whole + fraction).replace(/^0+/, '');
  const significant = withoutTrailingZeros(coefficient);
  if (significant === '') return positive ? 'not-positive' : 0n;
  // The power of ten of the last significant digit, in minor units. An absurd exponent yields an infinity, which the two
  // comparisons reject before any digit is written out.
  const power = Number(exponent) - fraction.length + (coefficient.length - significant.length) + minorUnits(currency);
  if (power < 0) return 'too-many-decimals';
  if (significant.length + power > AMOUNT_DIGITS_MAX) return 'too-large';
  if (sign === '-' && positive) return 'not-positive';

  const amountMinor = BigInt(significant + '0'.repeat(power));
  return sign === '-' ? -amountMinor : amountMinor;
}

// A loop instead of /0+$/, which takes quadratic time on a long run of zeros in the middle.
function withoutTrailingZeros(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === '0') end -= 1;
  return text.slice(0, end);
}

/** Decimal text that is a JSON number without trailing zeros: 1050n EUR is `10.5`, 10000n EUR is `100`. */
export function formatAmount(amountMinor: bigint, currency: string): string {
  const [whole, decimals] = decimalParts(amountMinor, currency);
  const fraction = withoutTrailingZeros(decimals);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** Decimal text with all decimals of the currency, for files: 1050n EUR is `10.50`, 1050n JPY is `1050`. */
export function formatAmountInFull(amountMinor: bigint, currency: string): string {
  const [whole, decimals] = decimalParts(amountMinor, currency);
  return decimals === '' ? whole : `${whole}.${decimals}`;
}

function decimalParts(amountMinor: bigint, currency: string): [whole: string, decimals: string] {
  const units = minorUnits(currency);
  const sign = amountMinor < 0n ? '-' : '';
  const digits = (amountMinor < 0n ? -amountMinor : amountMinor).toString().padStart(units + 1, '0');
  return [sign + digits.slice(0, digits.length - units), digits.slice(digits.length - units)];
}

/** The amount for JSON output: lossless-json's `stringify` writes its digits as they are. */
export function amountNumber(amountMinor: bigint, currency: string): LosslessNumber {
  return new LosslessNumber(formatAmount(amountMinor, currency));
}
