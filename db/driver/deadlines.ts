import { DatabaseUnavailable } from './failures.ts';

/** The limits of a call: when its caller's answer is due (`performance.now()`), and whether the caller is still there. */
export interface CallLimits {
  readonly endsAt: number;
  readonly isGone: () => boolean;
}

/** The longest queue: some twenty batches at full load. Calls beyond that would expire anyway and only fill the memory. */
export const QUEUE_LENGTH_MAX = 2_000;

/** Time for a commit that started in time to finish before the caller's answer is due; a fifth of a short deadline. */
const COMMIT_ALLOWANCE_MS = 500;

const isNeverGone = (): boolean => false;

/** For a call that starts now without a caller of its own. */
export function limitsOf(durationMs: number): CallLimits {
  return { endsAt: performance.now() + durationMs, isGone: isNeverGone };
}

/**
 * How long a call may wait for its turn: nine tenths of its time. The last tenth is enough to answer it; a call that starts
 * at the last moment would miss its deadline and take the connection with it.
 */
export function waitEndsAt(endsAt: number, now: number): number {
  return now + (endsAt - now) * 0.9;
}

/** The instant (`performance.now()`) from which Postgres refuses a write whose caller's answer is due at `endsAt`. */
export function writeEndsAt(endsAt: number, now: number): number {
  return endsAt - Math.min(COMMIT_ALLOWANCE_MS, Math.max(0, endsAt - now) / 5);
}

/** Nothing was sent: the call waited too long, or the queue is full. */
export function neverBegun(reason: string): DatabaseUnavailable {
  return new DatabaseUnavailable(reason, { outcome: 'nothing-done' });
}
