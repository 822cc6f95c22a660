import { and, eq, sql } from 'drizzle-orm';
import type { Account } from '../../domain/accounts/accounts.ts';
import { recordNotFound, refusal } from '../../domain/frame/errors.ts';
import type { AccountId, IncomingTransferId } from '../../domain/frame/ids.ts';
import { dateInUtc } from '../../domain/frame/time/dates.ts';
import { holdOf, NO_WAIT, returnWait } from '../../domain/incoming-transfers/changes.ts';
import {
  type ArrivalDecision,
  decideArrival,
  type HoldReason,
  type IncomingTransfer,
  type IncomingTransferStatus,
} from '../../domain/incoming-transfers/incoming-transfers.ts';
import type { LockedAccount } from '../../domain/ledger/ledger.ts';
import type { Transaction } from '../driver/client.ts';
import { type Given, prepared } from '../driver/queries/queries.ts';
import { lookUpIn, updateRow } from '../driver/queries/rows.ts';
import { readClock } from '../frame/clock.ts';
import { incomingTransfers, provisionedAccountCredits } from '../frame/schema.ts';
import { changeReceivable, lockAccounts, post } from '../ledger/ledger.ts';
import { type CallbackOutcome, lockPaymentIn, type PaymentInKey } from '../providers/callbacks.ts';
import { lockReceiver, matchPayment } from './payment-matching.ts';
import { change, lockTransfer, postArrival, wakeIncoming } from './work.ts';

const ENTITY = 'incomingTransfer';

const TRANSFER = lookUpIn(incomingTransfers);

/** Locks and reads the transfer and its account, or the account to which it is about to be assigned. */
export async function begin(tx: Transaction, id: IncomingTransferId, assignTo: AccountId | null = null) {
  const ids = await tx.find(TRANSFER, id);
  if (ids === null) throw recordNotFound(ENTITY, 'id', id);
  const accountId = ids.accountId ?? assignTo;
  const accounts = await lockAccounts(tx, accountId === null ? [] : [accountId]);
  const transfer = await lockTransfer(tx, id);
  // Accounts are locked before transfers, so a transfer that was assigned meanwhile takes another attempt.
  if (transfer.accountId !== ids.accountId && transfer.accountId !== accountId) throw assignedMeanwhile(transfer);
  const now = await readClock(tx);
  return { transfer, account: accountId === null ? null : (accounts.get(accountId) ?? null), now };
}

function assignedMeanwhile({ id, accountId }: IncomingTransfer): Error {
  const message = `The incoming transfer ${id} has been assigned to an account at this moment; ask again.`;
  return refusal('common.state.illegal_transition', [ENTITY, 'accountId', accountId ?? ''], message);
}

/** The columns of the money's owner; a transfer without one gets them with its account. */
function ownedBy(transfer: IncomingTransfer, account: LockedAccount | null) {
  if (account === null) return {};
  const { accountId, receiverPartyAccountId } = transfer;
  return {
    clientId: account.clientId,
    accountId: account.id,
    receiverPartyAccountId: accountId === null ? account.partyAccountId : receiverPartyAccountId,
  };
}

/** Ends a hold: credits the account from suspense, or returns true if the money must go back to its payer. */
export async function settleHeld(
  tx: Transaction,
  transfer: IncomingTransfer,
  account: LockedAccount,
  status: Exclude<IncomingTransferStatus, 'on-hold' | 'pending'>,
  now: Date,
): Promise<boolean> {
  if (transfer.receivableMinor > 0n) await changeReceivable(tx, account.id, -transfer.receivableMinor);
  if (status === 'completed') {
    const suspense = { provider: transfer.provider, kind: 'suspense' } as const;
    await postArrival(tx, transfer, now, suspense, account.id);
    const settled = { inSuspense: false, receivableMinor: 0n, holdReason: null, transferDate: dateInUtc(now) };
    change(tx, transfer, now, {
      status,
      ...ownedBy(transfer, account),
      ...settled,
      ...NO_WAIT,
    });
    return false;
  }
  await failHeld(tx, transfer, account, 'account.closed', now);
  return transfer.method === 'built-in';
}

export async function failHeld(
  tx: Transaction,
  transfer: IncomingTransfer,
  account: LockedAccount | null,
  failureCode: string,
  now: Date,
): Promise<void> {
  const toBeReturned = transfer.method === 'built-in';
  if (!toBeReturned) await postReturn(tx, transfer, now);
  change(tx, transfer, now, {
    status: 'failed',
    ...ownedBy(transfer, account),
    failureCode,
    feeMinor: 0n,
    receivableMinor: 0n,
    holdReason: null,
    inSuspense: toBeReturned,
    sendBackStatus: toBeReturned ? 'due' : 'none',
    ...NO_WAIT,
    ...(toBeReturned ? returnWait(now) : {}),
  });
}

export async function postReturn(tx: Transaction, transfer: IncomingTransfer, now: Date): Promise<void> {
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

/** Holds a transfer's money. With an account, the amount is receivable there until it can be credited. */
export async function hold(
  tx: Transaction,
  transfer: IncomingTransfer,
  account: LockedAccount | null,
  reason: HoldReason,
  now: Date,
): Promise<void> {
  const receivableMinor = account === null ? 0n : transfer.amountMinor;
  if (account !== null) await changeReceivable(tx, account.id, receivableMinor - transfer.receivableMinor);
  change(tx, transfer, now, { ...holdOf(reason, now), ...ownedBy(transfer, account), receivableMinor });
}

/** Assigns the provisioned credit of a transfer to the transfer's account. */
export async function assignCredit(tx: Transaction, transfer: IncomingTransfer, account: LockedAccount): Promise<void> {
  if (transfer.provisionedAccountCreditId === null) return;
  await updateRow(tx, provisionedAccountCredits, transfer.provisionedAccountCreditId, {
    accountId: account.id,
    clientId: account.clientId,
  });
}

const BY_PROVIDER_ID = prepared((db, given: Given<PaymentInKey>) =>
  db
    .select()
    .from(incomingTransfers)
    .where(
      and(
        eq(incomingTransfers.provider, given.provider),
        eq(incomingTransfers.serviceProviderId, given.serviceProviderId),
      ),
    ),
);

/**
 * Releases money that its provider held: the transfer becomes pending and, in the same transaction, whatever its account
 * allows. `waiting`: the payment has not arrived yet. `break`: the provider reports another amount.
 */
export async function releaseHeldTransfer(
  tx: Transaction,
  payment: PaymentInKey & { readonly amountMinor: bigint; readonly currency: string },
): Promise<CallbackOutcome> {
  await lockPaymentIn(tx, payment);
  const found = await tx.first(BY_PROVIDER_ID, payment);
  if (found === null) return 'waiting';
  if (found.amountMinor !== payment.amountMinor || found.currency !== payment.currency) return 'break';
  // Match again: the account may have opened meanwhile.
  const matched = found.accountId === null ? await lockReceiver(tx, namedReceiverOf(found)) : null;
  const { transfer, account, now } = await begin(tx, found.id, matched?.account?.id ?? null);
  if (transfer.status !== 'on-hold' || transfer.holdReason !== 'held-by-provider') return 'no-effect';
  const pending = change(tx, transfer, now, { status: 'pending', holdReason: null, ...NO_WAIT });
  if (transfer.accountId === null && account !== null) await assignCredit(tx, transfer, account);
  await carryOut(tx, pending, account, decideArrival(account, matched?.hold ?? null), now);
  await wakeIncoming(tx, found.id);
  return 'applied';
}

function namedReceiverOf({ provider, currency, receiverAccount, senderInformation }: IncomingTransfer) {
  const { iban = null, accountNumber = null, routingCodes = null } = receiverAccount ?? {};
  const receiver = { iban, accountNumber, routingCodes: routingCodes ?? {} };
  return { provider, currency, receiver, remittanceText: senderInformation };
}

async function carryOut(
  tx: Transaction,
  transfer: IncomingTransfer,
  account: LockedAccount | null,
  decision: ArrivalDecision,
  now: Date,
): Promise<void> {
  if (decision.status === 'on-hold') return hold(tx, transfer, account, decision.holdReason, now);
  if (account === null) throw new Error(`incoming transfer ${transfer.id} has no account to settle to`);
  await settleHeld(tx, transfer, account, decision.status, now);
}

const UNMATCHED = prepared((db, given: Given<Pick<Account, 'provider' | 'currency' | 'iban' | 'accountNumber'>>) => {
  const { id, status, holdReason, provider, currency, receiverAccount } = incomingTransfers;
  return db
    .select()
    .from(incomingTransfers)
    .where(
      and(
        eq(status, 'on-hold'),
        eq(holdReason, 'no-match'),
        eq(provider, given.provider),
        eq(currency, given.currency),
        sql`(upper(replace(${receiverAccount} ->> 'iban', ' ', '')) = ${given.iban} OR ${receiverAccount} ->> 'accountNumber' = ${given.accountNumber})`,
      ),
    )
    .orderBy(id);
});

/**
 * Gives an account that has just come from its provider the payments to it that came before it and matched no account. What
 * the provider still holds is matched when it is released. The caller has locked out callbacks (`lockMigrations`).
 */
export async function receiveEarlyArrivals(tx: Transaction, account: Account): Promise<void> {
  for (const found of await tx.run(UNMATCHED, account)) {
    const matched = await matchPayment(tx, namedReceiverOf(found));
    if (matched.match !== 'one' || matched.accountId !== account.id) continue;
    const { transfer, account: receiver, now } = await begin(tx, found.id, account.id);
    if (transfer.status !== 'on-hold' || transfer.accountId !== null || receiver === null) continue;
    await assignCredit(tx, transfer, receiver);
    await carryOut(tx, transfer, receiver, decideArrival(receiver), now);
    await wakeIncoming(tx, transfer.id);
  }
}
