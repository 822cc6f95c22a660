import { LosslessNumber, parse, stringify } from 'lossless-json';
import { Agent, request } from 'undici';
import * as v from 'valibot';
import { CONNECTION_ERROR_CATEGORIES, CONNECTION_ERROR_ORIGINS } from '../../domain/accounts/accounts.ts';
import { isCurrency, parseAmountMinor } from '../../domain/frame/money.ts';
import { type CallOptions, type NotFound, ProviderUnavailable } from './port.ts';
import { attributes, code, explanation, maybeNumber, one, ourReference, routingCodes } from './ports/texts.ts';

/** The sandbox bank's wire format and transport. */
export const SANDBOX_BANK = 'sandbox-bank';
/** Of the bank's ids of clients and accounts. */
export const REFERENCE_MAX = 255;

/** Long enough for a working bank; a slower one gets the same request again, with the same reference. */
const DEADLINE_MS = 5_000;
const CONNECTIONS_MAX = 64;
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;

export const REFUSAL = v.object({
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

/** Throws `ProviderUnavailable` if it is not an amount of money. */
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

/** Calls the bank. Throws `ProviderUnavailable` whenever the outcome is open; does not follow redirects. */
export class BankConnection {
  readonly #url: string;
  readonly #agent = new Agent({ connections: CONNECTIONS_MAX, maxResponseSize: ANSWER_BYTES_MAX });

  constructor(url: string) {
    this.#url = url.replace(/\/+$/, '');
  }

  async call(method: 'GET' | 'POST', path: string, body: unknown, options: CallOptions): Promise<BankAnswer> {
    const deadline = AbortSignal.timeout(options.deadlineMs ?? DEADLINE_MS);
    const signal = options.signal === undefined ? deadline : AbortSignal.any([deadline, options.signal]);
    let status: number;
    let text: string;
    try {
      const response = await request(`${this.#url}/bank${path}`, {
        method,
        dispatcher: this.#agent,
        signal,
        headers: { accept: 'application/json', ...(body === null ? {} : { 'content-type': 'application/json' }) },
        body: body === null ? null : (stringify(body) ?? null),
      });
      status = response.statusCode;
      text = await response.body.text();
    } catch (error) {
      throw new ProviderUnavailable(SANDBOX_BANK, deadline.aborted ? 'timeout' : 'connection', { cause: error });
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

/** Parses the answer; one that does not match proves nothing about what the bank did. */
export function understood<Schema extends v.GenericSchema>(schema: Schema, body: unknown): v.InferOutput<Schema> {
  const result = v.safeParse(schema, body);
  if (result.success) return result.output;
  throw unavailable('answer not understood');
}

/** Throws if an answer concerns another reference than the request's: misrouted, it proves nothing. */
export function requireAbout(asked: string, answered: string): void {
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
  error: REFUSAL,
  ourReference: v.optional(ourReference()),
  attempt: v.optional(ATTEMPT),
});

/**
 * The refusal of an instruction. Only 400 (malformed request) and 422 say that nothing was done. Other 4xx (a reused
 * reference, a wrong path) leave the outcome open, for a person to resolve.
 */
export function refusalOf(
  answer: BankAnswer,
  asked?: string,
  attempt?: number,
): { outcome: 'refused'; error: v.InferOutput<typeof REFUSAL> } | null {
  if (answer.status < 400) return null;
  if (answer.status !== 400 && answer.status !== 422) throw unavailable(`status ${answer.status}`);
  const refused = understood(ERROR_BODY, answer.body);
  if (asked !== undefined) requireAbout(asked, refused.ourReference ?? asked);
  // The refusal of an earlier attempt, late or from a cache, says nothing about this one.
  if (attempt !== undefined && (refused.attempt ?? attempt) !== attempt)
    throw unavailable('answer about something else');
  return { outcome: 'refused', error: refused.error };
}

/** Whether the bank itself does not know our reference. A 404 from a gateway does not count. */
export function isNotFound(answer: BankAnswer): boolean {
  if (answer.status !== 404) return false;
  const result = v.safeParse(ERROR_BODY, answer.body);
  return result.success && result.output.error.code === 'not-found';
}

/**
 * The bank's state of what is looked up, or its own not-found. A refused look-up, by the bank or a gateway, says
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
