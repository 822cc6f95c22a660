import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, Call, type OperationRequest, type SendOptions } from '../call.ts';
import { FILES, OPERATIONS } from '../generated/contract.ts';
import { answerOf, codeOf, rejection, type SentRequest, unanswered } from './answers.ts';
import { isObject } from './json.ts';
import { bodyTextOf, pathOf, queryOf } from './requests.ts';
import {
  hasKey,
  isSafeToResendWithNewToken,
  isSafeToRetry,
  isUnknownAfter,
  type Outcome,
  RetryBudget,
  retryAfterMs,
  waitBeforeRetry,
} from './retries.ts';
import { startTimeLimit } from './time-limits.ts';

/** One attempt of a call, for a log. Never a body, a key, a token or a value of a path or query. */
export interface LogEntry {
  readonly operation: string;
  readonly method: string;
  /** With `{names}` in place of values; null for a path that is not in the contract. */
  readonly path: string | null;
  readonly attempt: number;
  /** The same for all attempts of a call. */
  readonly requestId: string;
  readonly durationMs: number;
  readonly status: number | null;
  /** The code of a rejection, or why no answer came. */
  readonly code: string | null;
  /** In how many milliseconds it is sent again; null if it is not. */
  readonly retryInMs: number | null;
}

/** Where bearer tokens come from. */
export interface Tokens {
  token(): Promise<string>;
  /** The service has rejected the last one. */
  forget(): void;
}

export interface TransportOptions {
  readonly baseUrl: string;
  readonly tokens: Tokens;
  readonly timeoutMs: number;
  readonly attemptTimeoutMs: number;
  readonly retriesMax: number;
  readonly fetch: typeof fetch;
  readonly log: (entry: LogEntry) => void;
}

/** A request as HTTP, the same for all attempts but for the token. */
interface Prepared extends SentRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly token: string | undefined;
  readonly deadline: AbortSignal;
  readonly endsAtMs: number;
  readonly retriesMax: number;
  readonly attemptTimeoutMs: number;
}

interface Attempt {
  readonly outcome: Outcome;
  readonly text: string;
  readonly headers: Headers;
  readonly cause: unknown;
}

/** Sends the requests of a client: signs, repeats what is safe, keeps deadlines, and reads answers. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #budget = new RetryBudget();

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  send<Resource, Body>(request: OperationRequest, options: SendOptions = {}): Call<Resource, Body> {
    return new Call(this.#answer<Resource, Body>(request, options));
  }

  async #answer<Resource, Body>(request: OperationRequest, options: SendOptions): Promise<Answer<Resource, Body>> {
    const { timeoutMs = this.#options.timeoutMs } = options;
    const limit = startTimeLimit(timeoutMs, options.signal);
    const prepared = this.#prepare(request, options, {
      deadline: limit.signal,
      endsAtMs: performance.now() + timeoutMs,
    });
    const { outcome, text, headers, cause, isOutcomeUnknown } = await this.#attempts(prepared).finally(limit.release);
    if (typeof outcome === 'string')
      throw unanswered(prepared, prepared.deadline, { outcome, cause, isOutcomeUnknown });
    const received = { status: outcome.status, text, headers };
    if (outcome.status < 200 || outcome.status > 299) throw rejection(prepared, received, isOutcomeUnknown);
    return answerOf(prepared, received);
  }

  async #attempts(prepared: Prepared): Promise<Attempt & { readonly isOutcomeUnknown: boolean }> {
    let hasNewToken = false;
    let isOutcomeUnknown = false;
    for (let attempt = 1; ; attempt += 1) {
      const startedMs = performance.now();
      const result = await this.#attempt(prepared);
      const { outcome } = result;
      isOutcomeUnknown = isUnknownAfter(prepared.request, outcome, isOutcomeUnknown);
      let waitMs: number | null = null;
      if (typeof outcome === 'object' && outcome.status === 401 && prepared.token === undefined) {
        this.#options.tokens.forget();
        if (!hasNewToken && isSafeToResendWithNewToken(prepared.request)) waitMs = 0;
        hasNewToken = true;
      } else {
        waitMs = this.#waitOf(prepared, attempt, outcome);
      }
      this.#log(prepared, { attempt, durationMs: performance.now() - startedMs, outcome, waitMs });
      if (waitMs === null) {
        if (typeof outcome === 'object' && outcome.status < 500 && outcome.status !== 429) this.#budget.succeeded();
        return { ...result, isOutcomeUnknown };
      }
      // An abort while waiting is what the next attempt meets.
      await sleep(waitMs, undefined, { signal: prepared.deadline }).catch(() => undefined);
    }
  }

  /** Null if the request is not sent again: never after its deadline. */
  #waitOf({ request, deadline, endsAtMs, retriesMax }: Prepared, attempt: number, outcome: Outcome): number | null {
    const isAnswered = typeof outcome === 'object' && outcome.status < 400;
    if (isAnswered || deadline.aborted || attempt > retriesMax || !isSafeToRetry(request, outcome)) return null;
    const asked = typeof outcome === 'object' ? outcome.retryAfterMs : null;
    const waitMs = waitBeforeRetry(attempt, asked, Math.random);
    return performance.now() + waitMs < endsAtMs && this.#budget.take() ? waitMs : null;
  }

  async #attempt(prepared: Prepared): Promise<Attempt> {
    const { request, url, headers, body, token, deadline, attemptTimeoutMs } = prepared;
    let bearer: string;
    try {
      bearer = token ?? (await before(deadline, this.#options.tokens.token()));
      deadline.throwIfAborted();
    } catch (cause) {
      return { outcome: deadline.aborted ? 'not-sent' : 'no-token', text: '', headers: new Headers(), cause };
    }
    const limit = startTimeLimit(attemptTimeoutMs, deadline);
    try {
      const response = await this.#options.fetch(url, {
        method: request.method,
        headers: { ...headers, authorization: `Bearer ${bearer}` },
        // A token must not follow to another address.
        redirect: 'manual',
        signal: limit.signal,
        ...(body === undefined ? {} : { body }),
      });
      const text = await response.text();
      const asked = retryAfterMs(response.headers.get('retry-after'), new Date());
      const outcome = { status: response.status, code: codeOf(text, response), retryAfterMs: asked };
      return { outcome, text, headers: response.headers, cause: undefined };
    } catch (cause) {
      return { outcome: wasNeverSent(cause) ? 'not-sent' : 'lost', text: '', headers: new Headers(), cause };
    } finally {
      limit.release();
    }
  }

  #log(
    { request, requestId }: Prepared,
    result: {
      readonly attempt: number;
      readonly durationMs: number;
      readonly outcome: Outcome;
      readonly waitMs: number | null;
    },
  ): void {
    const { operation, method } = request;
    // The caller may have written values into a path that is not one of the contract's.
    const path = Object.hasOwn(OPERATIONS, `${method} ${request.path}`) ? request.path : null;
    const { attempt, durationMs, outcome, waitMs: retryInMs } = result;
    const answered = typeof outcome === 'object' ? outcome : { status: null, code: outcome };
    try {
      const { status, code } = answered;
      this.#options.log({ operation, method, path, attempt, requestId, durationMs, status, code, retryInMs });
    } catch {
      // A logger that fails must not fail a payment.
    }
  }

  #prepare(request: OperationRequest, options: SendOptions, limits: Pick<Prepared, 'deadline' | 'endsAtMs'>): Prepared {
    const { retriesMax = this.#options.retriesMax, token } = options;
    // A file may be large: its attempt has all the time of the call.
    const ofAttempts = FILES.includes(request.operation) ? Number.POSITIVE_INFINITY : this.#options.attemptTimeoutMs;
    const { attemptTimeoutMs = ofAttempts } = options;
    const key = hasKey(request) ? (options.idempotencyKey ?? randomUUID()) : undefined;
    const requestId = randomUUID();
    const body = bodyTextOf(request, options);
    return {
      request,
      url: `${this.#options.baseUrl}${pathOf(request)}${queryOf(request)}`,
      headers: {
        accept: 'application/json, */*;q=0.5',
        'request-id': requestId,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      body,
      key,
      requestId,
      token,
      ...limits,
      retriesMax,
      attemptTimeoutMs,
    };
  }
}

/** A token may be made elsewhere, and come late or never. */
function before<Value>(end: AbortSignal, promise: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(end.reason);
    if (end.aborted) abort();
    end.addEventListener('abort', abort);
    promise.then(resolve, reject).finally(() => end.removeEventListener('abort', abort));
  });
}

/** Node's reasons for a connection that was not made. */
const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];

function wasNeverSent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const errors = cause instanceof AggregateError ? cause.errors : [cause];
  return errors.every((one) => isObject(one) && NOT_CONNECTED.includes(`${one.code}`));
}
