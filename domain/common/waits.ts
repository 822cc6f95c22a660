/** A workflow's wait: its length, and how operators see it. Each resource's decisions supply its reason. */
export const JITTER_MS_MAX = 30_000;

/**
 * Scheduling priorities of workflows, by the keys of Temporal's task queues (1 is first, 5 last). `later` is for work that comes by
 * the thousand: transfers for a later date, and items of a batch.
 */
export const PRIORITIES = { usual: 3, later: 4 } as const;
export type Priority = (typeof PRIORITIES)[keyof typeof PRIORITIES];

/** The longest delay, however many transfers there are: the day must not end before it, even without a cut-off. */
export const RELEASE_MS_MAX = 6 * 3_600_000;

/** Releases this close before their cut-off are never delayed. */
const CUT_OFF_NEAR_MS = 10 * 60_000;

/** A transfer among those that are released at the same instant. */
export interface ReleasePosition {
  /** How many are released before it. */
  readonly ahead: number;
  readonly perSecond: number;
  /** From 0 to 1. */
  readonly random: number;
}

/**
 * How long after `until`, in milliseconds, a release happens: a calendar releases thousands of transfers at one instant, and
 * they must not all arrive together. Up to 30 s; the more are ahead, the later, but within six hours, and with the last ten
 * minutes before the cut-off to spare. 0 if the cut-off is nearer.
 */
export function releaseDelayMs(
  until: Date,
  cutOffAt: Date | null,
  { ahead, perSecond, random }: ReleasePosition,
): number {
  const delayMs = (ahead / perSecond) * 1_000 + random * JITTER_MS_MAX;
  const openMs = cutOffAt === null ? 0 : cutOffAt.getTime() - until.getTime();
  if (openMs > 0 && openMs < CUT_OFF_NEAR_MS) return 0;
  const closesMs = openMs > 0 ? Math.max(JITTER_MS_MAX, openMs - CUT_OFF_NEAR_MS) : RELEASE_MS_MAX;
  const windowMs = Math.min(closesMs, RELEASE_MS_MAX);
  return delayMs <= windowMs ? delayMs : random * windowMs;
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
  /** An ISO instant. */
  readonly since: string | null;
  /** For a transfer in review: since when, and the name of the rule that stopped it. */
  readonly review?: { readonly since: string | null; readonly rule: string | null };
}

/** The reasons of waits in words; other reasons are shown as they are. */
const WORDS: Readonly<Record<string, string>> = {
  compliance: 'review',
  'next-window': 'the next window, after missing one',
  account: 'an account to become active',
  match: 'an account to be assigned to',
  'outgoing-transfer': 'the outgoing transfer',
  provider: 'the provider',
  'provider-decision': 'the provider’s decision on the payment that it has taken',
  retry: 'the next attempt, because the provider rejected the last one for a retryable reason',
  recall: 'the answer to its recall',
  caller: 'the caller’s report',
  mail: 'the mail server',
  answer: 'the invited person’s answer',
  'account-holder': 'the account holder’s approval',
  exchange: 'the third party’s exchange of its code',
  'grant-expiry': 'the end of the grant',
};

/** `authorization since 2026-11-23 09:00 UTC; until 2026-11-23 17:00 UTC`. Instants in ISO format. */
export function waitInWords(wait: {
  readonly for: string;
  readonly since: string | null;
  readonly until: string | null;
  readonly rule: string | null;
}): string {
  const words = WORDS[wait.for] ?? wait.for;
  const rule = wait.rule === null ? '' : ` (rule ${wait.rule})`;
  const since = wait.since === null ? '' : ` since ${minuteInUtc(wait.since)}`;
  return `${words}${rule}${since}${wait.until === null ? '' : `; until ${minuteInUtc(wait.until)}`}`;
}

/** `2026-11-23 09:00 UTC`. */
export function minuteInUtc(instant: string): string {
  return `${instant.slice(0, 16).replace('T', ' ')} UTC`;
}

/** A decision's step with its wait in a form that a workflow can sleep through. */
export type WithWait<Step extends { readonly do: string }> = Exclude<Step, { readonly do: 'wait' }> | Wait;
