import type { OutgoingTransfer } from '../rows.ts';
import { isRecallOpen, type OutgoingTransferStep } from '../statuses.ts';
import type { Draft } from './draft.ts';

/** The `statusReason` of a payment whose recall was rejected. */
export const RECALL_REJECTED = 'recall.rejected';

/** A provider's report about a recall. It passes through a workflow's history. */
export interface RecallReport {
  readonly number: number;
  readonly outcome: 'asked' | 'accepted' | 'rejected';
}

/** The delay of the first look-up of a recall that the provider has accepted for processing. */
const FIRST_LOOK_UP_MS = 10_000;

/** False if the recall is not the open one, nothing is left to return, or the report says nothing new. */
export function applyRecall(draft: Draft, { number, outcome }: RecallReport): boolean {
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
    case 'rejected':
      draft.set({ recallStatus: 'rejected' });
      draft.explain(RECALL_REJECTED);
      // Beyond the specification. The status stays, so no other event reports it.
      draft.addEvent('outgoing-transfer-recall-rejected');
      return true;
  }
}

/** The provider does not know the recall: requests it again, under the same reference. */
export function requestRecallAgain(draft: Draft): void {
  if (draft.transfer.recallStatus === 'asked') draft.set({ recallStatus: 'due' });
}

/** Ends a recall that has nothing left to recall. */
export function settleRecall(draft: Draft): void {
  const { transfer } = draft;
  if (isRecallOpen(transfer) && isNothingLeft(transfer)) draft.set({ recallStatus: 'ended' });
}

/** The next step of an open recall. Its request and look-ups alternate, so that an unanswered one never blocks the other. */
export function stepOfRecall(draft: Draft): OutgoingTransferStep {
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

/** Whether the payment has failed or was fully returned, for which no recall may change the `statusReason`. */
function isNothingLeft(transfer: OutgoingTransfer): boolean {
  return transfer.status === 'failed' || isFullyReturned(transfer);
}

export function isFullyReturned({ returned, returnedMinor, amountMinor }: OutgoingTransfer): boolean {
  return returned && returnedMinor >= amountMinor;
}
