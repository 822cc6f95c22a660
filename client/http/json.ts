import { DATE_TIME_FIELDS } from '../generated/date-times.ts';

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$/;

/** A value as JSON, its dates in UTC without a zone, as the contract has them. */
export function encode(value: unknown): string {
  return JSON.stringify(withTexts(value, []));
}

export function dateTimeText(date: Date): string {
  return date.toISOString().replace('Z', '');
}

function withTexts(value: unknown, path: readonly string[]): unknown {
  if (value instanceof Date) return dateTimeText(value);
  // JSON would say null, and the service that the field is missing.
  const isInexpressible = typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value));
  if (isInexpressible) {
    throw new TypeError(
      `${path.join('.')} is ${typeof value === 'bigint' ? 'a bigint' : value}, which JSON cannot hold`,
    );
  }
  if (Array.isArray(value)) return value.map((inner, index) => withTexts(inner, [...path, `${index}`]));
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withTexts(inner, [...path, key])]));
}

/** The value of a JSON text, its date-times as `Date`s. What callers sent to be echoed stays as it is. */
export function decode(text: string): unknown {
  return withDates(JSON.parse(text));
}

function withDates(value: unknown, field = ''): unknown {
  if (typeof value === 'string') {
    return DATE_TIME_FIELDS.has(field) && DATE_TIME.test(value) ? new Date(`${value}Z`) : value;
  }
  if (Array.isArray(value)) return value.map((item) => withDates(item));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, key === 'connect' ? inner : withDates(inner, key)]),
  );
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const TEXTS_AND_NUMBERS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Every decimal of so many digits survives as a JavaScript number. */
const EXACT_DIGITS = 15;

/** The first number of a JSON text that a JavaScript number cannot hold, such as an amount beyond trillions; or null. */
export function inexactNumber(text: string): string | null {
  if (!/\d[\d.]{15}/.test(text)) return null;
  for (const [token] of text.matchAll(TEXTS_AND_NUMBERS)) {
    if (
      !token.startsWith('"') &&
      digitsOf(token).length > EXACT_DIGITS &&
      digitsOf(token) !== digitsOf(`${Number(token)}`)
    )
      return token;
  }
  return null;
}

function digitsOf(number: string): string {
  return number
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|0+$/g, '');
}
