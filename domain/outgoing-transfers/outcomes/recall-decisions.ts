import { refusal } from '../../frame/errors.ts';
import { TransferDraft } from '../drafts.ts';
import type { OutgoingTransferStep } from '../outgoing-transfers.ts';
import type { OutgoingTransfer } from '../rows.ts';
import type { TransferChange, TransferSituation } from '../transfer-changes.ts';
import { applyRecall, isRecallOpen, isWhollyReturned, type RecallReport } from './recalls.ts';

/** Asks for a recall, at a caller's request. `isOffered`: the provider of the transfer takes recalls. */
export function decideRecall(situation: TransferSituation, isOffered: boolean): TransferChange {
  const { transfer } = situation;
  const { scope, method, status, recallNumber, recallStatus, returned } = transfer;
  if (scope === 'internal' || method === 'plug-in' || !isOffered) {
    const message = 'The provider of this transfer takes no recalls.';
    throw refusal('transfer.recall.unavailable', ['outgoingTransfer', 'id', transfer.id], message);
  }
  if (status !== 'released' && status !== 'completed')
    throw notRecalled(transfer, `it is ${status}, not released or completed`);
  if (isWhollyReturned(transfer)) throw notRecalled(transfer, 'all of it has come back');
  if (isRecallOpen(transfer)) throw notRecalled(transfer, 'a recall of it has no answer yet');
  const draft = new TransferDraft(situation);
  draft.set({
    recallNumber: recallNumber + 1,
    recallStatus: 'due',
    // What is looked up from now on is this recall.
    ...(status === 'completed' ? { nextLookUpAt: null } : {}),
  });
  // The reason that it still shows may be that of the recall before; what came back keeps its own.
  if (recallStatus === 'refused' && !returned) draft.explain(null);
  draft.advance();
  draft.wake();
  const change = draft.change();
  if (change === null) throw new Error('a recall that is not refused changes the transfer');
  return change;
}

function notRecalled({ id, status }: OutgoingTransfer, reason: string): Error {
  const message = `Outgoing transfer ${id} cannot be recalled: ${reason}.`;
  return refusal('common.state.illegal_transition', ['outgoingTransfer', 'status', status], message);
}

/** Records the provider's answer to the request for a recall; a late or repeated one only returns the next step. */
export function decideRecallAnswer(
  situation: TransferSituation,
  report: RecallReport,
): { readonly change: TransferChange | null; readonly step: OutgoingTransferStep } {
  const draft = new TransferDraft(situation);
  applyRecall(draft, report);
  const step = draft.advance();
  return { change: draft.change(), step };
}

/** Applies a refusal that the provider reports by callback, whether or not a workflow is running. */
export function decideRecallRefusal(situation: TransferSituation, number: number): TransferChange | null {
  const draft = new TransferDraft(situation);
  if (!applyRecall(draft, { number, outcome: 'refused' })) return null;
  draft.advance();
  draft.wake();
  return draft.change();
}
