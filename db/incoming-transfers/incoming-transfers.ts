import type { IncomingTransferId } from '../../domain/common/ids.ts';
import { awaitsScreening, isInReview, nextReviewCheck } from '../../domain/compliance/checks.ts';
import { NO_WAIT, nextHoldCheck, transitionIncoming } from '../../domain/incoming-transfers/changes.ts';
import {
  decideArrival,
  type IncomingTransfer,
  type IncomingTransferStep,
  isFinalIncomingTransferStatus,
  waitOfHold,
} from '../../domain/incoming-transfers/incoming-transfers.ts';
import { returnToPayer } from '../../domain/incoming-transfers/operator-commands.ts';
import { returnPosting, settleFromSuspense, unchanged } from '../../domain/incoming-transfers/suspense.ts';
import { type RequirementRules, ruleFor } from '../../domain/outgoing-transfers/requirement-rules.ts';
import { endQueuedReturn, isReturnedByFile } from '../bank-files/returns.ts';
import type { Initiator } from '../common/audit-entries.ts';
import type { CallbackOutcome } from '../providers/callbacks.ts';
import type { Transaction } from '../query/database.ts';
import { applyDecided } from '../transfers/requested-changes.ts';
import { begin } from './holds.ts';
import { decidedReturn } from './requested-changes.ts';
import { change, moveMoney, wakeIncoming } from './work.ts';

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

/** The provider has taken the money back, or, by file, has been instructed to: then its word ends the return, and wakes this transfer. */
export async function recordReturn(tx: Transaction, id: IncomingTransferId): Promise<IncomingTransferStep> {
  const { transfer, now } = await begin(tx, id);
  if (transfer.sendBackStatus !== 'due') return { do: 'end' };
  if (await isReturnedByFile(tx, id)) {
    change(tx, transfer, now, { nextCheckAt: nextHoldCheck(now) });
    return { do: 'wait', for: 'provider', until: null };
  }
  bookReturn(tx, transfer, now);
  return { do: 'end' };
}

function bookReturn(tx: Transaction, transfer: IncomingTransfer, now: Date): void {
  const returned = { sendBackStatus: 'done', inSuspense: false, ...NO_WAIT } as const;
  const incoming = transitionIncoming(unchanged(transfer), now, returned);
  moveMoney(tx, now, { incoming, accounts: [], postings: [returnPosting(transfer, now)], wakes: [] });
}

/** What a provider says of money that has gone back. */
export interface ReportedReturn {
  readonly id: IncomingTransferId;
  readonly provider: string;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly isInstructed: boolean;
}

/** Books a return that the provider reports. `waiting`: it was not asked for, and what was asked for may still be carried out. */
export async function applySentBack(
  tx: Transaction,
  { id, provider, amountMinor, currency, isInstructed }: ReportedReturn,
): Promise<CallbackOutcome> {
  const { transfer, now } = await begin(tx, id);
  if (transfer.provider !== provider || transfer.amountMinor !== amountMinor || transfer.currency !== currency) {
    return 'break';
  }
  if (transfer.sendBackStatus !== 'due') {
    // Of before a restore, which has taken back what was decided of it.
    if (isFinalIncomingTransferStatus(transfer.status) || !isInstructed) return 'break';
    await adoptReturn(tx, id, EXCHANGE);
  } else {
    if (!isInstructed && !(await endQueuedReturn(tx, id))) return 'waiting';
    bookReturn(tx, transfer, now);
  }
  wakeIncoming(tx, id);
  return 'applied';
}

export const EXCHANGE: Initiator = { actor: 'bank-files', requestId: null };

/**
 * After a restore: the provider has returned money that the restored row still holds or reviews. Nothing is left to decide, and
 * nothing is sent again.
 */
export async function adoptReturn(tx: Transaction, id: IncomingTransferId, initiator: Initiator): Promise<void> {
  await adoptReturnDecision(tx, id, initiator);
  const returned = await begin(tx, id);
  if (returned.transfer.sendBackStatus === 'due') bookReturn(tx, returned.transfer, returned.now);
}

/** After a restore: the money is going back, so that nothing credits it any more. */
export async function adoptReturnDecision(
  tx: Transaction,
  id: IncomingTransferId,
  initiator: Initiator,
): Promise<void> {
  const { transfer, account, now } = await begin(tx, id);
  if (isFinalIncomingTransferStatus(transfer.status)) return;
  applyDecided(tx, decidedReturn({ transfer, now }, returnToPayer(transfer, account, now), initiator));
}
