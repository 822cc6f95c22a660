import { awaitsJudgement, isInReview, nextReviewCheck } from '../../domain/compliance/checks.ts';
import { recordNotFound, refusal } from '../../domain/frame/errors.ts';
import type { AccountId, IncomingTransferId } from '../../domain/frame/ids.ts';
import { moveIncoming, NO_WAIT, nextHoldCheck } from '../../domain/incoming-transfers/changes.ts';
import {
  decideArrival,
  type IncomingTransfer,
  type IncomingTransferStep,
  isFinalIncomingTransferStatus,
  type PartyAccount,
  waitOfHold,
} from '../../domain/incoming-transfers/incoming-transfers.ts';
import {
  failFromSuspense,
  holdInSuspense,
  returnPosting,
  settleFromSuspense,
  unmoved,
} from '../../domain/incoming-transfers/suspense.ts';
import type { LockedAccount } from '../../domain/ledger/ledger.ts';
import { type RequirementRules, ruleFor } from '../../domain/outgoing-transfers/requirement-rules.ts';
import { ACCOUNT } from '../accounts/accounts.ts';
import { partyAccountOf } from '../accounts/party-accounts.ts';
import type { Transaction } from '../driver/client.ts';
import { appendAuditEntry, type Initiator } from '../frame/audit-entries.ts';
import { assignCredit, begin } from './holds.ts';
import { change, moveMoney, wakeIncoming } from './work.ts';

const ENTITY = 'incomingTransfer';

/** Advances a transfer that is held or in review as far as possible and returns the next step. Safe to repeat. */
export async function advanceIncomingTransfer(
  tx: Transaction,
  id: IncomingTransferId,
  { compliance }: Pick<RequirementRules, 'compliance'>,
): Promise<IncomingTransferStep> {
  const { transfer, account, now } = await begin(tx, id);
  if (awaitsJudgement(transfer, ruleFor(compliance.incoming, transfer.currency))) return { do: 'review' };
  if (transfer.status === 'pending') {
    // Once reviewed, the receiver's side of an internal transfer is its sender's to move.
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
  const settled = settleFromSuspense(unmoved(transfer), account, decision, now);
  moveMoney(tx, now, settled);
  return settled.incoming.after.sendBackStatus === 'due' ? { do: 'send-back' } : { do: 'end' };
}

/** The provider has taken the money back. */
export async function recordReturn(tx: Transaction, id: IncomingTransferId): Promise<IncomingTransferStep> {
  const { transfer, now } = await begin(tx, id);
  if (transfer.sendBackStatus !== 'due') return { do: 'end' };
  const returned = { sendBackStatus: 'done', inSuspense: false, ...NO_WAIT } as const;
  const incoming = moveIncoming(unmoved(transfer), now, returned);
  moveMoney(tx, now, { incoming, accounts: [], postings: [returnPosting(transfer, now)], wakes: [] });
  return { do: 'end' };
}

/**
 * Assigns a payment that matched no account, or several, to an account of the same provider and currency, as an operator
 * asked. Money that the provider holds is credited once the provider releases it.
 */
export async function assignIncomingTransfer(
  tx: Transaction,
  id: IncomingTransferId,
  accountId: AccountId,
  initiator: Initiator,
): Promise<MovedTransfer> {
  const { transfer, account, now } = await begin(tx, id, accountId);
  const receiver = await tx.find(ACCOUNT, accountId);
  // Rejects an unknown id before anything else, even if the transfer can no longer be assigned.
  if (receiver === null) throw recordNotFound(ENTITY, 'accountId', accountId);
  // `begin` locks the transfer's own account, and only that one.
  if (transfer.accountId !== null || account === null) throw notOnHold(transfer);
  if (transfer.status !== 'on-hold') throw notOnHold(transfer);
  checkAssignable(transfer, account);
  const held = transfer.holdReason === 'held-by-provider';
  const incoming = unmoved(transfer);
  const moved = held
    ? holdInSuspense(incoming, account, 'held-by-provider', now)
    : settleFromSuspense(incoming, account, { status: 'completed' }, now);
  moveMoney(tx, now, moved);
  assignCredit(tx, transfer, account);
  appendAuditEntry(tx, {
    initiator,
    resource: 'incoming-transfer',
    resourceId: id,
    action: 'assigned',
    before: { status: transfer.status, accountId: null },
    after: { status: held ? transfer.status : 'completed', accountId },
  });
  wakeIncoming(tx, id);
  return { transfer: moved.incoming.after, receiver: partyAccountOf(receiver) };
}

/** A transfer as it is after its change, and the account that received it, if it has one. */
export interface MovedTransfer {
  readonly transfer: IncomingTransfer;
  readonly receiver: PartyAccount | null;
}

function checkAssignable(transfer: IncomingTransfer, account: LockedAccount): void {
  const names = [ENTITY, 'accountId', account.id] as const;
  if (account.currency !== transfer.currency) {
    const message = `The account holds ${account.currency}, the payment is in ${transfer.currency}.`;
    throw refusal('account.currency.mismatch', names, message);
  }
  if (account.provider !== transfer.provider) {
    const message = `The money is at ${transfer.provider}, the account at ${account.provider}.`;
    throw refusal('account.method.mismatch', names, message);
  }
  if (account.closing || decideArrival(account).status !== 'completed') {
    const message = account.closing ? 'The account is being closed.' : 'The account or its client is not active.';
    throw refusal('account.status.not_active', names, message);
  }
}

/**
 * Returns held money to its payer, as an operator asked. An outgoing payment that came back has no payer: it can only be
 * assigned.
 */
export async function returnIncomingTransfer(
  tx: Transaction,
  id: IncomingTransferId,
  initiator: Initiator,
): Promise<IncomingTransfer> {
  const { transfer, account, now } = await begin(tx, id);
  if (transfer.status !== 'on-hold') throw notOnHold(transfer);
  if (transfer.method === 'built-in' && transfer.serviceProviderId === null) {
    const message =
      'This is a payment of ours that came back: it has no payer to go back to, and can only be assigned.';
    throw refusal('common.state.illegal_transition', [ENTITY, 'status', transfer.status], message);
  }
  return failAsReturned(tx, { transfer, account, now }, initiator);
}

/**
 * After a restore: the provider has returned money that the restored row still holds or reviews. Nothing is left to decide, and
 * nothing is sent again.
 */
export async function adoptReturn(tx: Transaction, id: IncomingTransferId, initiator: Initiator): Promise<void> {
  const begun = await begin(tx, id);
  if (!isFinalIncomingTransferStatus(begun.transfer.status)) failAsReturned(tx, begun, initiator);
  await recordReturn(tx, id);
}

function failAsReturned(
  tx: Transaction,
  { transfer, account, now }: Awaited<ReturnType<typeof begin>>,
  initiator: Initiator,
): IncomingTransfer {
  const moved = failFromSuspense(unmoved(transfer), account, 'operator.returned', now);
  moveMoney(tx, now, moved);
  appendAuditEntry(tx, {
    initiator,
    resource: 'incoming-transfer',
    resourceId: transfer.id,
    action: 'returned',
    before: { status: transfer.status },
    after: { status: 'failed' },
  });
  wakeIncoming(tx, transfer.id);
  return moved.incoming.after;
}

function notOnHold(transfer: IncomingTransfer): Error {
  return refusal(
    'common.state.illegal_transition',
    [ENTITY, 'status', transfer.status],
    `The incoming transfer is ${transfer.status}${transfer.accountId === null ? '' : ' and has an account'}.`,
  );
}
