import { refusal } from '../frame/errors.ts';
import type { IncomingTransferName } from '../incoming-transfers/changes.ts';
import type { Decided, LookedUpPayment, ReportOutcome } from './changes.ts';
import { TransferDraft } from './drafts.ts';
import { isFinalOutgoingTransferStatus, lookUpDelayMs } from './outgoing-transfers.ts';
import type { OutgoingTransfer } from './rows.ts';
import type { TransferChange, TransferSituation } from './transfer-changes.ts';

/**
 * How long a payment that its provider does not know rests before the same submission goes out again. Meanwhile nothing is sent
 * unless an operator asks for it. What was sent before may still arrive: only the common reference makes the provider pay once.
 */
const REST_MS = 60_000;

/** A look-up's answer; null: none that says anything. */
export type LookUpAnswer = LookedUpPayment | 'not-found' | null;

/** Applies a look-up, once per count. The next look-up of a released transfer comes later. */
export function decideLookUp(
  situation: TransferSituation,
  count: number,
  answer: LookUpAnswer,
  nameOfReturn: IncomingTransferName | null,
): Decided & { readonly outcome: ReportOutcome } {
  const { transfer, now } = situation;
  const draft = new TransferDraft(situation);
  let outcome: ReportOutcome = 'no-effect';
  if (isAtProvider(transfer) && transfer.lookUpCount === count) {
    const lookUpCount = count + 1;
    const delayMs = lookUpDelayMs(lookUpCount);
    const isReleased = transfer.status === 'released';
    draft.set({ lookUpCount, nextLookUpAt: isReleased ? new Date(now.getTime() + delayMs) : null });
    if (answer === 'not-found') {
      if (!isReleased) draft.set({ submissionStatus: 'not-found', waitingUntil: new Date(now.getTime() + REST_MS) });
    } else if (answer !== null) {
      outcome = draft.apply(answer, nameOfReturn);
      if (outcome === 'applied') draft.set({ submissionStatus: 'resolved' });
    }
  }
  const step = draft.advance();
  return { change: draft.change(), step, outcome };
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

/** Whether the service has handed the payment to a provider, or is about to, and waits for the outcome. */
function isAtProvider({ scope, method, status }: OutgoingTransfer): boolean {
  return scope === 'external' && method === 'built-in' && (status === 'processing' || status === 'released');
}

/** Refuses a command about a payment that no provider of the service has. */
export function requireAtProvider(transfer: OutgoingTransfer, done: string): void {
  if (!isAtProvider(transfer)) throw refusedCommand(transfer, done, whyNotAtProvider(transfer));
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
