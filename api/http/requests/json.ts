import { isLosslessNumber, LosslessNumber } from 'lossless-json';
import { type MessageParameters, rejection } from '../../../domain/common/errors.ts';
import { checkText, type TextProblem } from '../../../domain/common/parties/names.ts';
import { endOfString, numberIn, parseMarkingNumbers } from './json-digits.ts';

/** Deepest nesting. No resource needs a tenth of it; it bounds recursion. */
const DEPTH_LIMIT = 64;

/** Most keys and array items; except in a batch, the largest legal body has a few hundred. */
const NODE_LIMIT_DEFAULT = 10_000;

/** A number of a body, kept as digits, from which amounts are parsed. */
export type JsonNumber = LosslessNumber;

export type JsonValue = string | boolean | null | JsonNumber | JsonValue[] | JsonObject;

export interface JsonObject {
  [key: string]: JsonValue;
}

export function isJsonNumber(value: unknown): value is JsonNumber {
  return value instanceof LosslessNumber;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

/** A whole number of an answer, for `bigint` columns. */
export function jsonInteger(value: bigint | number): JsonNumber {
  return new LosslessNumber(value.toString());
}

/**
 * Parses a request's body and keeps numbers as digits. Unlike JSON.parse it rejects duplicate keys (the last
 * value would silently win), `__proto__` and similar keys, and text that no field may contain. `multilineFields` are
 * dotted paths whose text may contain line breaks; `secretFields`, with `*` for the items of a list, have values that no error
 * shows and only the schema checks.
 */
export function parseJson(
  text: string,
  multilineFields: readonly string[] = [],
  nodesMax = NODE_LIMIT_DEFAULT,
  secretFields: ReadonlySet<string> = NO_SECRETS,
): JsonValue {
  const keyCount = rejectTooDeepOrLarge(text, nodesMax);
  let value: unknown;
  try {
    value = parseMarkingNumbers(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw invalid(['body', 'body', ''], `The body is not JSON: ${error.message}.`);
    throw error;
  }
  const walk: Walk = { keyCount: 0, multilineFields, secretFields, isInSecret: false };
  const checked = checkValue(value, '', walk);
  // Of duplicate keys the parser keeps the last.
  if (walk.keyCount !== keyCount) rejectDuplicate(repeatedKey(text, secretFields));
  return checked;
}

const NO_SECRETS: ReadonlySet<string> = new Set();

/** The path with `*` for the items of lists, as contracts have it. */
export function withoutIndexes(path: string): string {
  return path.replaceAll(/\.\d+(?=\.|$)/g, '.*');
}

function invalid(parameters: MessageParameters, message: string) {
  return rejection('common.validation.field_invalid', parameters, message);
}

function rejectDuplicate(key: string): never {
  if (key === '') throw invalid(['body', 'body', ''], 'The body has a key twice in one object.');
  throw invalid(['body', key.slice(0, 100), ''], `The body has the key ${key.slice(0, 100)} twice in one object.`);
}

interface OpenObject {
  readonly path: string;
  readonly keys: Set<string>;
}

/** Finds the first duplicate key of an object in valid JSON; '' in a secret, whose keys are part of it. */
function repeatedKey(text: string, secretFields: ReadonlySet<string>): string {
  const open: OpenObject[] = [];
  let last = '';
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const inner = open.at(-1);
    if (code === 0x22) {
      const end = endOfString(text, index);
      last = String(JSON.parse(text.slice(index, end + 1)));
      index = end;
    } else if (code === 0x7b || code === 0x5b) {
      const name = inner?.keys.size === 0 ? '*' : last;
      open.push({
        path: inner === undefined ? '' : inner.path === '' ? last : `${inner.path}.${name}`,
        keys: new Set(),
      });
    } else if (code === 0x7d || code === 0x5d) {
      open.pop();
    } else if (code === 0x3a) {
      if (inner?.keys.has(last)) return isWithin(inner.path, secretFields) ? '' : last;
      inner?.keys.add(last);
    }
  }
  return '';
}

function isWithin(path: string, secretFields: ReadonlySet<string>): boolean {
  const starred = withoutIndexes(path);
  return [...secretFields].some((field) => starred === field || starred.startsWith(`${field}.`));
}

// Scans the text before anything is built from it. Returns the number of keys.
function rejectTooDeepOrLarge(text: string, nodesMax: number): number {
  let depth = 0;
  let keyCount = 0;
  let nodeCount = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x22) {
      index = endOfString(text, index);
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > DEPTH_LIMIT) throw limitExceeded(`The body is nested deeper than ${DEPTH_LIMIT} levels.`);
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
    } else if (code === 0x3a) {
      keyCount += 1;
    } else if (code === 0x2c) {
      nodeCount += 1;
      if (nodeCount > nodesMax) throw limitExceeded(`The body has more than ${nodesMax} fields and items.`);
    }
  }
  return keyCount;
}

function limitExceeded(message: string) {
  return rejection('common.validation.limit_exceeded', ['body', 'body', ''], message);
}

/** Inherited keys, which validation would silently ignore. */
const OBJECT_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

interface Walk {
  keyCount: number;
  readonly multilineFields: readonly string[];
  readonly secretFields: ReadonlySet<string>;
  isInSecret: boolean;
}

/** A secret may contain any text, so that no error describes it. */
function checkSecret(value: unknown, walk: Walk): JsonValue {
  walk.isInSecret = true;
  const checked = checkValue(value, '', walk);
  walk.isInSecret = false;
  return checked;
}

function checkValue(value: unknown, path: string, walk: Walk): JsonValue {
  if (!walk.isInSecret && walk.secretFields.size > 0 && walk.secretFields.has(withoutIndexes(path)))
    return checkSecret(value, walk);
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') {
    const number = numberIn(value);
    if (number !== null) return number;
    if (walk.isInSecret) return value;
    const problem = findForbiddenText(walk.multilineFields.includes(path) ? value.replace(/[\r\n]/g, '') : value);
    if (problem !== null) throw forbidden(path, value, problem);
    return value;
  }
  if (Array.isArray(value)) return value.map((item, index) => checkValue(item, `${path}.${index}`, walk));
  if (!isJsonObject(value)) throw new TypeError('the JSON parser returned something that is not JSON');
  for (const [key, item] of Object.entries(value)) {
    walk.keyCount += 1;
    const itemPath = path === '' ? key : `${path}.${key}`;
    if (numberIn(key) !== null) throw invalid(['body', 'body', ''], 'The body is not JSON: a key must be text.');
    if (OBJECT_KEYS.has(key)) throw invalid(['body', key, ''], 'The body has a key that is not allowed in any object.');
    const problem = walk.isInSecret ? null : findForbiddenText(key);
    if (problem !== null) throw forbidden(path === '' ? 'body' : path, key, problem);
    value[key] = checkValue(item, itemPath, walk);
  }
  return value;
}

const FORBIDDEN: Readonly<Record<Exclude<TextProblem, 'empty' | 'too-long'>, string>> = {
  'lone-surrogate': 'a lone surrogate, which is not a character',
  'control-character': 'a control character',
  'bidirectional-character': 'a character that changes the direction of text',
  'invisible-character': 'an invisible character',
  'too-many-combining-marks': 'too many marks on one letter',
};

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

// Describes text that no field may contain; schemas check lengths and blanks.
function findForbiddenText(text: string): string | null {
  if (PRINTABLE_ASCII.test(text)) return null;
  const checked = checkText(text, text.length);
  if (typeof checked !== 'string' || checked === 'empty' || checked === 'too-long') return null;
  return FORBIDDEN[checked];
}

function forbidden(path: string, value: string, problem: string) {
  const [entity, field] = entityAndField(path.split('.'));
  return invalid([entity, field, shownText(value)], `${path} has ${problem}.`);
}

/**
 * Splits a dotted path into entity and field: `data.outgoingTransfer.amount` is `outgoingTransfer` and `amount`; a
 * field directly in `data` or `workflow` names the container.
 */
export function entityAndField(path: readonly string[]): [entity: string, field: string] {
  const [first = 'body', ...rest] = path;
  if (first === 'data' && rest.length > 1) return [rest[0] ?? 'data', rest.slice(1).join('.')];
  return rest.length === 0 ? ['body', first] : [first, rest.join('.')];
}

/** Text safe to show in an error: short, without control characters or markup. */
export function shownText(value: string): string {
  return value.slice(0, 100).replace(/[\p{Cs}\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, '\uFFFD');
}

const PLAIN = /^[ !#-[\]-~]*$/;

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Limits the cache of rendered keys: keys that callers choose must not fill the memory. */
const KEYS_REMEMBERED_MAX = 2_000;
const REMEMBERED_LENGTH_MAX = 64;
const writtenKeys = new Map<string, string>();

function writtenKey(key: string): string {
  let written = writtenKeys.get(key);
  if (written === undefined) {
    written = `${quoted(key)}:`;
    if (writtenKeys.size < KEYS_REMEMBERED_MAX && key.length <= REMEMBERED_LENGTH_MAX) writtenKeys.set(key, written);
  }
  return written;
}

/** Renders an answer. A JsonNumber is written as its digits; `undefined` fields are omitted. */
export function stringify(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean') return JSON.stringify(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object') throw new TypeError(`an answer cannot contain a ${typeof value}`);
  if (isJsonNumber(value)) return value.value;
  if (Array.isArray(value)) return `[${value.map(stringify).join(',')}]`;
  if (value instanceof Date) throw new TypeError('an answer shows date-times as text: use formatDateTime');
  let text = '';
  // Half the cost of Object.entries, in the most expensive part of an answer.
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    const item: unknown = value[key as keyof typeof value];
    if (item !== undefined) text += `${text === '' ? '' : ','}${writtenKey(key)}${stringify(item)}`;
  }
  return `{${text}}`;
}

/**
 * The same text for the same value, however it was written: RFC 8785, but with exact decimal digits, some of which the
 * RFC's floating point would lose. Texts are compared as sent, without Unicode normalization.
 */
export function canonicalJson(value: JsonValue): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (isJsonNumber(value)) return canonicalNumber(value.value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  let text = '';
  for (const key of Object.keys(value).sort()) {
    const item = value[key];
    if (item !== undefined) text += `${text === '' ? '' : ','}${writtenKey(key)}${canonicalJson(item)}`;
  }
  return `{${text}}`;
}

const NUMBER_PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** A longer exponent is compared as written: no field accepts it, and computing with it would take seconds. */
const EXPONENT_LENGTH_MAX = 16;

/** `1.50`, `1.5` and `15e-1` are `15e-1`. */
function canonicalNumber(digits: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER_PARTS.exec(digits) ?? [];
  const all = whole + fraction;
  let start = 0;
  let end = all.length;
  // A regular expression for the zeros at the end would take quadratic time.
  while (start < end && all[start] === '0') start += 1;
  while (end > start && all[end - 1] === '0') end -= 1;
  if (start === end) return '0';
  if (exponent.length > EXPONENT_LENGTH_MAX) return digits;
  return `${sign}${all.slice(start, end)}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(all.length - end)}`;
}
