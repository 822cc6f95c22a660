/**
 * A wait of a workflow: how long it lasts at most and how an operator sees it. What is waited for is decided with the
 * noun's status; this is the same for all of them.
 */
const JITTER_MS_MAX = 30_000;

/** A release this close before its cut-off is not put off by anything. */
const CUT_OFF_NEAR_MS = 10 * 60_000;

/**
 * The most by which a wait until `until` may be drawn out, in milliseconds: a calendar releases thousands of transfers at
 * one instant, and they must not all arrive at once. None where a cut-off is near after it.
 */
export function jitterMsMax(until: Date, cutOffAt: Date | null): number {
  if (cutOffAt === null || cutOffAt.getTime() <= until.getTime()) return JITTER_MS_MAX;
  return cutOffAt.getTime() - until.getTime() < CUT_OFF_NEAR_MS ? 0 : JITTER_MS_MAX;
}

/** What an operator can filter open workflows by; absent values do not apply. No personal data, ids and codes only. */
export interface OpenWork {
  readonly clientId: string | null;
  readonly accountId: string | null;
  readonly status: string;
  readonly scheme: string | null;
  readonly currency: string | null;
  readonly provider: string | null;
  readonly waitingFor: string;
}

/**
 * A workflow's wait. A duration and not an instant counts, since the server that keeps the timer may have another clock than
 * the database; jitter is in it.
 */
export interface Wait {
  readonly do: 'wait';
  readonly for: string;
  /** ISO instant, for showing; null waits for a change alone. */
  readonly until: string | null;
  readonly waitMs: number | null;
  readonly work: OpenWork;
}

/** A step as its decision returns it, with its wait as a workflow can sleep through it. */
export type WithWait<Step extends { readonly do: string }> = Exclude<Step, { readonly do: 'wait' }> | Wait;
