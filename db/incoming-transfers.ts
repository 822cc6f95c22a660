import { and, eq } from 'drizzle-orm';
import { dateInUtc } from '../domain/dates.ts';
import { recordNotFound, refusal } from '../domain/errors.ts';
import type { AccountId, IncomingTransferId, OutgoingTransferId } from '../domain/ids.ts';
import {
  decideArrival,
  type IncomingTransferStatus,
  type IncomingTransferStep,
  incomingTransferEventType,
  type PartyAccount,
} from '../domain/incoming-transfers.ts';
import type { BeneficiaryShown, PaymentReport } from '../domain/outgoing-transfers.ts';
import type { Transaction } from './client.ts';
import { readClock } from './clock.ts';
import { appendEvents, type EventEntry } from './events.ts';
import { newId } from './ids.ts';
import { changeReceivable, type LockedAccount, lockAccounts, post } from './ledger.ts';
import { incomingTransfers } from './schema.ts';
import { drawTransactionNumber } from './transaction-numbers.ts';
import { wake } from './workflow-wakeups.ts';

export type IncomingTransferRow = typeof incomingTransfers.$inferSelect;
type IncomingTransferChange = Partial<IncomingTransferRow>;

// A transfer on hold is looked at again at least so often, should the wake of its account's activation be lost.
const HOLD_CHECK_MS = 3_600_000;

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

async function lockTransfer(tx: Transaction, id: IncomingTransferId): Promise<IncomingTransferRow> {
  const [row] = await tx.drizzle.select().from(incomingTransfers).where(eq(incomingTransfers.id, id)).for('update');
  if (row === undefined) throw recordNotFound('incomingTransfer', 'id', id);
  return row;
}

/** Writes a change of a locked transfer and appends the event of its new status, if that has one. */
async function change(
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

const NO_WAIT = { waitingFor: null, waitingSince: null, waitingUntil: null, nextCheckAt: null } as const;

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

/** The receiver's side of an internal transfer that waits: pending from the start, and not yet receivable. */
export async function createInternalIncoming(
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
): Promise<void> {
  const { receiver, description, ...own } = transfer;
  await insert(tx, now, {
    ...own,
    clientId: receiver.clientId,
    accountId: receiver.id,
    status: 'pending',
    scope: 'internal',
    currency: receiver.currency,
    provider: receiver.provider,
    method: receiver.method,
    senderInformation: description,
    waitingFor: 'outgoing-transfer',
    waitingSince: now,
  });
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
    feeMinor: completed ? feeMinor : 0n,
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

async function wakeIncoming(tx: Transaction, id: IncomingTransferId): Promise<void> {
  await wake(tx, 'incoming-transfer', `incoming-transfer/${id}`);
}

/** Posts the principal to the account (null: to suspense), and the fee after it. */
async function postArrival(
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

/** Moves a held transfer as far as its account allows, and says what must be done or waited for. Safe to repeat. */
export async function advanceIncomingTransfer(tx: Transaction, id: IncomingTransferId): Promise<IncomingTransferStep> {
  const { transfer, account, now } = await begin(tx, id);
  if (transfer.status === 'pending') {
    return { do: 'wait', for: transfer.waitingFor ?? 'outgoing-transfer', until: null };
  }
  if (transfer.status !== 'on-hold') return transfer.sendBackStatus === 'due' ? { do: 'send-back' } : { do: 'end' };
  if (account === null) return { do: 'wait', for: 'match', until: null };
  const decision = decideArrival(account);
  if (decision.status === 'on-hold') return { do: 'wait', for: 'account', until: null };
  return (await settleHeld(tx, transfer, account, decision.status, now)) ? { do: 'send-back' } : { do: 'end' };
}

async function begin(tx: Transaction, id: IncomingTransferId, assignTo: AccountId | null = null) {
  const [ids] = await tx.drizzle
    .select({ accountId: incomingTransfers.accountId })
    .from(incomingTransfers)
    .where(eq(incomingTransfers.id, id));
  if (ids === undefined) throw recordNotFound('incomingTransfer', 'id', id);
  const accountId = ids.accountId ?? assignTo;
  const accounts = await lockAccounts(tx, accountId === null ? [] : [accountId]);
  const transfer = await lockTransfer(tx, id);
  const now = await readClock(tx);
  return { transfer, account: accountId === null ? null : (accounts.get(accountId) ?? null), now };
}

/** Ends a hold: the money goes from suspense to the account, or is to be sent back (true). */
async function settleHeld(
  tx: Transaction,
  transfer: IncomingTransferRow,
  account: LockedAccount,
  status: Exclude<IncomingTransferStatus, 'on-hold' | 'pending'>,
  now: Date,
): Promise<boolean> {
  if (transfer.receivableMinor > 0n) await changeReceivable(tx, account.id, -transfer.receivableMinor);
  if (status === 'completed') {
    const suspense = { provider: transfer.provider, kind: 'suspense' } as const;
    await postArrival(tx, transfer, now, suspense, account.id);
    const settled = { inSuspense: false, receivableMinor: 0n, holdReason: null, transferDate: dateInUtc(now) };
    await change(tx, transfer, now, {
      status,
      clientId: account.clientId,
      accountId: account.id,
      ...settled,
      ...NO_WAIT,
    });
    return false;
  }
  await failHeld(tx, transfer, 'account.status.not_active', now);
  return transfer.method === 'built-in';
}

async function failHeld(tx: Transaction, transfer: IncomingTransferRow, failureCode: string, now: Date): Promise<void> {
  const sendBack = transfer.method === 'built-in';
  if (!sendBack) await postSentBack(tx, transfer, now);
  await change(tx, transfer, now, {
    status: 'failed',
    failureCode,
    receivableMinor: 0n,
    holdReason: null,
    inSuspense: sendBack,
    sendBackStatus: sendBack ? 'due' : 'none',
    ...NO_WAIT,
    ...(sendBack
      ? { waitingFor: 'provider' as const, waitingSince: now, nextCheckAt: new Date(now.getTime() + 60_000) }
      : {}),
  });
}

async function postSentBack(tx: Transaction, transfer: IncomingTransferRow, now: Date): Promise<void> {
  await post(tx, {
    now,
    debit: { provider: transfer.provider, kind: 'suspense' },
    credit: { provider: transfer.provider, kind: 'settlement' },
    amountMinor: transfer.amountMinor,
    currency: transfer.currency,
    debitNumber: transfer.transactionNumber,
    debitType: 'incoming-transfer',
    entryType: 'principal',
    incomingTransferId: transfer.id,
  });
}

/** The provider has taken the money back. */
export async function recordSendBack(tx: Transaction, id: IncomingTransferId): Promise<IncomingTransferStep> {
  const { transfer, now } = await begin(tx, id);
  if (transfer.sendBackStatus !== 'due') return { do: 'end' };
  await postSentBack(tx, transfer, now);
  await change(tx, transfer, now, { sendBackStatus: 'done', inSuspense: false, ...NO_WAIT });
  return { do: 'end' };
}

/** An operator assigns a payment that matched nobody to an account of the same currency. */
export async function assignIncomingTransfer(
  tx: Transaction,
  id: IncomingTransferId,
  accountId: AccountId,
): Promise<void> {
  const { transfer, account, now } = await begin(tx, id, accountId);
  if (account === null) throw recordNotFound('account', 'id', accountId);
  if (transfer.status !== 'on-hold' || transfer.accountId !== null) throw notOnHold(transfer);
  if (account.currency !== transfer.currency) {
    const message = `The account holds ${account.currency}, the payment is in ${transfer.currency}.`;
    throw refusal('account.currency.mismatch', ['account', 'currency', account.currency], message);
  }
  if (decideArrival(account).status !== 'completed') {
    throw refusal(
      'account.status.not_active',
      ['account', 'id', accountId],
      'The account or its client is not active.',
    );
  }
  await settleHeld(tx, transfer, account, 'completed', now);
  await wakeIncoming(tx, id);
}

/** An operator sends held money back to where it came from. */
export async function returnIncomingTransfer(tx: Transaction, id: IncomingTransferId): Promise<void> {
  const { transfer, account, now } = await begin(tx, id);
  if (transfer.status !== 'on-hold') throw notOnHold(transfer);
  if (account !== null) await changeReceivable(tx, account.id, -transfer.receivableMinor);
  await failHeld(tx, transfer, 'returned-by-operator', now);
  await wakeIncoming(tx, id);
}

function notOnHold(transfer: IncomingTransferRow): Error {
  return refusal(
    'common.state.illegal_transition',
    ['incomingTransfer', 'status', transfer.status],
    `The incoming transfer is ${transfer.status}${transfer.accountId === null ? '' : ' and has an account'}.`,
  );
}
