import type { OperationRequest } from '../call.ts';
import { PATHS_WITHOUT_KEY } from '../generated/contract.ts';

/** What came of one attempt. */
export type Outcome =
  | { readonly status: number; readonly code: string | null; readonly retryAfterMs: number | null }
  /** No answer: the request reached the service, or may have. */
  | 'lost'
  /** The connection was never made. */
  | 'not-sent'
  /** Nor was there a token to send it with. */
  | 'no-token';

/** Sent and rejected before any work, or by a proxy or a service that was not available: a keyed request may follow. */
const RETRIED_STATUSES = [408, 429, 502, 503, 504];
/** The same under a key: the first request is still being processed. */
const IN_PROGRESS = 'common.idempotency.in_progress';
/** It keeps nothing under its key: a repetition would count as another wrong password. */
const NEVER_RETRIED = /\/user-authentications$/;

/** The same of paths in which values stand already, and behind a prefix. */
const WITHOUT_KEY = PATHS_WITHOUT_KEY.map((path) => new RegExp(`${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`));

function isNeverRetried(method: string, path: string): boolean {
  return method === 'POST' && NEVER_RETRIED.test(withoutQuery(path));
}

/** Whether the service has one effect for all requests of this one's key. */
export function hasKey({ method, path }: Pick<OperationRequest, 'method' | 'path'>): boolean {
  return method === 'POST' && !WITHOUT_KEY.some((pattern) => pattern.test(withoutQuery(path)));
}

function withoutQuery(path: string): string {
  return path.replace(/\?.*$/s, '');
}

/** Whether the request may be sent again after this outcome, without the risk of a second effect. */
export function isSafeToRetry(request: OperationRequest, outcome: Outcome): boolean {
  const { method, path } = request;
  if (isNeverRetried(method, path)) return false;
  if (outcome === 'no-token') return false;
  if (outcome === 'not-sent') return true;
  // The service has a key only of a POST. After any other write with an unknown outcome the caller must look first.
  const isRepeatable = method === 'GET' || hasKey(request);
  if (outcome === 'lost') return isRepeatable;
  // Rejected before any work, whatever the method.
  if (outcome.status === 429) return true;
  return isRepeatable && (RETRIED_STATUSES.includes(outcome.status) || outcome.code === IN_PROGRESS);
}

/** After a 401 the token is signed again. A write without a key is not repeated even then. */
export function isSafeToResendWithNewToken(request: OperationRequest): boolean {
  const { method, path } = request;
  return !isNeverRetried(method, path) && (method === 'GET' || hasKey(request));
}

/** Answers before the service looks at the key: they say nothing of an earlier attempt. */
const SAYS_NOTHING_OF_EARLIER = [401, 403, 429];

/** Whether a write may have taken effect, after this outcome and what was known before it. */
export function isUnknownAfter({ method }: OperationRequest, outcome: Outcome, wasUnknown: boolean): boolean {
  if (method === 'GET') return false;
  if (outcome === 'lost') return true;
  if (outcome === 'not-sent' || outcome === 'no-token') return wasUnknown;
  const { status, code } = outcome;
  if (status >= 200 && status < 300) return false;
  // Without a code it is a proxy's, which may have passed the request on.
  if (code === null || status === 408 || status >= 500 || code === IN_PROGRESS) return true;
  return SAYS_NOTHING_OF_EARLIER.includes(status) && wasUnknown;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 8_000;
/** Callers that got the same time must not all return at that moment. */
const JITTER = 0.25;

/** What the service asks for, and up to a quarter more; without that a random part of a time that doubles. */
export function waitBeforeRetry(attempt: number, retryAfterMs: number | null, random: () => number): number {
  if (retryAfterMs !== null) return retryAfterMs * (1 + JITTER * random());
  return Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS) * (0.5 + random() / 2);
}

/** Seconds or an HTTP date. */
export function retryAfterMs(header: string | null, now: Date): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime());
}

const BUDGET_MAX = 20;
const RETURNED_BY_SUCCESS = 0.1;

/** All calls of a client share it: a service in trouble gets at most a tenth more requests, not three times as many. */
export class RetryBudget {
  #left = BUDGET_MAX;

  /** Whether one more retry may be made; it is then counted. */
  take(): boolean {
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  succeeded(): void {
    this.#left = Math.min(BUDGET_MAX, this.#left + RETURNED_BY_SUCCESS);
  }
}
