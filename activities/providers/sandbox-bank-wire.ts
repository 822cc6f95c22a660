import { LosslessNumber, parse, stringify } from 'lossless-json';
import { Agent, request } from 'undici';
import * as v from 'valibot';
import { CONNECTION_ERROR_CATEGORIES, CONNECTION_ERROR_ORIGINS } from '../../domain/accounts/accounts.ts';
import { isCurrency, parseAmountMinor } from '../../domain/common/money.ts';
import { ProviderUnavailable } from './port.ts';
import type { CallOptions, NotFound } from './ports/common.ts';
import { attributes, code, explanation, maybeNumber, one, ourReference, routingCodes } from './ports/texts.ts';
import { startTimeLimit } from './ports/time-limits.ts';

/** The sandbox bank's wire format and transport. */
export const SANDBOX_BANK = 'sandbox-bank';
/** Length of the bank's ids of clients and accounts. */
export const REFERENCE_MAX = 255;

/** Long enough for a working bank; a slower one gets the same request again, with the same reference. */
const DEADLINE_MS = 5_000;
const CONNECTIONS_MAX = 64;
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

export const REJECTION = v.object({
  category: v.picklist(CONNECTION_ERROR_CATEGORIES),
  origin: v.picklist(CONNECTION_ERROR_ORIGINS),
  code: code(),
  message: explanation(),
  attributes: attributes(),
});

export const IDENTIFIERS = {
  iban: maybeNumber(),
  accountNumber: maybeNumber(),
  routingCodes: routingCodes(),
};

/** Digits as received; `minorOf` converts them with the currency. */
export const AMOUNT = v.pipe(
  v.instance(LosslessNumber),
  v.transform((value) => value.toString()),
);

export const MONEY = { amount: AMOUNT, currency: one(isCurrency) };

/** Throws `ProviderUnavailable` if it is not a valid amount. */
export function minorOf({ amount, currency }: { readonly amount: string; readonly currency: string }): bigint {
  const minor = isCurrency(currency) ? parseAmountMinor(amount, currency) : null;
  if (typeof minor !== 'bigint') throw unavailable('answer not understood');
  return minor;
}

export function isCountry(text: string): boolean {
  return /^[A-Z]{2}$/.test(text);
}

export interface BankAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Calls the bank. Throws `ProviderUnavailable` whenever the outcome is unknown; does not follow redirects. */
export class BankConnection {
  readonly #url: string;
  readonly #agent = new Agent({ connections: CONNECTIONS_MAX, maxResponseSize: ANSWER_BYTES_MAX });

  constructor(url: string) {
    this.#url = url.replace(/\/+$/, '');
  }

  async call(method: 'GET' | 'POST', path: string, body: unknown, options: CallOptions): Promise<BankAnswer> {
    const limit = startTimeLimit(options.deadlineMs ?? DEADLINE_MS, options.signal);
    let status: number;
    let text: string;
    try {
      const response = await request(`${this.#url}/bank${path}`, {
        method,
        dispatcher: this.#agent,
        signal: limit.signal,
        headers: { accept: 'application/json', ...(body === null ? {} : { 'content-type': 'application/json' }) },
        body: body === null ? null : (stringify(body) ?? null),
      });
      status = response.statusCode;
      text = await response.body.text();
    } catch (error) {
      throw new ProviderUnavailable(SANDBOX_BANK, limit.isOver() ? 'timeout' : 'connection', { cause: error });
    } finally {
      limit.release();
    }
    if (status >= 500 || status === 429 || (status >= 300 && status < 400)) throw unavailable(`status ${status}`);
    return { status, body: parsed(text) };
  }
}

export function unavailable(reason: string): ProviderUnavailable {
  return new ProviderUnavailable(SANDBOX_BANK, reason);
}

function parsed(text: string): unknown {
  try {
    return parse(text);
  } catch {
    throw unavailable('answer not understood');
  }
}

/** Parses the answer. One that does not match the schema proves nothing about what the bank did. */
export function understood<Schema extends v.GenericSchema>(schema: Schema, body: unknown): v.InferOutput<Schema> {
  const result = v.safeParse(schema, body);
  if (result.success) return result.output;
  throw unavailable('answer not understood');
}

/** Throws if an answer is about another reference than the request: a misrouted answer proves nothing. */
export function requireSameReference(asked: string, answered: string): void {
  if (answered !== asked) throw unavailable('answer about something else');
}

/** The number of a submission. */
export const ATTEMPT = v.pipe(
  v.instance(LosslessNumber),
  v.transform((value) => Number(value.toString())),
  v.integer(),
  v.minValue(1),
);

const ERROR_BODY = v.object({
  error: REJECTION,
  ourReference: v.optional(ourReference()),
  attempt: v.optional(ATTEMPT),
});

/**
 * The rejection of an instruction. Only 400 (malformed request) and 422 mean that nothing was done. Other 4xx (a reused
 * reference, a wrong path) leave the outcome unknown, for a person to resolve.
 */
export function rejectionOf(
  answer: BankAnswer,
  asked?: string,
  attempt?: number,
): { outcome: 'rejected'; error: v.InferOutput<typeof REJECTION> } | null {
  if (answer.status < 400) return null;
  if (answer.status !== 400 && answer.status !== 422) throw unavailable(`status ${answer.status}`);
  const rejected = understood(ERROR_BODY, answer.body);
  if (asked !== undefined) requireSameReference(asked, rejected.ourReference ?? asked);
  // The rejection of an earlier attempt, late or from a cache, says nothing about this one.
  if (attempt !== undefined && (rejected.attempt ?? attempt) !== attempt)
    throw unavailable('answer about something else');
  return { outcome: 'rejected', error: rejected.error };
}

/** Whether the bank itself does not know our reference. A 404 from a gateway does not count. */
export function isNotFound(answer: BankAnswer): boolean {
  if (answer.status !== 404) return false;
  const result = v.safeParse(ERROR_BODY, answer.body);
  return result.success && result.output.error.code === 'not-found';
}

/**
 * The state at the bank, or its own not-found. A look-up that the bank or a gateway rejects says
 * nothing about the payment or account.
 */
export async function lookUp<Found>(
  bank: BankConnection,
  path: string,
  options: CallOptions,
  read: (body: unknown) => Found,
): Promise<Found | NotFound> {
  const answer = await bank.call('GET', path, null, options);
  if (isNotFound(answer)) return { outcome: 'not-found' };
  if (answer.status !== 200) throw unavailable(`status ${answer.status}`);
  return read(answer.body);
}
