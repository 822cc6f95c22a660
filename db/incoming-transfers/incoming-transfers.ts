import type { IncomingTransferId } from '../../domain/common/ids.ts';
import { awaitsScreening, isInReview, nextReviewCheck } from '../../domain/compliance/checks.ts';
import { NO_WAIT, nextHoldCheck, transitionIncoming } from '../../domain/incoming-transfers/changes.ts';
import {
  decideArrival,
  type IncomingTransferStep,
  isFinalIncomingTransferStatus,
  waitOfHold,
} from '../../domain/incoming-transfers/incoming-transfers.ts';
import { returnToPayer } from '../../domain/incoming-transfers/operator-commands.ts';
import { returnPosting, settleFromSuspense, unchanged } from '../../domain/incoming-transfers/suspense.ts';
import { type RequirementRules, ruleFor } from '../../domain/outgoing-transfers/requirement-rules.ts';
import type { Initiator } from '../common/audit-entries.ts';
import type { Transaction } from '../query/database.ts';
import { applyDecided } from '../transfers/requested-changes.ts';
import { begin } from './holds.ts';
import { decidedReturn } from './requested-changes.ts';
import { change, moveMoney } from './work.ts';

/** Advances a transfer that is held or in review as far as possible and returns the next step. Safe to repeat. */
export async function advanceIncomingTransfer(
  tx: Transaction,
  id: IncomingTransferId,
  { compliance }: Pick<RequirementRules, 'compliance'>,
): Promise<IncomingTransferStep> {
  const { transfer, account, now } = await begin(tx, id);
  if (awaitsScreening(transfer, ruleFor(compliance.incoming, transfer.currency))) return { do: 'review' };
  if (transfer.status === 'pending') {
    // Once reviewed, the receiver's side of an internal transfer changes only with its sender's.
    if (!isInReview(transfer)) return { do: 'end' };
    change(tx, transfer, now, { nextCheckAt: nextReviewCheck(now) });
    return { do: 'wait', for: 'compliance', until: null };
  }
  if (transfer.status !== 'on-hold') return transfer.sendBackStatus === 'due' ? { do: 'send-back' } : { do: 'end' };
  const decision = decideArrival(account, transfer.holdReason);
  if (decision.status === 'on-hold') {
    const { holdReason } = decision;
    change(tx, transfer, now, {
      holdReason,
      waitingFor: waitOfHold(holdReason),
      nextCheckAt: nextHoldCheck(now),
    });
    return { do: 'wait', for: waitOfHold(holdReason), until: null };
  }
  const settled = settleFromSuspense(unchanged(transfer), account, decision, now);
  moveMoney(tx, now, settled);
  return settled.incoming.after.sendBackStatus === 'due' ? { do: 'send-back' } : { do: 'end' };
}

/** The provider has taken the money back. */
export async function recordReturn(tx: Transaction, id: IncomingTransferId): Promise<IncomingTransferStep> {
  const { transfer, now } = await begin(tx, id);
  if (transfer.sendBackStatus !== 'due') return { do: 'end' };
  const returned = { sendBackStatus: 'done', inSuspense: false, ...NO_WAIT } as const;
  const incoming = transitionIncoming(unchanged(transfer), now, returned);
  moveMoney(tx, now, { incoming, accounts: [], postings: [returnPosting(transfer, now)], wakes: [] });
  return { do: 'end' };
}

/**
 * After a restore: the provider has returned money that the restored row still holds or reviews. Nothing is left to decide, and
 * nothing is sent again.
 */
export async function adoptReturn(tx: Transaction, id: IncomingTransferId, initiator: Initiator): Promise<void> {
  const { transfer, account, now } = await begin(tx, id);
  if (!isFinalIncomingTransferStatus(transfer.status)) {
    applyDecided(tx, decidedReturn({ transfer, now }, returnToPayer(transfer, account, now), initiator));
  }
  await recordReturn(tx, id);
}
