/** The limit on wrong passwords, per e-mail address (decisions, Passwords). An address without a user has it, too. */
export const FAILURES_MAX = 10;
export const FAILURES_WINDOW_MS = 15 * 60_000;

export type AuthenticationAttempt =
  | { readonly allowed: true; readonly failedAt: readonly Date[] }
  | { readonly allowed: false; readonly retryAfterSeconds: number };

/**
 * Counts an attempt as failed before its password is checked, so that many at once cannot exceed the limit; a correct
 * password takes its own attempt back.
 */
export function decideAuthenticationAttempt(failedAt: readonly Date[], now: Date): AuthenticationAttempt {
  const recent = failedAt.filter((at) => at.getTime() > now.getTime() - FAILURES_WINDOW_MS);
  const oldestThatCounts = recent.at(-FAILURES_MAX);
  if (oldestThatCounts === undefined || recent.length < FAILURES_MAX) {
    return { allowed: true, failedAt: [...recent, now] };
  }
  const untilMs = oldestThatCounts.getTime() + FAILURES_WINDOW_MS - now.getTime();
  return { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil(untilMs / 1000)) };
}

/** The failures without one attempt whose password was correct. */
export function withoutAttempt(failedAt: readonly Date[], attemptedAt: Date): readonly Date[] {
  const at = failedAt.findIndex((failed) => failed.getTime() === attemptedAt.getTime());
  return failedAt.filter((_, index) => index !== at);
}

/** From when on none of the failures counts. They are in order. */
export function forgetAt(failedAt: readonly Date[]): Date {
  return new Date((failedAt.at(-1)?.getTime() ?? 0) + FAILURES_WINDOW_MS);
}
