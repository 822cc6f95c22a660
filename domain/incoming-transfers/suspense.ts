import { dateInUtc } from '../common/time/dates.ts';
import type { AccountSumChange, RowChange } from '../ledger/changes.ts';
import type { LockedAccount, Posting } from '../ledger/ledger.ts';
import {
  arrivalPostings,
  holdOf,
  type IncomingChange,
  NO_WAIT,
  returnWait,
  reviewWait,
  transitionIncoming,
} from './changes.ts';
import type { ArrivalDecision, HoldReason, IncomingTransfer } from './incoming-transfers.ts';

// How money leaves suspense, or stays. Each function returns the change; nothing is decided here.

type Incoming = RowChange<IncomingTransfer>;

/** The transfer before anything changes. */
export function unchanged(transfer: IncomingTransfer): Incoming {
  return { before: transfer, after: transfer, events: [] };
}

/** Ends its time in suspense as its account allows. */
export function settleFromSuspense(
  incoming: Incoming,
  account: LockedAccount | null,
  decision: ArrivalDecision,
  now: Date,
): IncomingChange {
  switch (decision.status) {
    case 'on-hold':
      return holdInSuspense(incoming, account, decision.holdReason, now);
    case 'failed':
      return failFromSuspense(incoming, account, decision.failureCode, now);
    case 'completed':
      if (account === null) throw new Error(`incoming transfer ${incoming.after.id} has no account to settle to`);
      return creditFromSuspense(incoming, account, now);
  }
}

function creditFromSuspense(incoming: Incoming, account: LockedAccount, now: Date): IncomingChange {
  const { after } = incoming;
  const suspense = { provider: after.provider, kind: 'suspense' } as const;
  return {
    incoming: transitionIncoming(incoming, now, {
      status: 'completed',
      ...ownedBy(after, account),
      inSuspense: false,
      receivableMinor: 0n,
      holdReason: null,
      transferDate: dateInUtc(now),
      ...NO_WAIT,
    }),
    accounts: receivableChange(after, account, 0n),
    postings: arrivalPostings(after, now, suspense, account.id),
    wakes: [],
  };
}

/** The money of a built-in account is returned through the provider; a plug-in caller returns it itself. */
export function failFromSuspense(
  incoming: Incoming,
  account: LockedAccount | null,
  failureCode: string,
  now: Date,
): IncomingChange {
  const { after } = incoming;
  const toBeReturned = after.method === 'built-in';
  return {
    incoming: transitionIncoming(incoming, now, {
      status: 'failed',
      ...ownedBy(after, account),
      failureCode,
      feeMinor: 0n,
      receivableMinor: 0n,
      holdReason: null,
      inSuspense: toBeReturned,
      sendBackStatus: toBeReturned ? 'due' : 'none',
      ...NO_WAIT,
      ...(toBeReturned ? returnWait(now) : {}),
    }),
    accounts: receivableChange(after, account, 0n),
    postings: toBeReturned ? [] : [returnPosting(after, now)],
    wakes: [],
  };
}

/** With an account, the amount is receivable there until it can be credited. */
export function holdInSuspense(
  incoming: Incoming,
  account: LockedAccount | null,
  reason: HoldReason,
  now: Date,
): IncomingChange {
  const { after } = incoming;
  const receivableMinor = account === null ? 0n : after.amountMinor;
  return {
    incoming: transitionIncoming(incoming, now, {
      ...holdOf(reason, now),
      ...ownedBy(after, account),
      receivableMinor,
    }),
    accounts: receivableChange(after, account, receivableMinor),
    postings: [],
    wakes: [],
  };
}

/** Waits for the decision of its review; with an account, the amount is receivable there. */
export function expectInReview(incoming: Incoming, account: LockedAccount | null, now: Date): IncomingChange {
  const { after } = incoming;
  const receivableMinor = account === null ? 0n : after.amountMinor;
  return {
    incoming: transitionIncoming(incoming, now, { ...reviewWait(now), ...ownedBy(after, account), receivableMinor }),
    accounts: receivableChange(after, account, receivableMinor),
    postings: [],
    wakes: [],
  };
}

export function returnPosting(transfer: IncomingTransfer, now: Date): Posting {
  return {
    now,
    debit: { provider: transfer.provider, kind: 'suspense' },
    credit: { provider: transfer.provider, kind: 'settlement' },
    amountMinor: transfer.amountMinor,
    currency: transfer.currency,
    debitNumber: transfer.transactionNumber,
    debitType: 'incoming-transfer',
    entryType: 'principal',
    incomingTransferId: transfer.id,
  };
}

/** The columns of the money's owner; a transfer without one gets them with its account. */
function ownedBy(transfer: IncomingTransfer, account: LockedAccount | null): Partial<IncomingTransfer> {
  if (account === null) return {};
  const { accountId, receiverPartyAccountId } = transfer;
  return {
    clientId: account.clientId,
    accountId: account.id,
    receiverPartyAccountId: accountId === null ? account.partyAccountId : receiverPartyAccountId,
  };
}

function receivableChange(
  transfer: IncomingTransfer,
  account: LockedAccount | null,
  toMinor: bigint,
): AccountSumChange[] {
  const receivableMinor = toMinor - transfer.receivableMinor;
  return account === null || receivableMinor === 0n ? [] : [{ accountId: account.id, receivableMinor }];
}
