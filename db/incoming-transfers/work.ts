import { and, eq } from 'drizzle-orm';
import { recordNotFound } from '../../domain/frame/errors.ts';
import type { AccountId, IncomingTransferId, OutgoingTransferId } from '../../domain/frame/ids.ts';
import { requireMove } from '../../domain/frame/moves.ts';
import { dateInUtc } from '../../domain/frame/time/dates.ts';
import {
  decideArrival,
  type HoldReason,
  INCOMING_TRANSFER_MOVES,
  incomingTransferEventType,
  type PartyAccount,
  waitOfHold,
} from '../../domain/incoming-transfers/incoming-transfers.ts';
import { leaveToCommit, type Transaction } from '../driver/client.ts';
import { appendEvents, type EventEntry, eventsValues, insertOfFirstEvents } from '../frame/events.ts';
import { newId } from '../frame/ids.ts';
import { incomingTransfers } from '../frame/schema.ts';
import { wake } from '../frame/workflow-wakeups.ts';
import { changeReceivable, type LockedAccount, post } from '../ledger/ledger.ts';
import { drawTransactionNumber } from '../ledger/transaction-numbers.ts';
import { incomingTransferEventData, type UnchangingIncomingField } from '../ledger/transfer-event-data.ts';

export type IncomingTransferRow = typeof incomingTransfers.$inferSelect;

type IncomingTransferChange = Partial<Omit<IncomingTransferRow, UnchangingIncomingField>>;

// A transfer on hold is looked at again at least so often, should the wake of its account's activation be lost.
const HOLD_CHECK_MS = 3_600_000;

export function nextHoldCheck(now: Date): Date {
  return new Date(now.getTime() + HOLD_CHECK_MS);
}

function eventsOf(rows: readonly IncomingTransferRow[]): EventEntry[] {
  return rows.map((row) => ({ type: incomingTransferEventType(row.status), data: incomingTransferEventData(row) }));
}

export async function lockTransfer(tx: Transaction, id: IncomingTransferId): Promise<IncomingTransferRow> {
  const [row] = await tx.drizzle.select().from(incomingTransfers).where(eq(incomingTransfers.id, id)).for('update');
  if (row === undefined) throw recordNotFound('incomingTransfer', 'id', id);
  return row;
}

/** Writes a change of a locked transfer and appends the event of its new status. */
export async function change(
  tx: Transaction,
  before: IncomingTransferRow,
  now: Date,
  changed: IncomingTransferChange,
): Promise<IncomingTransferRow> {
  requireMove('incoming transfer', INCOMING_TRANSFER_MOVES, before.status, changed.status ?? before.status);
  const [after] = await tx.drizzle
    .update(incomingTransfers)
    .set({ ...changed, revision: before.revision + 1n, updatedAt: now })
    .where(and(eq(incomingTransfers.id, before.id), eq(incomingTransfers.revision, before.revision)))
    .returning();
  if (after === undefined) throw new Error(`incoming transfer ${before.id} changed under its lock`);
  if (after.status !== before.status) {
    const entries = eventsOf([after]);
    await appendEvents(tx, { module: 'incoming-transfers', resourceId: before.id, occurredAt: now, entries });
  }
  return after;
}

/** The columns of a transfer whose money is held. */
export function holdOf(reason: HoldReason, now: Date) {
  return {
    status: 'on-hold' as const,
    holdReason: reason,
    waitingFor: waitOfHold(reason),
    waitingSince: now,
    nextCheckAt: nextHoldCheck(now),
  };
}

export const NO_WAIT = { waitingFor: null, waitingSince: null, waitingUntil: null, nextCheckAt: null } as const;

/** The incoming side of a waiting internal transfer is settled; the outgoing side has posted the money. */
export async function completeInternalIncoming(tx: Transaction, id: IncomingTransferId, now: Date): Promise<void> {
  const transfer = await lockTransfer(tx, id);
  await change(tx, transfer, now, { status: 'completed', transferDate: dateInUtc(now), ...NO_WAIT });
}

/** The outgoing side was cancelled or failed, so nothing will arrive. */
export async function failInternalIncoming(
  tx: Transaction,
  id: IncomingTransferId,
  now: Date,
  failureCode: string,
): Promise<void> {
  const transfer = await lockTransfer(tx, id);
  if (transfer.accountId !== null && transfer.receivableMinor > 0n) {
    await changeReceivable(tx, transfer.accountId, -transfer.receivableMinor);
  }
  await change(tx, transfer, now, { status: 'failed', failureCode, receivableMinor: 0n, ...NO_WAIT });
}

/** The outgoing side is reserved, and the receiver's review decides what becomes of the money. */
export async function reviewInternalIncoming(tx: Transaction, id: IncomingTransferId, now: Date): Promise<void> {
  const transfer = await lockTransfer(tx, id);
  if (transfer.accountId === null) throw new Error(`incoming transfer ${id} has no account`);
  await changeReceivable(tx, transfer.accountId, transfer.amountMinor);
  const review = { waitingFor: 'compliance', waitingSince: now } as const;
  await change(tx, transfer, now, { receivableMinor: transfer.amountMinor, ...review });
}

const CREATE_INTERNAL = `WITH event AS (${insertOfFirstEvents('incoming-transfers', 15)})
  INSERT INTO incoming_transfers (id, transaction_number, client_id, account_id, receiver_party_account_id, status, scope,
    currency, amount_minor, outgoing_transfer_id, sender_account_id, sender_party_account_id, provider, method,
    sender_information, compliance_check_status, waiting_for, waiting_since, event_sequence, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, 'pending', 'internal', $6, $7, $8, $9, $10, $11, $12, $13, $14, 'outgoing-transfer', $15, 1,
    $15, $15)`;

/**
 * Sends the receiver's side of an internal transfer that waits: pending from the start, and not yet receivable. That it is
 * written is known when the transaction commits.
 */
export function createInternalIncoming(
  tx: Transaction,
  transfer: {
    id: IncomingTransferId;
    transactionNumber: string;
    outgoingTransferId: OutgoingTransferId;
    sender: LockedAccount;
    receiver: LockedAccount;
    /** Incoming transfers are reviewed: so is this one, once the outgoing one is reserved. */
    isReviewed: boolean;
    amountMinor: bigint;
    description: string | null;
  },
  now: Date,
): void {
  const { id, sender, receiver, description } = transfer;
  const { clientId, id: accountId, partyAccountId } = receiver;
  const parties = [clientId, accountId, partyAccountId, receiver.currency, transfer.amountMinor];
  const origin = [
    transfer.outgoingTransferId,
    sender.id,
    sender.partyAccountId,
    receiver.provider,
    receiver.method,
    description,
    transfer.isReviewed ? 'not-checked' : 'not-required',
  ];
  const unset = { transferDate: null, feeMinor: 0n, holdReason: null, failureCode: null };
  const shown = { status: 'pending', accountId, clientId, ...unset } as const;
  const entries = [{ type: 'incoming-transfer-pending', data: incomingTransferEventData(shown) }];
  const events = eventsValues({ resourceId: id, occurredAt: now, entries });
  leaveToCommit(tx.statement(CREATE_INTERNAL, [id, transfer.transactionNumber, ...parties, ...origin, now, ...events]));
}

type NewIncomingTransfer = Omit<typeof incomingTransfers.$inferInsert, 'createdAt' | 'updatedAt'>;

async function insert(tx: Transaction, now: Date, values: NewIncomingTransfer): Promise<IncomingTransferRow> {
  const [row] = await tx.drizzle
    .insert(incomingTransfers)
    .values({ ...values, createdAt: now, updatedAt: now })
    .returning();
  if (row === undefined) throw new Error('an insert returned no row');
  // Every transfer begins as pending, also where its money settles, is held or fails in the same transaction.
  requireMove('incoming transfer', INCOMING_TRANSFER_MOVES, 'pending', row.status);
  const pending: IncomingTransferRow = {
    ...row,
    status: 'pending',
    transferDate: null,
    holdReason: null,
    failureCode: null,
  };
  const entries = eventsOf(row.status === 'pending' ? [pending] : [pending, row]);
  await appendEvents(tx, { module: 'incoming-transfers', resourceId: row.id, occurredAt: now, entries });
  return row;
}

/** Money that has arrived, matched to an account or to nobody. Amounts in minor units. */
export interface Arrival {
  readonly provider: string;
  readonly method: 'built-in' | 'plug-in';
  readonly account: LockedAccount | null;
  /** Why the money is held whatever its account allows: no account, or several, matched; or its provider holds it. */
  readonly hold: HoldReason | null;
  readonly amountMinor: bigint;
  readonly feeMinor: bigint;
  readonly currency: string;
  readonly scope: 'internal' | 'external';
  readonly scheme: string | null;
  readonly provisionedAccountCreditId: IncomingTransferRow['provisionedAccountCreditId'];
  readonly serviceProviderId: string | null;
  readonly serviceProviderReference: string | null;
  /** Of a payment that came back: the provider's id of the return. */
  readonly returnReference?: string | null;
  readonly senderInformation: string | null;
  readonly senderName: string | null;
  readonly senderAccount: PartyAccount | null;
  readonly receiverAccount: PartyAccount | null;
}

/**
 * Records money that has arrived, in one step with its postings. What is not the client's yet (on hold, unmatched, to be
 * sent back) stands in the provider's suspense account. The matched account is locked by this transaction.
 */
export async function createIncomingTransfer(
  tx: Transaction,
  arrival: Arrival,
  now: Date,
): Promise<IncomingTransferRow> {
  const { account, feeMinor, hold, ...own } = arrival;
  const decision = decideArrival(account, hold);
  const id = newId<IncomingTransferId>();
  const number = drawTransactionNumber('incoming-transfer', now);
  const completed = decision.status === 'completed';
  const held = decision.status === 'on-hold';
  const sendBack = decision.status === 'failed' && arrival.method === 'built-in';
  const inSuspense = !completed && (held || sendBack);
  const row = await insert(tx, now, {
    ...own,
    id,
    transactionNumber: number,
    clientId: account?.clientId ?? null,
    accountId: account?.id ?? null,
    receiverPartyAccountId: account?.partyAccountId ?? null,
    status: decision.status,
    // Of held money the fee is known, and charged when it reaches the account.
    feeMinor: completed || held ? feeMinor : 0n,
    transferDate: completed ? dateInUtc(now) : null,
    receivableMinor: held && account !== null ? arrival.amountMinor : 0n,
    inSuspense,
    failureCode: decision.status === 'failed' ? decision.failureCode : null,
    sendBackStatus: sendBack ? 'due' : 'none',
    ...(decision.status === 'on-hold' ? holdOf(decision.holdReason, now) : {}),
    ...(sendBack
      ? { waitingFor: 'provider' as const, waitingSince: now, nextCheckAt: new Date(now.getTime() + 60_000) }
      : {}),
  });
  if (held && account !== null) await changeReceivable(tx, account.id, arrival.amountMinor);
  if (inSuspense) await postArrival(tx, row, now, { provider: row.provider, kind: 'settlement' }, null);
  if (completed && account !== null) {
    await postArrival(tx, row, now, { provider: row.provider, kind: 'settlement' }, account.id);
  }
  if (held || sendBack) await wakeIncoming(tx, id);
  return row;
}

export async function wakeIncoming(tx: Transaction, id: IncomingTransferId): Promise<void> {
  await wake(tx, 'incoming-transfer', `incoming-transfer/${id}`);
}

/** Posts the principal to the account (null: to suspense), and the fee after it. */
export async function postArrival(
  tx: Transaction,
  transfer: IncomingTransferRow,
  now: Date,
  debit: { provider: string; kind: 'settlement' | 'suspense' },
  credit: AccountId | null,
): Promise<void> {
  const shared = {
    now,
    currency: transfer.currency,
    debitNumber: transfer.transactionNumber,
    debitType: 'incoming-transfer',
    incomingTransferId: transfer.id,
  } as const;
  await post(tx, {
    ...shared,
    debit,
    credit: credit ?? { provider: transfer.provider, kind: 'suspense' },
    amountMinor: transfer.amountMinor,
    entryType: 'principal',
    narrative: transfer.senderInformation,
  });
  if (credit !== null && transfer.feeMinor > 0n) {
    const fees = { provider: transfer.provider, kind: 'fee-revenue' } as const;
    await post(tx, { ...shared, debit: credit, credit: fees, amountMinor: transfer.feeMinor, entryType: 'fee' });
  }
}
