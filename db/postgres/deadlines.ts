import type { CallLimits } from '../query/database.ts';
import { DatabaseUnavailable } from './failures.ts';

/** The longest queue: some twenty batches at full load. Calls beyond that would expire anyway and only fill the memory. */
export const QUEUE_LENGTH_MAX = 2_000;

/** Time for a commit that started in time to finish before the caller's answer is due; a fifth of a short deadline. */
const COMMIT_ALLOWANCE_MS = 500;

const isNeverGone = (): boolean => false;

/** For a call that starts now without a caller of its own. */
export function limitsOf(durationMs: number): CallLimits {
  return { endsAt: performance.now() + durationMs, isGone: isNeverGone };
}

/** Of calls that go in one statement: the earliest deadline, and whether every caller is gone. */
export function limitsOfAll(all: readonly CallLimits[]): CallLimits {
  const endsAt = all.reduce((first, limits) => Math.min(first, limits.endsAt), Number.POSITIVE_INFINITY);
  return { endsAt, isGone: () => all.every((limits) => limits.isGone()) };
}

/**
 * How long a call may wait for its turn: nine tenths of its time. The last tenth is enough to answer it; a call that starts
 * at the last moment would miss its deadline and take the connection with it.
 */
export function waitEndsAt(endsAt: number, now: number): number {
  return now + (endsAt - now) * 0.9;
}

/** The instant (`performance.now()`) from which Postgres rejects a write whose caller's answer is due at `endsAt`. */
export function writeEndsAt(endsAt: number, now: number): number {
  return endsAt - Math.min(COMMIT_ALLOWANCE_MS, Math.max(0, endsAt - now) / 5);
}

/** Nothing was sent: the call waited too long, or the queue is full. */
export function neverBegun(reason: string): DatabaseUnavailable {
  return new DatabaseUnavailable(reason, { outcome: 'nothing-done' });
}
