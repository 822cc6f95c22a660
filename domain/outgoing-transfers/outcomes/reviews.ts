import { type ComplianceDecision, decideCheck, isInReview } from '../../compliance/checks.ts';
import { transitionIncoming } from '../../incoming-transfers/changes.ts';
import {
  type HoldReason,
  type IncomingTransfer,
  isFinalIncomingTransferStatus,
} from '../../incoming-transfers/incoming-transfers.ts';
import { decideIncomingReview } from '../../incoming-transfers/reviews.ts';
import type { LedgerChange, RowChange } from '../../ledger/changes.ts';
import type { LockedAccount } from '../../ledger/ledger.ts';
import { TransferDraft } from '../drafts.ts';
import type { OutgoingTransfer } from '../rows.ts';
import type { TransferChange, TransferSituation } from '../transfer-changes.ts';

/**
 * Records a compliance decision about a transfer, whatever else it waits for; null if it is already recorded. Throws if
 * there is nothing left to decide.
 */
export function decideOutgoingReview(
  situation: TransferSituation,
  decision: ComplianceDecision,
): TransferChange | null {
  const { transfer, now } = situation;
  const check = decideCheck(transfer, transfer.status !== 'pending', decision, now);
  if (check === null) return null;
  const draft = new TransferDraft(situation);
  draft.set(check);
  if (isInReview(check)) return draft.change();
  // Also fails a transfer that is rejected.
  draft.advance();
  draft.wake();
  return draft.change();
}

/** The same for the receiver's side of an internal transfer, reserved or not; settles or fails both sides. */
export function decideReceiversReview(
  situation: TransferSituation,
  decision: ComplianceDecision,
): TransferChange | null {
  const { now } = situation;
  const draft = new TransferDraft(situation);
  const incoming = draft.receiversSide();
  const check = decideCheck(incoming.after, isFinalIncomingTransferStatus(incoming.after.status), decision, now);
  if (check === null) return null;
  if (isInReview(check)) {
    draft.incoming = transitionIncoming(incoming, now, check);
    return draft.change();
  }
  const waits = { waitingFor: 'outgoing-transfer', waitingSince: now, nextCheckAt: null } as const;
  draft.incoming = transitionIncoming(incoming, now, { ...check, ...waits });
  draft.wakeReceiversSide();
  if (check.complianceCheckStatus === 'not-fulfilled') draft.fail('compliance.rejected');
  else draft.advance();
  draft.wake();
  return draft.change();
}

/** The facts for a decision about a check: of a transfer out, of the receiver's side of an internal one, or of money from outside. */
export type ReviewSituation =
  | { readonly side: 'outgoing' | 'receiver'; readonly situation: TransferSituation }
  | {
      readonly side: 'outside';
      readonly transfer: IncomingTransfer;
      readonly account: LockedAccount | null;
      readonly hold: HoldReason | null;
      readonly now: Date;
    };

export type ReviewChange = Pick<LedgerChange, 'accounts' | 'postings'> & {
  readonly outgoing: RowChange<OutgoingTransfer> | null;
  readonly incoming: RowChange<IncomingTransfer> | null;
};

/** What a decision about a transfer's check would change; null if it is already recorded. Throws if it is rejected. */
export function decideReview(reviewed: ReviewSituation, decision: ComplianceDecision): ReviewChange | null {
  switch (reviewed.side) {
    case 'outgoing':
      return decideOutgoingReview(reviewed.situation, decision);
    case 'receiver':
      return decideReceiversReview(reviewed.situation, decision);
    case 'outside': {
      const { transfer, account, hold, now } = reviewed;
      const change = decideIncomingReview(transfer, { account, hold }, decision, now);
      return change && { ...change, outgoing: null };
    }
  }
}
