import { rejection } from '../../common/errors.ts';
import { TransferDraft } from '../drafts.ts';
import type { OutgoingTransfer } from '../rows.ts';
import { isRecallOpen, type OutgoingTransferStep } from '../statuses.ts';
import type { TransferChange, TransferSituation } from '../transfer-changes.ts';
import { applyRecall, isFullyReturned, type RecallReport } from './recalls.ts';

/** Requests a recall for a caller. `isOffered`: the provider of the transfer takes recalls. */
export function decideRecall(situation: TransferSituation, isOffered: boolean): TransferChange {
  const { transfer } = situation;
  const { scope, method, status, recallNumber, recallStatus, returned, returnOf } = transfer;
  if (scope === 'internal' || method === 'plug-in' || !isOffered || returnOf !== null) {
    const message =
      returnOf === null ? 'The provider of this transfer takes no recalls.' : 'A return to a payer cannot be recalled.';
    throw rejection('transfer.recall.unavailable', ['outgoingTransfer', 'id', transfer.id], message);
  }
  if (status !== 'released' && status !== 'completed')
    throw notRecalled(transfer, `it is ${status}, not released or completed`);
  if (isFullyReturned(transfer)) throw notRecalled(transfer, 'the whole amount has been returned');
  if (isRecallOpen(transfer)) throw notRecalled(transfer, 'an earlier recall of it is still unanswered');
  const draft = new TransferDraft(situation);
  draft.set({
    recallNumber: recallNumber + 1,
    recallStatus: 'due',
    // Further look-ups are about this recall.
    ...(status === 'completed' ? { nextLookUpAt: null } : {}),
  });
  // Clears the reason of the previous recall; a return keeps its own.
  if (recallStatus === 'rejected' && !returned) draft.explain(null);
  draft.advance();
  draft.wake();
  const change = draft.change();
  if (change === null) throw new Error('a recall that is not rejected changes the transfer');
  return change;
}

function notRecalled({ id, status }: OutgoingTransfer, reason: string): Error {
  const message = `Outgoing transfer ${id} cannot be recalled: ${reason}.`;
  return rejection('common.state.illegal_transition', ['outgoingTransfer', 'status', status], message);
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

/** Applies a rejection that the provider reports by callback, whether or not a workflow is running. */
export function decideRecallRejection(situation: TransferSituation, number: number): TransferChange | null {
  const draft = new TransferDraft(situation);
  if (!applyRecall(draft, { number, outcome: 'rejected' })) return null;
  draft.advance();
  draft.wake();
  return draft.change();
}
