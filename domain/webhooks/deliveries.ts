/** Webhook deliveries: the schedule of attempts, and what an answer means. Everything is an argument. */

/** Type and id prefix of the workflows that deliver, `webhook-delivery/<shard>`. */
export const WEBHOOK_DELIVERY_WORKFLOW = 'webhook-delivery';

/** When attempts are made. Standard Webhooks 1.0 recommends ten within 75 h 35 min. */
export interface AttemptSchedule {
  /** The wait before each attempt of a round, the first's first. */
  readonly attemptDelaysSeconds: readonly number[];
  /** Each wait is longer by up to this part of itself, so that what failed together does not come back together. */
  readonly jitterRatio: number;
}

/** A receiver cannot put an attempt off for longer than the schedule's longest wait. */
const RETRY_AFTER_MAX_MS = 86_400_000;

/** What one attempt came to: an answer, or the reason why there is none. */
export type AttemptError =
  | 'timeout'
  | 'address_refused'
  | 'dns_failed'
  | 'connection_failed'
  | 'connection_lost'
  | 'tls_failed'
  | 'answer_too_large'
  | 'answer_invalid'
  | 'event_unreadable';

export interface AttemptOutcome {
  readonly durationMs: number;
  readonly responseCode: number | null;
  /** The first 1 KiB of the answer's body, as text. */
  readonly responseBody: string | null;
  readonly error: AttemptError | null;
  /** As the answer's Retry-After asks, counted from the answer. */
  readonly retryAfterMs: number | null;
}

export type AttemptVerdict =
  | { readonly result: 'succeeded' }
  | { readonly result: 'retry'; readonly delayMs: number }
  | { readonly result: 'exhausted' }
  /** 410: the receiver is gone for good; its subscription is disabled. */
  | { readonly result: 'gone' };

const THROTTLING_CODES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Judges an attempt: only an answer 2xx that was read whole is a success; a redirect is a failure like any other.
 * `attempt` counts within the round, from 1; `random` is in [0, 1).
 */
export function decideAfterAttempt(
  outcome: AttemptOutcome,
  attempt: number,
  schedule: AttemptSchedule,
  random: number,
): AttemptVerdict {
  const { responseCode, error, retryAfterMs } = outcome;
  if (error === null && responseCode !== null && responseCode >= 200 && responseCode < 300) {
    return { result: 'succeeded' };
  }
  if (responseCode === 410) return { result: 'gone' };
  const scheduledSeconds = schedule.attemptDelaysSeconds[attempt];
  if (scheduledSeconds === undefined) return { result: 'exhausted' };
  const waitMs = Math.max(scheduledSeconds * 1_000, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS));
  return { result: 'retry', delayMs: Math.ceil(waitMs * (1 + schedule.jitterRatio * random)) };
}

/**
 * What an attempt tells of its receiver, whatever becomes of the delivery: `unwell` = it gave no answer, or said that it
 * has too much to do, so fewer attempts are made at once. An event that it refuses tells nothing.
 */
export function receiverHealth({ responseCode, error }: AttemptOutcome): 'well' | 'unknown' | 'unwell' {
  if (error !== null && error !== 'event_unreadable') return 'unwell';
  if (responseCode === null) return 'unknown';
  if (THROTTLING_CODES.has(responseCode)) return 'unwell';
  return responseCode >= 200 && responseCode < 300 ? 'well' : 'unknown';
}

/** Reads a Retry-After header: seconds, or an HTTP date. Null where it is neither. */
export function parseRetryAfter(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  if (!/^[A-Za-z]{3,9},? /.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime());
}
