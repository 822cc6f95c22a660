import type { Payment, Rejection, Timer } from '../books.ts';

/** What happens to a payment, chosen by the last two digits of its amount. */
export interface Scenario {
  /** In a few words; docs/sandbox.md is printed from them. */
  readonly shows: string;
  readonly status: 'accepted' | 'released' | 'completed';
  readonly later?: { readonly action: Timer['action']; readonly afterMs: number };
  /** Why its first attempts are rejected, and how many of them. */
  readonly rejection?: { readonly error: Rejection; readonly times: number };
  /** The first submissions that get 503 without effect. */
  readonly unavailableTimes?: number;
  /** The fault in the answer to the submission that takes effect. */
  readonly answer?: 'cut' | 'late' | 'after-callback';
  /** Look-ups get 400, as if the payment itself were rejected. */
  readonly lookUpsRejected?: boolean;
  /** What happens to its recall; default: it is accepted. */
  readonly recall?: { readonly action: Timer['action']; readonly afterMs: number };
}

export const LATE_ANSWER_MS = 10_000;

const CREDITOR_UNKNOWN: Rejection = {
  category: 'functional',
  origin: 'customer',
  code: 'AC03',
  message: 'The creditor account is not known.',
  attributes: {},
};

const PARTICIPANT_ERROR: Rejection = {
  category: 'technical',
  origin: 'provider',
  code: 'BE08',
  message: 'An intermediary bank made an error.',
  attributes: {},
};

export const SCENARIOS: Readonly<Record<number, Scenario>> = {
  1: {
    shows: 'rejected before release (`AC03`); nothing is booked',
    status: 'completed',
    rejection: { error: CREDITOR_UNKNOWN, times: Number.POSITIVE_INFINITY },
  },
  2: {
    shows: 'released, then fails (`AC07`) and is booked back',
    status: 'released',
    later: { action: 'fail', afterMs: 300 },
  },
  3: {
    shows: 'completed; returned after two seconds (`AC06`)',
    status: 'completed',
    later: { action: 'return', afterMs: 2_000 },
  },
  4: {
    shows: 'accepted, completed after a second without a callback: only a look-up finds it',
    status: 'accepted',
    later: { action: 'complete-silently', afterMs: 1_000 },
  },
  5: { shows: 'takes effect, then the connection is cut without an answer', status: 'completed', answer: 'cut' },
  6: { shows: '503 twice, without effect; the third submission works', status: 'completed', unavailableTimes: 2 },
  7: { shows: 'takes effect at once and answers after 10 s', status: 'completed', answer: 'late' },
  8: {
    shows: 'released; completed by a callback that is sent twice',
    status: 'released',
    later: { action: 'complete-and-tell-twice', afterMs: 100 },
  },
  // The route completes it, or the timer if the bank dies before that.
  9: {
    shows: 'calls back `payment-completed` before it answers `released`',
    status: 'released',
    answer: 'after-callback',
    later: { action: 'complete', afterMs: 5_000 },
  },
  10: { shows: 'stays `released` until a lever moves it', status: 'released' },
  11: {
    shows: 'the first attempt is rejected for a passing reason (`BE08`); the next works',
    status: 'completed',
    rejection: { error: PARTICIPANT_ERROR, times: 1 },
  },
  12: {
    shows: 'every attempt is rejected for a passing reason (`BE08`)',
    status: 'completed',
    rejection: { error: PARTICIPANT_ERROR, times: Number.POSITIVE_INFINITY },
  },
  13: { shows: 'stays `released`, and look-ups get a 400', status: 'released', lookUpsRejected: true },
  14: {
    shows: 'completed; its recall is rejected',
    status: 'completed',
    recall: { action: 'reject-recall', afterMs: 300 },
  },
  15: {
    shows: 'completed; its recall is accepted without a callback: only a look-up finds the return',
    status: 'completed',
    recall: { action: 'accept-recall-silently', afterMs: 1_000 },
  },
  16: {
    shows: 'completed; returned three days later (`AC06`): move the clock',
    status: 'completed',
    later: { action: 'return', afterMs: 3 * 24 * 3_600_000 },
  },
};

export const OTHER_AMOUNTS: Scenario = { shows: 'completed in the answer; no callback', status: 'completed' };

export function scenarioOf(amountMinor: bigint): Scenario {
  return SCENARIOS[Number(amountMinor % 100n)] ?? OTHER_AMOUNTS;
}

export function rejectsLookUps({ amountMinor }: Payment): boolean {
  return scenarioOf(amountMinor).lookUpsRejected ?? false;
}
