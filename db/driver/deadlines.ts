import { DatabaseUnavailable } from './failures.ts';

/** What bounds a call: when its caller's answer is due, by `performance.now()`, and whether the caller is still there to get it. */
export interface CallLimits {
  readonly endsAt: number;
  readonly isGone: () => boolean;
}

/** Calls that wait for one queue. Twenty such moments of full load; what is beyond waits in vain and only fills the memory. */
export const QUEUE_LENGTH_MAX = 2_000;

/** A commit that was begun in time is over before its caller is answered; of a short deadline, a fifth. */
const COMMIT_ALLOWANCE_MS = 500;

const isNeverGone = (): boolean => false;

/** Of a call that begins now and has no caller of its own. */
export function limitsOf(durationMs: number): CallLimits {
  return { endsAt: performance.now() + durationMs, isGone: isNeverGone };
}

/**
 * Until when a call may wait for its turn: for nine tenths of its time. What is begun with the last tenth is answered; what
 * is begun at the last moment would miss its deadline, and take the connection with it.
 */
export function waitEndsAt(endsAt: number, now: number): number {
  return now + (endsAt - now) * 0.9;
}

/** The instant, by `performance.now()`, from which on Postgres refuses a write whose caller's answer is due at `endsAt`. */
export function writeEndsAt(endsAt: number, now: number): number {
  return endsAt - Math.min(COMMIT_ALLOWANCE_MS, Math.max(0, endsAt - now) / 5);
}

/** Nothing was sent: the call waited for its turn for too long, or too many wait. */
export function neverBegun(reason: string): DatabaseUnavailable {
  return new DatabaseUnavailable(reason, { outcome: 'nothing-done' });
}
