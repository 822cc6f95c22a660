import { addDays } from '../frame/time/dates.ts';
import { isUsable } from '../ledger/ledger.ts';
import { decideCancellation } from './changes.ts';
import { TransferDraft } from './drafts.ts';
import { refusedCommand, requireAtProvider } from './look-ups.ts';
import { beginAttempt } from './outcomes/refusals.ts';
import { isFinalOutgoingTransferStatus } from './outgoing-transfers.ts';
import type { OutgoingTransfer } from './rows.ts';
import type { TransferChange, TransferSituation } from './transfer-changes.ts';

// What an operator may do to a transfer by hand. Each function refuses what could pay twice, by throwing a DomainError; a null
// change means that the transfer already is as the command wants it.

/** The `statusReason` code of a transfer that an operator failed. */
export const FAILED_BY_OPERATOR = 'operator.failed';

/**
 * Submits a payment again, as a new attempt under the same reference. Only once a look-up has said that the provider does not know
 * the payment: until then the earlier attempt may have paid.
 */
export function decideRetry(situation: TransferSituation): TransferChange {
  const { transfer } = situation;
  const { id, status, submissionStatus, submissionAttempt, nextLookUpAt, waitingUntil } = transfer;
  requireAtProvider(transfer, 'submitted again');
  if (status !== 'processing') throw refusedCommand(transfer, 'submitted again', 'the provider has accepted it');
  if (submissionStatus === 'refused') return retryNow(situation);
  if (submissionStatus !== 'not-found') {
    const unknown = `the provider may know attempt ${submissionAttempt}, whose outcome is unknown. Run look-up ${id} first`;
    throw refusedCommand(transfer, 'submitted again', unknown);
  }
  // The payment rests from the answer of a look-up to the next one, which may find it.
  if (nextLookUpAt !== null || waitingUntil === null)
    throw refusedCommand(transfer, 'submitted again', 'another look-up of it has no answer yet');
  const draft = new TransferDraft(situation);
  draft.set({ submissionAttempt: submissionAttempt + 1, submissionStatus: 'unresolved' });
  draft.advance();
  draft.wake();
  return changeOf(draft);
}

/** Brings the attempt after a refusal forward into the present window: what the provider has refused cannot pay any more. */
function retryNow(situation: TransferSituation): TransferChange {
  const { transfer, now, rules } = situation;
  const { schemes } = rules;
  const today = schemes.today(transfer, now);
  const { transferDate, cutOff } = schemes.roll(transfer, today, now);
  const opensAt = schemes.opensAt(transfer, transferDate);
  if (opensAt > now) {
    const closed = `its scheme is closed until ${opensAt.toISOString()}, when it goes out by itself`;
    throw refusedCommand(transfer, 'submitted again', closed);
  }
  const draft = new TransferDraft(situation);
  if (!isUsable(draft.source)) {
    throw refusedCommand(transfer, 'submitted again', 'its account is not active; it goes out by itself once that is');
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
  if (obstacle !== null) throw refusedCommand(transfer, 'failed', obstacle);
  return failed(situation, reason);
}

/**
 * Ends again what had ended before a restore: cancels a pending transfer, fails one on its way. `neverPaid`: its last run had ended, so
 * nothing of it is under way, and the provider has just said that it does not know the payment.
 */
export function decideEndAgain(
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
  if (method === 'plug-in') return 'its caller may have paid it, and only the caller’s report can fail it';
  if (submissionStatus === 'refused') return null;
  return `attempt ${submissionAttempt} is unresolved: the provider may have paid it`;
}

/**
 * Moves a pending transfer from the present window, that of a transfer requested now, to the one after it. So a repetition finds it
 * there. It counts as a roll.
 */
export function decideNextWindow(situation: TransferSituation): TransferChange | null {
  const { transfer, now, rules } = situation;
  const { schemes, rollLimit } = rules;
  const refused = (reason: string) => refusedCommand(transfer, 'moved to the next window', reason);
  if (isFinalOutgoingTransferStatus(transfer.status)) throw refused(`it is ${transfer.status}, which is final`);
  if (transfer.status !== 'pending') throw refused(`it is ${transfer.status}: its money is on its way`);
  const present = schemes.nextAvailableDate(transfer, now);
  const { transferDate, cutOff } = schemes.roll(transfer, addDays(present, 1), now);
  if (transfer.transferDate === transferDate) return null;
  if (transfer.transferDate > transferDate)
    throw refused(`its date, ${transfer.transferDate}, is after ${transferDate}`);
  if (transfer.rollCount >= rollLimit) throw refused(`it has rolled ${transfer.rollCount} times, which is the limit`);
  const draft = new TransferDraft(situation);
  const rollCount = transfer.rollCount + 1;
  draft.set({ transferDate, cutOffAt: cutOff, rollCount, transferDateStatus: 'not-checked' });
  draft.advance();
  draft.wake();
  return changeOf(draft);
}

function changeOf(draft: TransferDraft): TransferChange {
  const change = draft.change();
  if (change === null) throw new Error('a command that is not refused changes the transfer');
  return change;
}
