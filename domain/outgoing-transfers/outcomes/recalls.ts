import type { TransferDraft } from '../drafts.ts';
import type { OutgoingTransferStep } from '../outgoing-transfers.ts';
import type { OutgoingTransfer } from '../rows.ts';

/**
 * A recall asks the provider to have a released payment sent back. It moves no money: what comes back is a return like any other.
 * `due`: the provider has not heard of it yet, or we do not know that it has; `asked`: it has, and its answer is awaited; `ended`:
 * accepted, or pointless because the payment has failed or has come back.
 */
export const RECALL_STATUSES = ['due', 'asked', 'refused', 'ended'] as const;
export type RecallStatus = (typeof RECALL_STATUSES)[number];

export function isRecallOpen({ recallStatus }: { readonly recallStatus: RecallStatus | null }): boolean {
  return recallStatus === 'due' || recallStatus === 'asked';
}

/** The `statusReason` of a payment whose recall was refused. */
export const RECALL_REFUSED = 'recall.refused';

/** What a provider says of a recall. It passes through a workflow's history. */
export interface RecallReport {
  readonly number: number;
  readonly outcome: 'asked' | 'accepted' | 'refused';
}

/** The first look-up of a recall that the provider has taken. */
const FIRST_LOOK_UP_MS = 10_000;

/** False if the recall is not the open one, nothing is left that it could bring back, or the report says nothing new. */
export function applyRecall(draft: TransferDraft, { number, outcome }: RecallReport): boolean {
  const { transfer, situation } = draft;
  if (!isRecallOpen(transfer) || transfer.recallNumber !== number || isNothingLeft(transfer)) return false;
  switch (outcome) {
    case 'asked': {
      if (transfer.recallStatus === 'asked') return false;
      const firstLookUpAt = new Date(situation.now.getTime() + FIRST_LOOK_UP_MS);
      const { nextLookUpAt } = transfer;
      const isSooner = nextLookUpAt !== null && nextLookUpAt < firstLookUpAt;
      draft.set({ recallStatus: 'asked', nextLookUpAt: isSooner ? nextLookUpAt : firstLookUpAt });
      return true;
    }
    case 'accepted':
      draft.set({ recallStatus: 'ended' });
      return true;
    case 'refused':
      draft.set({ recallStatus: 'refused' });
      draft.explain(RECALL_REFUSED);
      // Beyond the specification. The status stays, so no other event reports it.
      draft.addEvent('outgoing-transfer-recall-refused');
      return true;
  }
}

/** The provider does not know the recall that it was asked for: it is asked again, under the same reference. */
export function askAgain(draft: TransferDraft): void {
  if (draft.transfer.recallStatus === 'asked') draft.set({ recallStatus: 'due' });
}

/** Ends a recall that has nothing left to recall, and with it the wait of a completed transfer. */
export function settleRecall(draft: TransferDraft): void {
  const { transfer } = draft;
  if (isRecallOpen(transfer) && isNothingLeft(transfer)) draft.set({ recallStatus: 'ended' });
  if (draft.transfer.waitingFor === 'recall' && !isRecallOpen(draft.transfer)) {
    draft.set({ waitingFor: null, waitingSince: null, waitingUntil: null });
  }
}

/** The next step of an open recall. Its request and look-ups take turns: neither, if it gets no answer, keeps the other back. */
export function stepOfRecall(draft: TransferDraft): OutgoingTransferStep {
  const { recallStatus, recallNumber, nextLookUpAt, lookUpCount } = draft.transfer;
  const { now } = draft.situation;
  if (nextLookUpAt !== null && nextLookUpAt <= now) {
    if (recallStatus === 'due') draft.set({ nextLookUpAt: null });
    draft.wait('recall', null);
    return { do: 'look-up', count: lookUpCount };
  }
  if (recallStatus === 'asked') return draft.wait('recall', nextLookUpAt);
  if (nextLookUpAt === null) draft.set({ nextLookUpAt: new Date(now.getTime() + FIRST_LOOK_UP_MS) });
  draft.wait('recall', null);
  return { do: 'recall', number: recallNumber };
}

/** The payment has failed or has come back, and its `statusReason` says why: no answer to a recall changes that. */
function isNothingLeft(transfer: OutgoingTransfer): boolean {
  return transfer.status === 'failed' || isWhollyReturned(transfer);
}

/** Rows of the release before partial returns say only that something came back, which then was the end of it. */
export function isWhollyReturned({ returned, returnedMinor, amountMinor }: OutgoingTransfer): boolean {
  return returned && (returnedMinor === 0n || returnedMinor >= amountMinor);
}
