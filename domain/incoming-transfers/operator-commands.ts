import { rejection } from '../common/errors.ts';
import type { LockedAccount } from '../ledger/ledger.ts';
import type { IncomingChange } from './changes.ts';
import { decideArrival, type IncomingTransfer } from './incoming-transfers.ts';
import { failFromSuspense, holdInSuspense, settleFromSuspense, unchanged } from './suspense.ts';

const ENTITY = 'incomingTransfer';

/**
 * Assigns money that matched no account, or several, to an account of the same provider and currency. Money that the provider holds is
 * credited once the provider releases it. Who decided its review may not assign it (four eyes).
 */
export function decideAssignment(
  transfer: IncomingTransfer,
  account: LockedAccount | null,
  actor: string,
  now: Date,
): IncomingChange {
  requireAssignableBy(transfer, actor);
  if (account === null) throw notOnHold(transfer);
  requireAssignable(transfer, account);
  const incoming = unchanged(transfer);
  return transfer.holdReason === 'held-by-provider'
    ? holdInSuspense(incoming, account, 'held-by-provider', now)
    : settleFromSuspense(incoming, account, { status: 'completed' }, now);
}

/** Whatever the account: only money that is on hold and has no account can be assigned, by someone else than its reviewer. */
export function requireAssignableBy(transfer: IncomingTransfer, actor: string): void {
  if (transfer.accountId !== null || transfer.status !== 'on-hold') throw notOnHold(transfer);
  if (transfer.complianceDecidedBy !== actor) return;
  const message = 'Someone else has to assign this: you decided its review.';
  throw rejection('common.security.access_denied', [ENTITY, 'id', transfer.id], message);
}

function requireAssignable(transfer: IncomingTransfer, account: LockedAccount): void {
  const names = [ENTITY, 'accountId', account.id] as const;
  if (account.currency !== transfer.currency) {
    const message = `The account holds ${account.currency}, the payment is in ${transfer.currency}.`;
    throw rejection('account.currency.mismatch', names, message);
  }
  if (account.provider !== transfer.provider) {
    const message = `The money is at ${transfer.provider}, the account at ${account.provider}.`;
    throw rejection('account.method.mismatch', names, message);
  }
  if (account.closing || decideArrival(account).status !== 'completed') {
    const message = account.closing ? 'The account is being closed.' : 'The account or its client is not active.';
    throw rejection('account.status.not_active', names, message);
  }
}

/** Returns held money to its payer. A returned outgoing payment has no payer: it can only be assigned. */
export function decideReturn(transfer: IncomingTransfer, account: LockedAccount | null, now: Date): IncomingChange {
  if (transfer.status === 'completed') throw illegal(transfer, NO_REASON);
  if (transfer.status !== 'on-hold') throw notOnHold(transfer);
  if (transfer.method === 'built-in' && transfer.serviceProviderId === null) {
    const message =
      'This is a payment of ours that came back: it has no payer to go back to, and can only be assigned.';
    throw illegal(transfer, message);
  }
  return returnToPayer(transfer, account, now);
}

export function returnToPayer(transfer: IncomingTransfer, account: LockedAccount | null, now: Date): IncomingChange {
  return failFromSuspense(unchanged(transfer), account, 'operator.returned', now);
}

/** Money on hold goes back in full, and its provider is told the same reason each time. */
export function rejectTerms(transfer: IncomingTransfer): never {
  if (transfer.status !== 'on-hold') throw notOnHold(transfer);
  throw illegal(transfer, 'Money that is on hold goes back in full: send neither amount nor statusReason.');
}

const NO_REASON =
  'The money is on the account: it goes back from there by a request with statusReason.code, or by the console.';

function notOnHold(transfer: IncomingTransfer): Error {
  const { status, accountId } = transfer;
  return illegal(transfer, `The incoming transfer is ${status}${accountId === null ? '' : ' and has an account'}.`);
}

function illegal({ status }: IncomingTransfer, message: string): Error {
  return rejection('common.state.illegal_transition', [ENTITY, 'status', status], message);
}
