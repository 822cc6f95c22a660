import { addDays } from '../common/time/dates.ts';
import { isUsable } from '../ledger/ledger.ts';
import { decideCancellation } from './changes.ts';
import { TransferDraft } from './drafts.ts';
import { rejectedCommand, requireAtProvider } from './look-ups.ts';
import { beginAttempt } from './outcomes/rejections.ts';
import type { OutgoingTransfer } from './rows.ts';
import { isFinalOutgoingTransferStatus } from './statuses.ts';
import type { TransferChange, TransferSituation } from './transfer-changes.ts';

// The manual operations on a transfer. Each function rejects, by throwing a DomainError, a command that could pay twice; a null
// change means that the transfer is already in the requested state.

/** The `statusReason` code of a transfer that an operator failed. */
export const FAILED_BY_OPERATOR = 'operator.failed';

/**
 * Submits a payment again, as a new attempt under the same reference, or, if the provider has taken it, as the same. Otherwise only after a look-up has shown that the provider does not know
 * the payment: until then the earlier attempt may have paid.
 */
export function decideRetry(situation: TransferSituation): TransferChange {
  const { transfer } = situation;
  const { id, status, submissionStatus, submissionAttempt, nextLookUpAt, waitingUntil } = transfer;
  requireAtProvider(transfer, 'submitted again');
  if (status !== 'processing') throw rejectedCommand(transfer, 'submitted again', 'the provider has accepted it');
  if (submissionStatus === 'rejected') return retryNow(situation);
  if (submissionStatus === 'queued') return repeatSubmission(situation);
  if (submissionStatus !== 'not-found') {
    const unknown = `the outcome of attempt ${submissionAttempt} is unknown, and the provider may have it. Run look-up ${id} first`;
    throw rejectedCommand(transfer, 'submitted again', unknown);
  }
  // The payment pauses between a look-up and the next one, which may find it.
  if (nextLookUpAt !== null || waitingUntil === null)
    throw rejectedCommand(transfer, 'submitted again', 'another look-up of it is still unanswered');
  const draft = new TransferDraft(situation);
  draft.set({ submissionAttempt: submissionAttempt + 1, submissionStatus: 'unresolved' });
  draft.advance();
  draft.wake();
  return changeOf(draft);
}

/** Repeats the attempt that the provider has taken, in case it has lost it: of one that it has, a repetition changes nothing. */
function repeatSubmission(situation: TransferSituation): TransferChange {
  const draft = new TransferDraft(situation);
  draft.set({ submissionStatus: 'unresolved', nextLookUpAt: null });
  draft.advance();
  draft.wake();
  return changeOf(draft);
}

/** Brings the attempt after a rejection forward into the present window: a rejected attempt cannot pay any more. */
function retryNow(situation: TransferSituation): TransferChange {
  const { transfer, now, rules } = situation;
  const { schemes } = rules;
  const today = schemes.today(transfer, now);
  const { transferDate, cutOff } = schemes.roll(transfer, today, now);
  const opensAt = schemes.opensAt(transfer, transferDate);
  if (opensAt > now) {
    const closed = `its scheme is closed until ${opensAt.toISOString()}, when it is submitted automatically`;
    throw rejectedCommand(transfer, 'submitted again', closed);
  }
  const draft = new TransferDraft(situation);
  if (!isUsable(draft.source)) {
    throw rejectedCommand(
      transfer,
      'submitted again',
      'its account is not active; it is submitted automatically once the account is',
    );
  }
  draft.set({ transferDate, cutOffAt: cutOff });
  beginAttempt(draft);
  draft.wake();
  return changeOf(draft);
}

/** Fails a transfer whose money has not left the service and is not about to. */
export function decideFailure(situation: TransferSituation, reason: string): TransferChange | null {
  const { transfer } = situation;
  // The first reason stays.
  if (transfer.status === 'failed' && transfer.failureCode === FAILED_BY_OPERATOR) return null;
  const obstacle = whyNotFailed(transfer);
  if (obstacle !== null) throw rejectedCommand(transfer, 'failed', obstacle);
  return failed(situation, reason);
}

/**
 * Ends a transfer again that had ended before a restore: cancels a pending one, fails a processing one. `neverPaid`: its last run had ended, so
 * no submission is in progress, and the provider has just reported that it does not know the payment.
 */
export function decideRepeatedEnd(
  situation: TransferSituation,
  reason: string,
  neverPaid: boolean,
): TransferChange | null {
  const { status, scope, method } = situation.transfer;
  if (status === 'pending') return decideCancellation(situation);
  const isAtProvider = status === 'processing' && scope === 'external' && method === 'built-in';
  return isAtProvider && neverPaid ? failed(situation, reason) : decideFailure(situation, reason);
}

function failed(situation: TransferSituation, reason: string): TransferChange {
  const draft = new TransferDraft(situation);
  draft.fail(FAILED_BY_OPERATOR, reason);
  draft.wake();
  return changeOf(draft);
}

function whyNotFailed({ status, scope, method, ...transfer }: OutgoingTransfer): string | null {
  const { submissionAttempt, submissionStatus } = transfer;
  if (status === 'pending') return null;
  if (isFinalOutgoingTransferStatus(status)) return `it is ${status}, which is final`;
  if (status === 'released') return 'the provider has accepted it, and only the provider’s result can fail it';
  if (scope === 'internal') return null;
  if (method === 'plug-in') return 'its plug-in caller may have paid it, and only the caller’s report can fail it';
  if (submissionStatus === 'rejected') return null;
  if (submissionStatus === 'queued') return 'the provider has taken it, and only the provider’s result can fail it';
  return `attempt ${submissionAttempt} is unresolved: the provider may have paid it`;
}

/**
 * Reschedules a pending transfer from the present window, in which a transfer requested now would go out, to the next one. A repetition
 * finds it there. Counts as a roll.
 */
export function decideNextWindow(situation: TransferSituation): TransferChange | null {
  const { transfer, now, rules } = situation;
  const { schemes, rollLimit } = rules;
  const rejected = (reason: string) => rejectedCommand(transfer, 'moved to the next window', reason);
  if (isFinalOutgoingTransferStatus(transfer.status)) throw rejected(`it is ${transfer.status}, which is final`);
  if (transfer.status !== 'pending') throw rejected(`it is ${transfer.status}: its payment is in progress`);
  const present = schemes.nextAvailableDate(transfer, now);
  const { transferDate, cutOff } = schemes.roll(transfer, addDays(present, 1), now);
  if (transfer.transferDate === transferDate) return null;
  if (transfer.transferDate > transferDate)
    throw rejected(`its date, ${transfer.transferDate}, is after ${transferDate}`);
  if (transfer.rollCount >= rollLimit) throw rejected(`it has rolled ${transfer.rollCount} times, which is the limit`);
  const draft = new TransferDraft(situation);
  const rollCount = transfer.rollCount + 1;
  draft.set({ transferDate, cutOffAt: cutOff, rollCount, transferDateStatus: 'not-checked' });
  draft.advance();
  draft.wake();
  return changeOf(draft);
}

function changeOf(draft: TransferDraft): TransferChange {
  const change = draft.change();
  if (change === null) throw new Error('a command that is not rejected changes the transfer');
  return change;
}
