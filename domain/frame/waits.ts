/** A workflow's wait: its length, and how operators see it. Each resource's decisions supply its reason. */
const JITTER_MS_MAX = 30_000;

/** Releases this close before their cut-off are never delayed. */
const CUT_OFF_NEAR_MS = 10 * 60_000;

/**
 * The maximum jitter, in milliseconds, of a wait until `until`: a calendar releases thousands of transfers at one instant,
 * and they must not all arrive together. 0 if a cut-off follows closely.
 */
export function jitterMsMax(until: Date, cutOffAt: Date | null): number {
  if (cutOffAt === null || cutOffAt.getTime() <= until.getTime()) return JITTER_MS_MAX;
  return cutOffAt.getTime() - until.getTime() < CUT_OFF_NEAR_MS ? 0 : JITTER_MS_MAX;
}

/** How operators filter open workflows; absent values do not apply. Ids and codes only, no personal data. */
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
 * A workflow's wait, jitter included. It is a duration, because the clock of Temporal's server may differ from the
 * database's.
 */
export interface Wait {
  readonly do: 'wait';
  readonly for: string;
  /** An ISO instant, for display; null waits only for a change. */
  readonly until: string | null;
  readonly waitMs: number | null;
  readonly work: OpenWork;
  /** Of a transfer in review: since when, and the name of the rule that stopped it. Absent in histories of earlier releases. */
  readonly review?: { readonly since: string | null; readonly rule: string | null };
}

/** A decision's step with its wait in a form that a workflow can sleep through. */
export type WithWait<Step extends { readonly do: string }> = Exclude<Step, { readonly do: 'wait' }> | Wait;
