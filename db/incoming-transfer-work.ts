import { and, eq } from 'drizzle-orm';
import { dateInUtc } from '../domain/dates.ts';
import { recordNotFound } from '../domain/errors.ts';
import type { AccountId, IncomingTransferId, OutgoingTransferId } from '../domain/ids.ts';
import { decideArrival, incomingTransferEventType, type PartyAccount } from '../domain/incoming-transfers.ts';
import type { BeneficiaryShown, PaymentReport } from '../domain/outgoing-transfers.ts';
import { leaveToCommit, type Transaction } from './client.ts';
import { appendEvents, type EventEntry, eventsValues, insertOfFirstEvents } from './events.ts';
import { newId } from './ids.ts';
import { changeReceivable, type LockedAccount, post } from './ledger.ts';
import { incomingTransfers } from './schema.ts';
import { drawTransactionNumber } from './transaction-numbers.ts';
import { wake } from './workflow-wakeups.ts';

export type IncomingTransferRow = typeof incomingTransfers.$inferSelect;
type IncomingTransferChange = Partial<IncomingTransferRow>;

// A transfer on hold is looked at again at least so often, should the wake of its account's activation be lost.
export const HOLD_CHECK_MS = 3_600_000;

/** What an event shows of a transfer's changing fields. */
export function incomingTransferEventData(transfer: IncomingTransferRow): Record<string, unknown> {
  const { status, transferDate, accountId, clientId } = transfer;
  return { status, transferDate, accountId, clientId };
}

function eventsOf(rows: readonly IncomingTransferRow[]): EventEntry[] {
  return rows.flatMap((row) => {
    const type = incomingTransferEventType(row.status);
    return type === null ? [] : [{ type, data: incomingTransferEventData(row) }];
  });
}

export async function lockTransfer(tx: Transaction, id: IncomingTransferId): Promise<IncomingTransferRow> {
  const [row] = await tx.drizzle.select().from(incomingTransfers).where(eq(incomingTransfers.id, id)).for('update');
  if (row === undefined) throw recordNotFound('incomingTransfer', 'id', id);
  return row;
}

/** Writes a change of a locked transfer and appends the event of its new status, if that has one. */
export async function change(
  tx: Transaction,
  before: IncomingTransferRow,
  now: Date,
  changed: IncomingTransferChange,
): Promise<IncomingTransferRow> {
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
  await change(tx, transfer, now, { status: 'failed', failureCode, ...NO_WAIT });
}

const CREATE_INTERNAL = `WITH event AS (${insertOfFirstEvents('incoming-transfers', 12)})
  INSERT INTO incoming_transfers (id, transaction_number, client_id, account_id, status, scope, currency,
    amount_minor, outgoing_transfer_id, sender_account_id, provider, method, sender_information, waiting_for, waiting_since,
    event_sequence, created_at, updated_at)
  VALUES ($1, $2, $3, $4, 'pending', 'internal', $5, $6, $7, $8, $9, $10, $11, 'outgoing-transfer', $12, 1, $12, $12)`;

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
    senderAccountId: AccountId;
    receiver: LockedAccount;
    amountMinor: bigint;
    description: string | null;
  },
  now: Date,
): void {
  const { id, receiver, description } = transfer;
  const parties = [receiver.clientId, receiver.id, receiver.currency, transfer.amountMinor];
  const origin = [
    transfer.outgoingTransferId,
    transfer.senderAccountId,
    receiver.provider,
    receiver.method,
    description,
  ];
  const shown = { status: 'pending', transferDate: null, accountId: receiver.id, clientId: receiver.clientId };
  const entries = [{ type: 'incoming-transfer-pending', data: shown }];
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
  const pending: IncomingTransferRow = { ...row, status: 'pending', transferDate: null };
  const entries = eventsOf(row.status === 'pending' ? [pending] : [pending, row]);
  await appendEvents(tx, { module: 'incoming-transfers', resourceId: row.id, occurredAt: now, entries });
  return row;
}

/** Money that has arrived, matched to an account or to nobody. Amounts in minor units. */
export interface Arrival {
  readonly provider: string;
  readonly method: 'built-in' | 'plug-in';
  readonly account: LockedAccount | null;
  readonly amountMinor: bigint;
  readonly feeMinor: bigint;
  readonly currency: string;
  readonly scope: 'internal' | 'external';
  readonly scheme: string | null;
  readonly provisionedAccountCreditId: IncomingTransferRow['provisionedAccountCreditId'];
  readonly serviceProviderId: string | null;
  readonly serviceProviderReference: string | null;
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
  const { account, feeMinor, ...own } = arrival;
  const decision = decideArrival(account);
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
    status: decision.status,
    // Of held money the fee is known, and charged when it reaches the account.
    feeMinor: completed || held ? feeMinor : 0n,
    transferDate: completed ? dateInUtc(now) : null,
    receivableMinor: held && account !== null ? arrival.amountMinor : 0n,
    inSuspense,
    holdReason: held ? decision.holdReason : null,
    failureCode: decision.status === 'failed' ? decision.failureCode : null,
    sendBackStatus: sendBack ? 'due' : 'none',
    ...(held
      ? {
          waitingFor: account === null ? ('match' as const) : ('account' as const),
          waitingSince: now,
          nextCheckAt: new Date(now.getTime() + HOLD_CHECK_MS),
        }
      : {}),
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

/** The principal of a payment that came back, completed at once; money for an account that is gone is held. */
export async function createReturn(
  tx: Transaction,
  outgoing: {
    id: OutgoingTransferId;
    transactionNumber: string;
    amountMinor: bigint;
    currency: string;
    scheme: string | null;
    provider: string;
    method: 'built-in' | 'plug-in';
    beneficiary: BeneficiaryShown | null;
  },
  account: LockedAccount,
  now: Date,
  report: PaymentReport,
): Promise<IncomingTransferId> {
  const usable = account.status !== 'closed' && account.status !== 'declined';
  const row = await createIncomingTransfer(
    tx,
    {
      provider: outgoing.provider,
      method: outgoing.method,
      account: usable ? account : null,
      amountMinor: outgoing.amountMinor,
      feeMinor: 0n,
      currency: outgoing.currency,
      scope: 'external',
      scheme: outgoing.scheme,
      provisionedAccountCreditId: null,
      serviceProviderId: null,
      serviceProviderReference: report.serviceProviderReference,
      senderInformation: `Return of ${outgoing.transactionNumber}${report.code === null ? '' : `: ${report.code}`}`,
      senderName: outgoing.beneficiary?.fullName ?? null,
      senderAccount: outgoing.beneficiary?.account ?? null,
      receiverAccount: null,
    },
    now,
  );
  return row.id;
}
