import type { EventEntry } from '../common/events.ts';
import type { AccountId, IncomingTransferId, OutgoingTransferId } from '../common/ids.ts';
import { dateInUtc } from '../common/time/dates.ts';
import { requireTransition } from '../common/transitions.ts';
import { isInReview, nextReviewCheck, presentComplianceCheck } from '../compliance/checks.ts';
import type { LedgerChange, RowChange } from '../ledger/changes.ts';
import type { LedgerSide, LockedAccount, Posting } from '../ledger/ledger.ts';
import { incomingTransferEventData } from './events.ts';
import {
  decideArrival,
  type HoldReason,
  INCOMING_TRANSFER_TRANSITIONS,
  type IncomingTransfer,
  incomingTransferEventType,
  newIncomingTransfer,
  type PartyAccount,
  waitOfHold,
} from './incoming-transfers.ts';

// The longest time between two checks of a held transfer, in case the wake-up of its account's activation is lost.
const HOLD_CHECK_MS = 3_600_000;
const SEND_BACK_CHECK_MS = 60_000;

export function nextHoldCheck(now: Date): Date {
  return new Date(now.getTime() + HOLD_CHECK_MS);
}

/** The fields of a held transfer. */
export function holdOf(reason: HoldReason, now: Date) {
  return {
    status: 'on-hold' as const,
    holdReason: reason,
    waitingFor: waitOfHold(reason),
    waitingSince: now,
    nextCheckAt: nextHoldCheck(now),
  };
}

/** The fields of a transfer whose money is to be returned through its provider. */
export function returnWait(now: Date) {
  const nextCheckAt = new Date(now.getTime() + SEND_BACK_CHECK_MS);
  return { waitingFor: 'provider' as const, waitingSince: now, nextCheckAt };
}

/** The fields of a transfer in review. */
export function reviewWait(now: Date) {
  return { waitingFor: 'compliance' as const, waitingSince: now, nextCheckAt: nextReviewCheck(now) };
}

export const NO_WAIT = { waitingFor: null, waitingSince: null, waitingUntil: null, nextCheckAt: null } as const;

function incomingEntry(transfer: IncomingTransfer): EventEntry {
  return { type: incomingTransferEventType(transfer.status), data: incomingTransferEventData(transfer) };
}

/** A new transfer's first events: it is pending, and in review if it is to be reviewed. */
function openingEntries(transfer: IncomingTransfer): EventEntry[] {
  const data = { ...incomingTransferEventData(transfer), complianceCheck: presentComplianceCheck(transfer) };
  const inReview = { type: 'incoming-transfer-compliance-in-review', data };
  return [incomingEntry(transfer), ...(isInReview(transfer) ? [inReview] : [])];
}

/** Transitions a transfer and adds the event of its new status. */
export function transitionIncoming(
  { before, after, events }: RowChange<IncomingTransfer>,
  now: Date,
  fields: Partial<IncomingTransfer>,
): RowChange<IncomingTransfer> {
  const moved = { ...after, ...fields, updatedAt: now };
  requireTransition('incoming transfer', INCOMING_TRANSFER_TRANSITIONS, after.status, moved.status);
  return { before, after: moved, events: moved.status === after.status ? events : [...events, incomingEntry(moved)] };
}

/** The receiver's side of a new internal transfer: pending, and not receivable yet. */
export function openInternalIncoming(
  outgoing: {
    readonly id: OutgoingTransferId;
    readonly incomingTransferId: IncomingTransferId | null;
    readonly amountMinor: bigint;
    readonly description: string | null;
    readonly createdAt: Date;
  },
  sides: {
    readonly transactionNumber: string;
    readonly sender: LockedAccount;
    readonly receiver: LockedAccount;
    readonly isReviewed: boolean;
  },
): RowChange<IncomingTransfer> {
  const { sender, receiver } = sides;
  const { incomingTransferId: id, createdAt: now } = outgoing;
  if (id === null) throw new Error(`outgoing transfer ${outgoing.id} has no incoming transfer`);
  const after = newIncomingTransfer({
    id,
    transactionNumber: sides.transactionNumber,
    clientId: receiver.clientId,
    accountId: receiver.id,
    receiverPartyAccountId: receiver.partyAccountId,
    status: 'pending',
    scope: 'internal',
    currency: receiver.currency,
    amountMinor: outgoing.amountMinor,
    outgoingTransferId: outgoing.id,
    senderAccountId: sender.id,
    senderPartyAccountId: sender.partyAccountId,
    provider: receiver.provider,
    method: receiver.method,
    senderInformation: outgoing.description,
    complianceCheckStatus: sides.isReviewed ? 'not-checked' : 'not-required',
    ...(sides.isReviewed ? reviewWait(now) : { waitingFor: 'outgoing-transfer', waitingSince: now }),
    createdAt: now,
    updatedAt: now,
  });
  return { before: null, after, events: openingEntries(after) };
}

/** Money that has arrived, with its account if it matched one. Amounts in minor units. */
export interface Arrival {
  readonly provider: string;
  readonly method: 'built-in' | 'plug-in';
  readonly account: LockedAccount | null;
  /** Why the money is held regardless of its account: it matched no account or several, or its provider holds it. */
  readonly hold: HoldReason | null;
  readonly isReviewed: boolean;
  readonly amountMinor: bigint;
  readonly feeMinor: bigint;
  readonly currency: string;
  readonly scope: 'internal' | 'external';
  readonly scheme: string | null;
  readonly provisionedAccountCreditId: IncomingTransfer['provisionedAccountCreditId'];
  readonly serviceProviderId: string | null;
  readonly serviceProviderReference: string | null;
  /** For a returned payment of ours: its transfer, and the provider's id of the return. */
  readonly returnOf?: OutgoingTransferId | null;
  readonly returnReference?: string | null;
  readonly senderInformation: string | null;
  readonly senderName: string | null;
  readonly senderAccount: PartyAccount | null;
  readonly receiverAccount: PartyAccount | null;
}

/** The id and number of a new transfer, generated by the caller. */
export interface IncomingTransferName {
  readonly id: IncomingTransferId;
  readonly transactionNumber: string;
}

export type IncomingChange = Pick<LedgerChange, 'accounts' | 'postings' | 'wakes'> & {
  readonly incoming: RowChange<IncomingTransfer>;
};

/**
 * Turns money that has arrived into a transfer with its postings. Money that is not the client's yet (in review, held,
 * unmatched or to be returned) goes to the provider's suspense account.
 */
export function receiveMoney(name: IncomingTransferName, arrival: Arrival, now: Date): IncomingChange {
  const { account, feeMinor, hold, isReviewed, ...own } = arrival;
  const decision = decideArrival(account, hold);
  const toBeReturned = decision.status === 'failed' && arrival.method === 'built-in';
  const reviewed = isReviewed && decision.status !== 'failed';
  // Reviewed first, and only then held for its account; but money that the provider holds cannot be settled.
  const pending = reviewed && hold !== 'held-by-provider';
  const completed = decision.status === 'completed' && !pending;
  const expected = pending || decision.status === 'on-hold';
  const inSuspense = expected || toBeReturned;
  const receivableMinor = expected && account !== null ? arrival.amountMinor : 0n;
  const after = newIncomingTransfer({
    ...own,
    ...name,
    clientId: account?.clientId ?? null,
    accountId: account?.id ?? null,
    receiverPartyAccountId: account?.partyAccountId ?? null,
    status: pending ? 'pending' : decision.status,
    // The fee of money in suspense is fixed now and charged when the money reaches the account.
    feeMinor: completed || expected ? feeMinor : 0n,
    transferDate: completed ? dateInUtc(now) : null,
    receivableMinor,
    inSuspense,
    complianceCheckStatus: reviewed ? 'not-checked' : 'not-required',
    failureCode: decision.status === 'failed' ? decision.failureCode : null,
    sendBackStatus: toBeReturned ? 'due' : 'none',
    ...(decision.status === 'on-hold' && !pending ? holdOf(decision.holdReason, now) : {}),
    ...(pending ? reviewWait(now) : {}),
    ...(toBeReturned ? returnWait(now) : {}),
    createdAt: now,
    updatedAt: now,
  });
  const settlement = { provider: after.provider, kind: 'settlement' } as const;
  const arrivesAt = completed ? (account?.id ?? null) : null;
  return {
    incoming: { before: null, after, events: entriesOfArrival(after) },
    accounts: account !== null && receivableMinor > 0n ? [{ accountId: account.id, receivableMinor }] : [],
    postings: completed || inSuspense ? arrivalPostings(after, now, settlement, arrivesAt) : [],
    wakes: inSuspense ? [`incoming-transfer/${after.id}`] : [],
  };
}

/** Every transfer starts as pending, even if the same step settles, holds or fails it. */
function entriesOfArrival(after: IncomingTransfer): EventEntry[] {
  const pending = { ...after, status: 'pending', transferDate: null, holdReason: null, failureCode: null } as const;
  if (after.status === 'pending') return openingEntries(pending);
  requireTransition('incoming transfer', INCOMING_TRANSFER_TRANSITIONS, 'pending', after.status);
  return [...openingEntries(pending), incomingEntry(after)];
}

/** The principal goes to the account (null: suspense), followed by the fee. */
export function arrivalPostings(
  transfer: IncomingTransfer,
  now: Date,
  debit: LedgerSide,
  credit: AccountId | null,
): Posting[] {
  const shared = {
    now,
    currency: transfer.currency,
    debitNumber: transfer.transactionNumber,
    debitType: 'incoming-transfer',
    incomingTransferId: transfer.id,
  } as const;
  const principal: Posting = {
    ...shared,
    debit,
    credit: credit ?? { provider: transfer.provider, kind: 'suspense' },
    amountMinor: transfer.amountMinor,
    entryType: 'principal',
    narrative: transfer.senderInformation,
  };
  if (credit === null || transfer.feeMinor === 0n) return [principal];
  const fees = { provider: transfer.provider, kind: 'fee-revenue' } as const;
  return [principal, { ...shared, debit: credit, credit: fees, amountMinor: transfer.feeMinor, entryType: 'fee' }];
}
