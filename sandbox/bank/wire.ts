import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { LosslessNumber, parse, stringify } from 'lossless-json';
import * as v from 'valibot';
import { isIban } from '../../domain/accounts/identifiers/ibans.ts';
import { type AmountProblem, isCurrency, parseAmountMinor } from '../../domain/common/money.ts';
import { isCountry } from '../../domain/common/parties/countries.ts';
import type { Rejection } from './books.ts';

/** A rejected request; answered with its status and `{"error": …}`. */
export class BankError extends Error {
  readonly status: 400 | 403 | 404 | 409 | 413 | 415 | 421 | 422 | 503;
  readonly rejection: Rejection;

  constructor(status: BankError['status'], code: string, message: string, attributes: Record<string, string> = {}) {
    super(message);
    this.name = 'BankError';
    this.status = status;
    const ours = status === 503;
    this.rejection = {
      category: 'technical',
      origin: ours ? 'provider' : 'platform',
      code,
      message,
      attributes,
    };
  }
}

export function invalid(field: string, message: string): BankError {
  return new BankError(400, 'invalid-request', `${field}: ${message}`, { field });
}

export function notFound(what: string): BankError {
  return new BankError(404, 'not-found', `No ${what} has this reference.`);
}

/** Plain JSON; amounts are numbers with all digits. */
export function answer(context: Context, status: 200 | 201 | 202 | 500 | BankError['status'], value: unknown) {
  return context.body(stringify(value) ?? '', status, { 'content-type': 'application/json' });
}

const BODY_BYTES_MAX = 64 * 1024;
const UTF8 = new TextDecoder();

/** The raw body, without Hono's copy of the request, which would cost more than the payment. */
async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const tooLarge = () => new BankError(413, 'too-large', `A body has at most ${BODY_BYTES_MAX} bytes.`);
  if (Number(incoming.headers['content-length'] ?? 0) > BODY_BYTES_MAX) throw tooLarge();
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) throw tooLarge();
    chunks.push(chunk);
  }
  return UTF8.decode(Buffer.concat(chunks));
}

/** The validated body; an empty body counts as `{}`. */
export async function readBody<Schema extends v.GenericSchema>(
  context: Context<{ Bindings: HttpBindings }>,
  schema: Schema,
): Promise<v.InferOutput<Schema>> {
  const text = await bodyOf(context.env.incoming);
  let body: unknown;
  try {
    body = text === '' ? {} : parse(text);
  } catch (error) {
    throw new BankError(400, 'invalid-request', `The body is not JSON: ${error instanceof Error ? error.message : ''}`);
  }
  const result = v.safeParse(schema, body);
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw invalid(v.getDotPath(issue) ?? 'body', issue.message);
}

const REFERENCE_LENGTH_MAX = 200;
const TEXT_LENGTH_MAX = 1_000;

export function text(lengthMax = TEXT_LENGTH_MAX) {
  return v.pipe(
    v.string('must be a text'),
    v.maxLength(lengthMax, `must have at most ${lengthMax} characters`),
    v.check((value) => !value.includes('\0'), 'must not hold a NUL'),
  );
}

export function reference() {
  return v.pipe(text(REFERENCE_LENGTH_MAX), v.minLength(1, 'must not be empty'));
}

/** The customer's end-to-end identification, if it gives one: 35 characters of ISO 20022. */
export function endToEndId() {
  return maybe(v.pipe(text(35), v.minLength(1, 'must not be empty')));
}

/** Absent and null alike are null. */
export function maybe<Schema extends v.GenericSchema>(schema: Schema) {
  return v.nullish(schema, null);
}

export function currency() {
  return v.pipe(v.string('must be a text'), v.check(isCurrency, 'must be an ISO 4217 code'));
}

export function country() {
  return v.pipe(v.string('must be a text'), v.check(isCountry, 'must be an ISO 3166-1 alpha-2 code'));
}

export function iban() {
  return v.pipe(unspacedText(), v.check(isIban, NO_IBAN));
}

export const NO_IBAN = 'has the wrong length or check digits';

/** An account number in capitals, whatever it is worth. */
export function unspacedText() {
  return v.pipe(
    v.string('must be a text'),
    v.transform((value) => value.replaceAll(' ', '').toUpperCase()),
    text(34),
  );
}

/** The digits as sent, as text or as a JSON number. */
export function amountDigits() {
  return v.pipe(
    v.union([v.string(), v.instance(LosslessNumber)], 'must be a number'),
    v.transform((value) => value.toString()),
  );
}

export function number(range: { readonly max: number }) {
  return v.pipe(
    v.instance(LosslessNumber, 'must be a number'),
    v.transform((value) => Number(value.toString())),
    v.check((value) => value >= 0 && value <= range.max, `must be from 0 to ${range.max}`),
  );
}

export function routingCodes() {
  const kind = v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,40}$/, 'must be kinds in small letters, such as sort-code'));
  return v.nullish(v.record(kind, text(34)), {});
}

export const IDENTIFIERS = {
  iban: maybe(iban()),
  accountNumber: maybe(text(34)),
  routingCodes: routingCodes(),
};

const AMOUNT_PROBLEMS: Readonly<Record<AmountProblem, string>> = {
  'not-a-number': 'must be a number',
  'not-positive': 'must be above zero',
  'too-large': 'is too large',
  'too-many-decimals': 'has more decimals than the currency',
};

export function amountMinor(digits: string, currencyCode: string): bigint {
  const amount = parseAmountMinor(digits, currencyCode);
  if (typeof amount === 'bigint') return amount;
  throw invalid('amount', AMOUNT_PROBLEMS[amount]);
}

const SCHEMES_BY_CURRENCY: Readonly<Record<string, readonly string[]>> = {
  GBP: ['faster-payments', 'chaps', 'swift'],
  EUR: ['sepa', 'sepa-instant', 'target2', 'swift'],
};

export function checkScheme(scheme: string, currencyCode: string): void {
  const schemes = SCHEMES_BY_CURRENCY[currencyCode] ?? ['swift'];
  if (!schemes.includes(scheme)) throw invalid('scheme', `must be one of ${schemes.join(', ')} for ${currencyCode}`);
}
