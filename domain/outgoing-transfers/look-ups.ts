import { rejection } from '../common/errors.ts';
import type { IncomingTransferName } from '../incoming-transfers/changes.ts';
import { TransferDraft } from './drafts.ts';
import { applyRecall, requestRecallAgain } from './outcomes/recalls.ts';
import { situationAfter } from './outcomes/returns.ts';
import { lookUpDelayMs } from './outgoing-transfers.ts';
import type { LookedUpPayment, ReportOutcome } from './reports.ts';
import type { OutgoingTransfer } from './rows.ts';
import { isFinalOutgoingTransferStatus, isRecallOpen, type OutgoingTransferStep } from './statuses.ts';
import type { Decided, TransferChange, TransferSituation } from './transfer-changes.ts';

/**
 * The pause before a payment that its provider does not know is submitted again. During it nothing is sent
 * unless an operator requests it. An earlier submission may still arrive: only the shared reference makes the provider pay once.
 */
const RESUBMISSION_PAUSE_MS = 60_000;

/** A look-up's answer; null without a usable one. */
export type LookUpAnswer = LookedUpPayment | 'not-found' | null;

/** The result of a look-up: one change per new return, otherwise at most one, to be applied in this order. */
export interface LookedUp {
  readonly changes: readonly TransferChange[];
  readonly step: OutgoingTransferStep;
  readonly outcome: ReportOutcome;
}

/** Applies a look-up, once per count. The next look-up of a released transfer comes later. */
export function decideLookUp(
  situation: TransferSituation,
  count: number,
  answer: LookUpAnswer,
  draw: () => IncomingTransferName,
): LookedUp {
  const { transfer } = situation;
  // Decided once: the first of several returns completes the payment, and the others must still be booked.
  const isDue = isLookedUp(transfer) && transfer.lookUpCount === count;
  const before = isDue && answer !== null && answer !== 'not-found' ? splitReturns(answer).slice(0, -1) : [];
  const { changes, after, outcome } = applyReports(situation, before, draw);
  const last = lookedUpOnce(after, isDue, answer, draw);
  return {
    changes: last.change === null ? changes : [...changes, last.change],
    step: last.step,
    outcome: outcomeOfBoth(outcome, last.outcome),
  };
}

/** Splits an answer into one report per return, oldest first; the answer itself if there is at most one. */
export function splitReturns(answer: LookedUpPayment): [LookedUpPayment, ...LookedUpPayment[]] {
  const { returnsBefore: [first, ...others] = [], ...last } = answer;
  if (first === undefined) return [last];
  const reportOf = ({ code, ...returned }: typeof first) => ({ ...last, code, claim: { ...last.claim, returned } });
  return [reportOf(first), ...others.map(reportOf), last];
}

/** The outcome of several reports: a break among them stays one, whatever else is booked. */
export function outcomeOfBoth(one: ReportOutcome, other: ReportOutcome): ReportOutcome {
  if (one === 'break' || other === 'break') return 'break';
  return one === 'applied' ? one : other;
}

/** Applies reports one after the other, each to the result of the one before. */
export function applyReports(
  situation: TransferSituation,
  reports: readonly LookedUpPayment[],
  draw: () => IncomingTransferName,
): { readonly changes: TransferChange[]; readonly after: TransferSituation; readonly outcome: ReportOutcome } {
  const changes: TransferChange[] = [];
  let after = situation;
  let outcome: ReportOutcome = 'no-effect';
  for (const report of reports) {
    const draft = new TransferDraft(after);
    const applied = draft.apply(report, draw());
    outcome = outcomeOfBoth(outcome, applied);
    const change = applied === 'applied' ? draft.change() : null;
    if (change === null) continue;
    changes.push(change);
    after = situationAfter(after, change);
  }
  return { changes, after, outcome };
}

/** Books the returns that a look-up of a completed payment reports, each once, and changes nothing else. */
export function decideLookedUpReturns(
  situation: TransferSituation,
  found: LookedUpPayment,
  draw: () => IncomingTransferName,
): Pick<LookedUp, 'changes' | 'outcome'> {
  const { changes, outcome } = applyReports(situation, splitReturns(found), draw);
  return { changes, outcome };
}

function lookedUpOnce(
  situation: TransferSituation,
  isDue: boolean,
  answer: LookUpAnswer,
  draw: () => IncomingTransferName,
): Decided & { readonly outcome: ReportOutcome } {
  const { transfer, now } = situation;
  const draft = new TransferDraft(situation);
  let outcome: ReportOutcome = 'no-effect';
  if (isDue) {
    const lookUpCount = transfer.lookUpCount + 1;
    const delayMs = lookUpDelayMs(lookUpCount);
    const isSubmitting = transfer.status === 'processing';
    draft.set({ lookUpCount, nextLookUpAt: isSubmitting ? null : new Date(now.getTime() + delayMs) });
    if (answer === 'not-found') {
      // A rejected submission needs no pause: it cannot arrive any more. One that was taken is carried out.
      if (isSubmitting && transfer.submissionStatus !== 'rejected' && transfer.submissionStatus !== 'queued') {
        draft.set({ submissionStatus: 'not-found', waitingUntil: new Date(now.getTime() + RESUBMISSION_PAUSE_MS) });
      }
    } else if (answer !== null) {
      outcome = draft.apply(answer, answer.outcome === 'returned' ? draw() : null);
      const { submissionStatus } = draft.transfer;
      const isOpen = submissionStatus === 'rejected' || submissionStatus === 'queued';
      if (outcome === 'applied' && !isOpen) draft.set({ submissionStatus: 'resolved' });
      applyLookedUpRecall(draft, answer);
    }
  }
  const step = draft.advance();
  return { change: draft.change(), step, outcome };
}

/** Applies the provider's state of the recall, after the returns that it led to. */
function applyLookedUpRecall(draft: TransferDraft, { recall }: LookedUpPayment): void {
  if (!isRecallOpen(draft.transfer)) return;
  if (recall != null && recall.number === draft.transfer.recallNumber) applyRecall(draft, recall);
  else requestRecallAgain(draft);
}

/** A look-up that has been due for longer is requested again: its workflow may not be running. */
const REQUEST_MS = 60_000;

/** Requests an immediate look-up by the workflow; null if one was just requested. */
export function decideLookUpRequest(situation: TransferSituation): TransferChange | null {
  const { transfer, now } = situation;
  requireAtProvider(transfer, 'looked up');
  const dueForMs = transfer.nextLookUpAt === null ? -1 : now.getTime() - transfer.nextLookUpAt.getTime();
  if (dueForMs >= 0 && dueForMs < REQUEST_MS) return null;
  const draft = new TransferDraft(situation);
  draft.set({ nextLookUpAt: now });
  draft.wake();
  return draft.change();
}

/** Whether a return is the only news that its provider can still report. Its workflow has ended. */
export function isSettledAtProvider(transfer: OutgoingTransfer): boolean {
  const { scope, method, status } = transfer;
  return scope === 'external' && method === 'built-in' && status === 'completed' && !isRecallOpen(transfer);
}

/** Whether its provider is asked about it: the payment or a recall of it is open. */
function isLookedUp(transfer: OutgoingTransfer): boolean {
  return isAtProvider(transfer) || isRecallOpen(transfer);
}

/** Whether the service has handed the payment to a provider, or is about to, and waits for the outcome. */
function isAtProvider({ scope, method, status }: OutgoingTransfer): boolean {
  return scope === 'external' && method === 'built-in' && (status === 'processing' || status === 'released');
}

/** Rejects a command about a payment that is at no provider of the service. */
export function requireAtProvider(transfer: OutgoingTransfer, done: string): void {
  if (!isLookedUp(transfer)) throw rejectedCommand(transfer, done, whyNotAtProvider(transfer));
}

function whyNotAtProvider({ scope, method, status }: OutgoingTransfer): string {
  if (isFinalOutgoingTransferStatus(status)) return `it is ${status}, which is final`;
  if (scope === 'internal') return 'it is internal, and no provider is involved';
  if (method === 'plug-in') return 'its plug-in caller executes it and reports the outcome';
  return 'it is pending: nothing has been submitted';
}

/** A command's rejection, with its reason in plain words. */
export function rejectedCommand({ id, status }: OutgoingTransfer, done: string, reason: string): Error {
  const message = `Outgoing transfer ${id} cannot be ${done}: ${reason}.`;
  return rejection('common.state.illegal_transition', ['outgoingTransfer', 'status', status], message);
}
