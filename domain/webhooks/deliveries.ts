/** Webhook deliveries: the schedule of attempts, and the meaning of answers. Pure functions. */

/** The type and id prefix of delivery workflows, `webhook-delivery/<shard>`. */
export const WEBHOOK_DELIVERY_WORKFLOW = 'webhook-delivery';

/** The times of attempts. Standard Webhooks 1.0 recommends ten within 75 h 35 min. */
export interface AttemptSchedule {
  /** The delay before each attempt of a round, starting with the first. */
  readonly attemptDelaysSeconds: readonly number[];
  /** The largest random extension of a delay, as a part of it, so that simultaneous failures do not retry together. */
  readonly jitterRatio: number;
}

/** Retry-After cannot delay an attempt beyond the schedule's longest delay. */
const RETRY_AFTER_MAX_MS = 86_400_000;

/** Why an attempt got no complete answer. */
export type AttemptError =
  | 'timeout'
  | 'connect_timeout'
  | 'address_rejected'
  | 'name_not_found'
  | 'dns_failed'
  | 'connection_refused'
  | 'connection_failed'
  | 'connection_lost'
  | 'tls_failed'
  | 'certificate_expired'
  | 'certificate_not_yet_valid'
  | 'certificate_self_signed'
  | 'certificate_authority_unknown'
  | 'certificate_name_mismatch'
  | 'certificate_too_weak'
  | 'certificate_invalid'
  | 'answer_too_large'
  | 'answer_invalid'
  | 'event_unreadable';

export interface AttemptOutcome {
  readonly durationMs: number;
  readonly responseCode: number | null;
  /** The first 1 KiB of the response body, as text. */
  readonly responseBody: string | null;
  readonly error: AttemptError | null;
  /** The response's Retry-After, counted from the response. */
  readonly retryAfterMs: number | null;
}

export type AttemptVerdict =
  | { readonly result: 'succeeded' }
  | { readonly result: 'retry'; readonly delayMs: number }
  | { readonly result: 'exhausted' }
  /** 410: the receiver is permanently gone, and its subscription is disabled. */
  | { readonly result: 'gone' };

const THROTTLING_CODES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export function isSuccess(responseCode: number): boolean {
  return responseCode >= 200 && responseCode < 300;
}

/** Only a completely read 2xx answer is a success; a redirect is a failure like any other. */
export function isAccepted(attempt: { readonly responseCode: number | null; readonly error: string | null }): boolean {
  return attempt.error === null && attempt.responseCode !== null && isSuccess(attempt.responseCode);
}

/**
 * Decides what follows an attempt. `attempt` counts from 1 within the round; `random` is in [0, 1).
 */
export function decideAfterAttempt(
  outcome: AttemptOutcome,
  attempt: number,
  schedule: AttemptSchedule,
  random: number,
): AttemptVerdict {
  const { responseCode, retryAfterMs } = outcome;
  if (isAccepted(outcome)) return { result: 'succeeded' };
  if (responseCode === 410) return { result: 'gone' };
  const scheduledSeconds = schedule.attemptDelaysSeconds[attempt];
  if (scheduledSeconds === undefined) return { result: 'exhausted' };
  const waitMs = Math.max(scheduledSeconds * 1_000, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS));
  return { result: 'retry', delayMs: Math.ceil(waitMs * (1 + schedule.jitterRatio * random)) };
}

/**
 * What an attempt shows about its receiver, whatever the result of the delivery. `unwell`: no answer, or overloaded, so it gets
 * fewer concurrent attempts. A rejected event shows nothing.
 */
export function receiverHealth({ responseCode, error }: AttemptOutcome): 'well' | 'unknown' | 'unwell' {
  if (error !== null && error !== 'event_unreadable') return 'unwell';
  if (responseCode === null) return 'unknown';
  if (THROTTLING_CODES.has(responseCode)) return 'unwell';
  return isSuccess(responseCode) ? 'well' : 'unknown';
}

/** Parses a Retry-After header: seconds or an HTTP date. Null if it is neither. */
export function parseRetryAfter(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  if (!/^[A-Za-z]{3,9},? /.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime());
}
