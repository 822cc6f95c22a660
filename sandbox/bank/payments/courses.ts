import type { Payment, Refusal, Timer } from '../books.ts';

/** A payment's course, chosen by the last two digits of its amount. */
export interface Course {
  readonly status: 'accepted' | 'released' | 'completed';
  readonly later?: { readonly action: Timer['action']; readonly afterMs: number };
  /** Why its first attempts are refused, and how many of them. */
  readonly refusal?: { readonly error: Refusal; readonly times: number };
  /** The first submissions that get 503 without effect. */
  readonly unavailableTimes?: number;
  /** The fault in the answer to the submission that takes effect. */
  readonly answer?: 'cut' | 'late' | 'after-callback';
  /** Look-ups get 400, as if the payment itself were refused. */
  readonly lookUpsRefused?: boolean;
  /** What becomes of its recall; default: it is accepted. */
  readonly recall?: { readonly action: Timer['action']; readonly afterMs: number };
}

export const LATE_ANSWER_MS = 10_000;

const CREDITOR_UNKNOWN: Refusal = {
  category: 'functional',
  origin: 'customer',
  code: 'AC03',
  message: 'The creditor account is not known.',
  attributes: {},
};

const PARTICIPANT_ERROR: Refusal = {
  category: 'technical',
  origin: 'provider',
  code: 'BE08',
  message: 'A bank on the way made an error.',
  attributes: {},
};

const COURSES: Readonly<Record<number, Course>> = {
  1: { status: 'completed', refusal: { error: CREDITOR_UNKNOWN, times: Number.POSITIVE_INFINITY } },
  2: { status: 'released', later: { action: 'fail', afterMs: 300 } },
  3: { status: 'completed', later: { action: 'return', afterMs: 2_000 } },
  4: { status: 'accepted', later: { action: 'complete-silently', afterMs: 1_000 } },
  5: { status: 'completed', answer: 'cut' },
  6: { status: 'completed', unavailableTimes: 2 },
  7: { status: 'completed', answer: 'late' },
  8: { status: 'released', later: { action: 'complete-and-tell-twice', afterMs: 100 } },
  // The route completes it, or the timer if the bank dies before that.
  9: { status: 'released', answer: 'after-callback', later: { action: 'complete', afterMs: 5_000 } },
  10: { status: 'released' },
  11: { status: 'completed', refusal: { error: PARTICIPANT_ERROR, times: 1 } },
  12: { status: 'completed', refusal: { error: PARTICIPANT_ERROR, times: Number.POSITIVE_INFINITY } },
  13: { status: 'released', lookUpsRefused: true },
  14: { status: 'completed', recall: { action: 'refuse-recall', afterMs: 300 } },
  15: { status: 'completed', recall: { action: 'accept-recall-silently', afterMs: 1_000 } },
  16: { status: 'completed', later: { action: 'return', afterMs: 3 * 24 * 3_600_000 } },
};

export function courseOf(amountMinor: bigint): Course {
  return COURSES[Number(amountMinor % 100n)] ?? { status: 'completed' };
}

export function refusesLookUps({ amountMinor }: Payment): boolean {
  return courseOf(amountMinor).lookUpsRefused ?? false;
}
