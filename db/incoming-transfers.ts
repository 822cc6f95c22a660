import { eq } from 'drizzle-orm';
import { dateInUtc } from '../domain/dates.ts';
import { recordNotFound, refusal } from '../domain/errors.ts';
import type { AccountId, IncomingTransferId } from '../domain/ids.ts';
import { decideArrival, type IncomingTransferStatus, type IncomingTransferStep } from '../domain/incoming-transfers.ts';
import { appendAuditEntry } from './audit-entries.ts';
import type { Transaction } from './client.ts';
import { readClock } from './clock.ts';
import {
  change,
  HOLD_CHECK_MS,
  type IncomingTransferRow,
  lockTransfer,
  NO_WAIT,
  postArrival,
  wakeIncoming,
} from './incoming-transfer-work.ts';
import { changeReceivable, type LockedAccount, lockAccounts, post } from './ledger.ts';
import { incomingTransfers, provisionedAccountCredits } from './schema.ts';

/** Moves a held transfer as far as its account allows, and says what must be done or waited for. Safe to repeat. */
export async function advanceIncomingTransfer(tx: Transaction, id: IncomingTransferId): Promise<IncomingTransferStep> {
  const { transfer, account, now } = await begin(tx, id);
  if (transfer.status === 'pending') {
    return { do: 'wait', for: transfer.waitingFor ?? 'outgoing-transfer', until: null };
  }
  if (transfer.status !== 'on-hold') return transfer.sendBackStatus === 'due' ? { do: 'send-back' } : { do: 'end' };
  const decision = decideArrival(account);
  if (account === null || decision.status === 'on-hold') {
    await change(tx, transfer, now, { nextCheckAt: new Date(now.getTime() + HOLD_CHECK_MS) });
    return { do: 'wait', for: account === null ? 'match' : 'account', until: null };
  }
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
    feeMinor: 0n,
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

/** An operator assigns a payment that matched nobody to an account of the same provider and currency. */
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
  if (account.provider !== transfer.provider) {
    const message = `The money is at ${transfer.provider}, the account at ${account.provider}.`;
    throw refusal('account.method.mismatch', ['account', 'serviceProvider', account.provider], message);
  }
  if (decideArrival(account).status !== 'completed') {
    throw refusal(
      'account.status.not_active',
      ['account', 'id', accountId],
      'The account or its client is not active.',
    );
  }
  await settleHeld(tx, transfer, account, 'completed', now);
  if (transfer.provisionedAccountCreditId !== null) {
    await tx.drizzle
      .update(provisionedAccountCredits)
      .set({ accountId: account.id, clientId: account.clientId })
      .where(eq(provisionedAccountCredits.id, transfer.provisionedAccountCreditId));
  }
  await tellOperation(tx, 'incoming-transfer.assigned', id, { accountId });
  await wakeIncoming(tx, id);
}

/**
 * An operator sends held money back to where it came from. A payment of ours that came back has no payer to send it to: it
 * can only be assigned.
 */
export async function returnIncomingTransfer(tx: Transaction, id: IncomingTransferId): Promise<void> {
  const { transfer, account, now } = await begin(tx, id);
  if (transfer.status !== 'on-hold') throw notOnHold(transfer);
  if (transfer.method === 'built-in' && transfer.serviceProviderId === null) {
    const message =
      'This is a payment of ours that came back: it has no payer to go back to, and can only be assigned.';
    throw refusal('common.state.illegal_transition', ['incomingTransfer', 'status', transfer.status], message);
  }
  if (account !== null) await changeReceivable(tx, account.id, -transfer.receivableMinor);
  await failHeld(tx, transfer, 'returned-by-operator', now);
  await tellOperation(tx, 'incoming-transfer.returned', id, {});
  await wakeIncoming(tx, id);
}

function tellOperation(tx: Transaction, action: string, id: IncomingTransferId, details: Record<string, unknown>) {
  return appendAuditEntry(tx, { actor: 'operator', action, subject: id, details });
}

function notOnHold(transfer: IncomingTransferRow): Error {
  return refusal(
    'common.state.illegal_transition',
    ['incomingTransfer', 'status', transfer.status],
    `The incoming transfer is ${transfer.status}${transfer.accountId === null ? '' : ' and has an account'}.`,
  );
}
