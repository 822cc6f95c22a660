import { createHash } from 'node:crypto';
import * as v from 'valibot';
import {
  cleanText,
  SENDER_INFORMATION_LENGTH_MAX,
  SHOWN_NAME_LENGTH_MAX,
} from '../../../domain/common/parties/names.ts';
import { normalizeOurReference } from '../../../domain/common/payment-references.ts';

/**
 * Every text that a provider sends is read by one of these schemas: a test enforces that no adapter has a `v.string()` of its
 * own. They remove characters that deceive readers or break storage, and shorten texts to the lengths in the OpenAPI document. A
 * bad text never rejects a payment.
 */
export const NAME_MAX = SHOWN_NAME_LENGTH_MAX;
export const REMITTANCE_MAX = SENDER_INFORMATION_LENGTH_MAX;
export const NUMBER_MAX = 34;
const CODE_MAX = 100;
const EXPLANATION_MAX = 1_000;
const ATTRIBUTES_MAX = 20;
const ROUTING_CODES_MAX = 10;
const ROUTING_CODE = /^[a-z0-9-]{1,40}$/;
const PAYMENT_ID_MAX = 140;
/** Far longer than one of our ids with a step and its number. */
const OUR_REFERENCE_MAX = 140;

/** Replaces a text of which nothing is left. */
const NOTHING = '…';

export function shown(lengthMax: number) {
  return v.pipe(
    v.string(),
    v.transform((text) => cleanText(text, lengthMax) || NOTHING),
  );
}

/** Null if absent, null or without a visible character. */
export function maybeShown(lengthMax: number) {
  return v.pipe(
    v.nullish(v.string(), null),
    v.transform((text) => (text === null ? null : cleanText(text, lengthMax) || null)),
  );
}

export const code = () => shown(CODE_MAX);
export const explanation = () => shown(EXPLANATION_MAX);

/** A cut number ends with an ellipsis, so it is never the number of another account. */
export function maybeNumber() {
  return v.pipe(
    v.nullish(v.string(), null),
    v.transform((text) => (text === null ? null : cleanText(text.replace(/\s/g, ''), NUMBER_MAX) || null)),
  );
}

/** An id that the provider assigned. If it had to be changed, a digest is appended, so that two ids never become one. */
export function providerId(lengthMax = PAYMENT_ID_MAX) {
  return v.pipe(
    v.string(),
    v.transform((text) => distinctId(text, lengthMax)),
  );
}

export function maybeProviderId(lengthMax = PAYMENT_ID_MAX) {
  return v.pipe(
    v.nullish(v.string(), null),
    v.transform((text) => (text === null || text === '' ? null : distinctId(text, lengthMax))),
  );
}

const DIGEST_LENGTH = 32;

function distinctId(text: string, lengthMax: number): string {
  const clean = cleanText(text, lengthMax);
  if (clean === text.normalize('NFC')) return clean;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LENGTH);
  return `${cleanText(clean, lengthMax - DIGEST_LENGTH)}${digest}`;
}

/** Our own reference as the provider returns it: banks drop its dashes and change its case. */
export function ourReference() {
  return v.pipe(
    v.string(),
    v.transform((text) => normalizeOurReference(cleanText(text, OUR_REFERENCE_MAX))),
  );
}

/** Null if the text is not of the kind. */
export function maybeOne(isOne: (text: string) => boolean) {
  return v.pipe(
    v.nullish(v.string(), null),
    v.transform((text) => (text !== null && isOne(text) ? text : null)),
  );
}

/** The answer is invalid without it. */
export function one(isOne: (text: string) => boolean) {
  return v.pipe(v.string(), v.check(isOne));
}

/** Leaves out codes whose kind is malformed. */
export function routingCodes() {
  return v.pipe(
    v.record(v.string(), v.string()),
    v.transform((codes): Readonly<Record<string, string>> => {
      const entries = Object.entries(codes).flatMap(([kind, value]): [string, string][] => {
        const clean = cleanText(value, NUMBER_MAX);
        return ROUTING_CODE.test(kind) && clean !== '' ? [[kind, clean]] : [];
      });
      return Object.fromEntries(entries.slice(0, ROUTING_CODES_MAX));
    }),
  );
}

/** Details that a provider adds to the explanation of a rejection. */
export function attributes() {
  return v.pipe(
    v.record(v.string(), v.string()),
    v.transform((given): Readonly<Record<string, string>> => {
      const entries = Object.entries(given).slice(0, ATTRIBUTES_MAX);
      return Object.fromEntries(
        entries.map(([name, value]) => [
          cleanText(name, CODE_MAX) || NOTHING,
          cleanText(value, EXPLANATION_MAX) || NOTHING,
        ]),
      );
    }),
  );
}

export const instant = () =>
  v.pipe(
    v.string(),
    v.check((text) => !Number.isNaN(Date.parse(text))),
    v.transform((text) => new Date(text)),
  );

/**
 * A value of a record to migrate, which the service validates field by field afterwards. Its texts are cleaned at any depth, but
 * not cut, because half of a name or number would pass for the whole.
 */
export function unchecked() {
  return v.optional(v.pipe(v.unknown(), v.transform(cleaned)));
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value, Number.POSITIVE_INFINITY);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [cleanText(name, Number.POSITIVE_INFINITY), cleaned(one)]),
  );
}
