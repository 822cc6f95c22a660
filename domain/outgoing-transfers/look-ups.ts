import { refusal } from '../frame/errors.ts';
import type { IncomingTransferName } from '../incoming-transfers/changes.ts';
import type { Decided, LookedUpPayment, ReportOutcome } from './changes.ts';
import { TransferDraft } from './drafts.ts';
import { applyRecall, askAgain, isRecallOpen } from './outcomes/recalls.ts';
import { situationAfter } from './outcomes/returns.ts';
import { isFinalOutgoingTransferStatus, lookUpDelayMs, type OutgoingTransferStep } from './outgoing-transfers.ts';
import type { OutgoingTransfer } from './rows.ts';
import type { TransferChange, TransferSituation } from './transfer-changes.ts';

/**
 * How long a payment that its provider does not know rests before the same submission goes out again. Meanwhile nothing is sent
 * unless an operator asks for it. What was sent before may still arrive: only the common reference makes the provider pay once.
 */
const REST_MS = 60_000;

/** A look-up's answer; null: none that says anything. */
export type LookUpAnswer = LookedUpPayment | 'not-found' | null;

/** What a look-up leads to: one change for each return that it brings, one at most otherwise, to be applied in this order. */
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
  // Decided once: the first of several returns completes the payment, and the others still count.
  const isDue = isLookedUp(transfer) && transfer.lookUpCount === count;
  const before = isDue && answer !== null && answer !== 'not-found' ? eachReturn(answer).slice(0, -1) : [];
  const { changes, after, outcome } = bookEach(situation, before, draw);
  const last = lookedUpOnce(after, isDue, answer, draw);
  return {
    changes: last.change === null ? changes : [...changes, last.change],
    step: last.step,
    outcome: outcomeOfBoth(outcome, last.outcome),
  };
}

/** An answer as one report for each return, oldest first; itself alone if there is at most one. */
export function eachReturn(answer: LookedUpPayment): [LookedUpPayment, ...LookedUpPayment[]] {
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

/** Applies reports one after the other, each to what the one before it left behind. */
export function bookEach(
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

/** Books what a look-up of a completed payment says has come back, each return once, and changes nothing else of it. */
export function decideLookedUpReturns(
  situation: TransferSituation,
  found: LookedUpPayment,
  draw: () => IncomingTransferName,
): Pick<LookedUp, 'changes' | 'outcome'> {
  const { changes, outcome } = bookEach(situation, eachReturn(found), draw);
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
      // What the provider has refused needs no rest: it cannot arrive any more.
      if (isSubmitting && transfer.submissionStatus !== 'refused') {
        draft.set({ submissionStatus: 'not-found', waitingUntil: new Date(now.getTime() + REST_MS) });
      }
    } else if (answer !== null) {
      outcome = draft.apply(answer, answer.word === 'returned' ? draw() : null);
      if (outcome === 'applied' && draft.transfer.submissionStatus !== 'refused') {
        draft.set({ submissionStatus: 'resolved' });
      }
      applyLookedUpRecall(draft, answer);
    }
  }
  const step = draft.advance();
  return { change: draft.change(), step, outcome };
}

/** The recall as the provider has it, after its returns: they are what it led to. */
function applyLookedUpRecall(draft: TransferDraft, { recall }: LookedUpPayment): void {
  if (!isRecallOpen(draft.transfer)) return;
  if (recall != null && recall.number === draft.transfer.recallNumber) applyRecall(draft, recall);
  else askAgain(draft);
}

/** A look-up that is due for longer is asked for again: its workflow may not run. */
const REQUEST_MS = 60_000;

/** Has the workflow look up a payment at once, which changes nothing about it; null if that has just been asked for. */
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

/** Whether its provider can say nothing new of it but that money has come back. Its workflow has ended. */
export function isSettledAtProvider(transfer: OutgoingTransfer): boolean {
  const { scope, method, status } = transfer;
  return scope === 'external' && method === 'built-in' && status === 'completed' && !isRecallOpen(transfer);
}

/** Whether its provider is asked about it: it is on its way, or a recall of it is open. */
function isLookedUp(transfer: OutgoingTransfer): boolean {
  return isAtProvider(transfer) || isRecallOpen(transfer);
}

/** Whether the service has handed the payment to a provider, or is about to, and waits for the outcome. */
function isAtProvider({ scope, method, status }: OutgoingTransfer): boolean {
  return scope === 'external' && method === 'built-in' && (status === 'processing' || status === 'released');
}

/** Refuses a command about a payment that no provider of the service has. */
export function requireAtProvider(transfer: OutgoingTransfer, done: string): void {
  if (!isLookedUp(transfer)) throw refusedCommand(transfer, done, whyNotAtProvider(transfer));
}

function whyNotAtProvider({ scope, method, status }: OutgoingTransfer): string {
  if (isFinalOutgoingTransferStatus(status)) return `it is ${status}, which is final`;
  if (scope === 'internal') return 'it stays within the service, and no provider has it';
  if (method === 'plug-in') return 'its caller pays it and reports the outcome';
  return 'it is pending: nothing has been submitted';
}

/** A command's refusal, with its reason in plain words. */
export function refusedCommand({ id, status }: OutgoingTransfer, done: string, reason: string): Error {
  const message = `Outgoing transfer ${id} cannot be ${done}: ${reason}.`;
  return refusal('common.state.illegal_transition', ['outgoingTransfer', 'status', status], message);
}
