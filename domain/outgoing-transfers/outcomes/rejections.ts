import type { LocalDate } from '../../common/time/dates.ts';
import { isUsable } from '../../ledger/ledger.ts';
import type { SchemeOf, Schemes } from '../../providers/schemes.ts';
import type { OutgoingTransfer } from '../rows.ts';
import type { OutgoingTransferStep } from '../statuses.ts';
import type { Draft } from './draft.ts';

/**
 * Rejections for a temporary reason: BE08, an error of a bank, and MS03, no reason given. Every other reason remains true however
 * often the payment is submitted.
 */
const RETRYABLE_REASONS: ReadonlySet<string> = new Set(['BE08', 'MS03']);

export function isRetryable(code: string | null): boolean {
  return code !== null && RETRYABLE_REASONS.has(code);
}

/** Whether a rejection of this attempt is already known: a later attempt has begun, or the rejection is recorded. */
export function isKnownRejection(transfer: OutgoingTransfer, attempt: number): boolean {
  const { submissionAttempt, submissionStatus } = transfer;
  return attempt < submissionAttempt || (attempt === submissionAttempt && submissionStatus === 'rejected');
}

/** Schedules a retry of a rejected payment, which keeps its reservation; false if its reason or the limit does not allow one. */
export function scheduleRetry(draft: Draft, attempt: number, code: string | null): boolean {
  const { transfer, situation } = draft;
  const { now, rules } = situation;
  if (transfer.status !== 'processing' || transfer.scope !== 'external' || transfer.method !== 'built-in') return false;
  if (!isRetryable(code) || transfer.retryCount >= rules.retryLimit) return false;
  draft.set({
    submissionAttempt: attempt,
    submissionStatus: 'rejected',
    retryCount: transfer.retryCount + 1,
    rejectionCode: code,
    // Those of a queued payment come by themselves, and have an answer now. An operator's is kept.
    nextLookUpAt: transfer.submissionStatus === 'queued' ? null : transfer.nextLookUpAt,
    ...nextAttempt(transfer, rules.schemes, now, rules.retryPauseSeconds),
  });
  return true;
}

interface NextAttempt {
  /** The date of the window, on which the payment is released if accepted. */
  readonly transferDate: LocalDate;
  readonly cutOffAt: Date | null;
  readonly retryAt: Date;
}

/** The opening of the next window, or a pause if the scheme never closes. */
function nextAttempt(
  of: SchemeOf & { readonly transferDate: LocalDate },
  schemes: Schemes,
  now: Date,
  pauseSeconds: number,
): NextAttempt {
  if (schemes.neverCloses(of)) {
    const retryAt = new Date(now.getTime() + pauseSeconds * 1_000);
    return { transferDate: laterOf(of.transferDate, schemes.today(of, retryAt)), cutOffAt: null, retryAt };
  }
  const transferDate = schemes.nextOpening(of, laterOf(of.transferDate, schemes.today(of, now)), now);
  return { transferDate, cutOffAt: schemes.cutOff(of, transferDate), retryAt: schemes.opensAt(of, transferDate) };
}

function laterOf(one: LocalDate, other: LocalDate): LocalDate {
  return one > other ? one : other;
}

/**
 * Reschedules the retry of a rejected payment to the first date that the present calendars allow, never to an earlier time; false if
 * the transfer waits for no retry. The workflow takes the next step, so that a look-up it is about to make is not lost.
 */
export function rescheduleAttempt(draft: Draft): boolean {
  const { transfer, situation } = draft;
  if (transfer.status !== 'processing' || transfer.submissionStatus !== 'rejected') return false;
  const { schemes } = situation.rules;
  const { transferDate, cutOff } = schemes.roll(transfer, transfer.transferDate, situation.now);
  const opensAt = schemes.opensAt(transfer, transferDate);
  const retryAt = transfer.retryAt !== null && transfer.retryAt > opensAt ? transfer.retryAt : opensAt;
  draft.set({ transferDate, cutOffAt: cutOff, retryAt });
  if (transfer.waitingFor === 'retry') draft.wait('retry', retryAt);
  return true;
}

/** The next step of a rejected payment: it waits for its window, is rescheduled if that was missed, or is submitted again. */
export function stepAfterRejection(draft: Draft): OutgoingTransferStep {
  const { now, rules } = draft.situation;
  const { schemes } = rules;
  const { retryAt } = draft.transfer;
  if (retryAt !== null && retryAt > now) return draft.wait('retry', retryAt);
  const { transferDate, cutOff } = schemes.roll(draft.transfer, draft.transfer.transferDate, now);
  draft.set({ transferDate, cutOffAt: cutOff });
  const opensAt = schemes.opensAt(draft.transfer, transferDate);
  if (opensAt > now) {
    draft.set({ retryAt: opensAt });
    return draft.wait('retry', opensAt);
  }
  // A new attempt is a new instruction to pay, which requires an active account.
  if (!isUsable(draft.source)) return draft.wait('account', schemes.rollsAt(draft.transfer, transferDate));
  return beginAttempt(draft);
}

/** Begins the next attempt. The rejected one cannot pay any more. */
export function beginAttempt(draft: Draft): OutgoingTransferStep {
  const attempt = draft.transfer.submissionAttempt + 1;
  draft.set({ submissionAttempt: attempt, submissionStatus: 'unresolved', retryAt: null });
  draft.wait('provider', null);
  return { do: 'submit', attempt };
}
