import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Account } from '../../domain/accounts/accounts.ts';
import { recordNotFound, rejection } from '../../domain/common/errors.ts';
import type { AccountId, IncomingTransferId } from '../../domain/common/ids.ts';
import { isInReview } from '../../domain/compliance/checks.ts';
import { NO_WAIT } from '../../domain/incoming-transfers/changes.ts';
import { decideArrival, type IncomingTransfer } from '../../domain/incoming-transfers/incoming-transfers.ts';
import { expectInReview, settleFromSuspense, unchanged } from '../../domain/incoming-transfers/suspense.ts';
import { readClock } from '../common/clock.ts';
import { incomingTransfers } from '../common/schema.ts';
import { lockAccounts } from '../ledger/ledger.ts';
import { type CallbackOutcome, lockPaymentIn, type PaymentInKey } from '../providers/callbacks.ts';
import type { Transaction } from '../query/database.ts';
import { type Given, prepared, preparedChange } from '../query/queries.ts';
import { lookUpIn } from '../query/rows.ts';
import { lockReceiver, matchPayment } from './payment-matching.ts';
import { change, lockTransfer, moveMoney, wakeIncoming } from './work.ts';

const ENTITY = 'incomingTransfer';

export const TRANSFER = lookUpIn(incomingTransfers);

/** Locks and reads the transfer and its account, or the account to which it is about to be assigned. */
export async function begin(tx: Transaction, id: IncomingTransferId, assignTo: AccountId | null = null) {
  const ids = await tx.find(TRANSFER, id);
  if (ids === null) throw recordNotFound(ENTITY, 'id', id);
  const accountId = ids.accountId ?? assignTo;
  const [accounts, transfer, now] = await Promise.all([
    lockAccounts(tx, accountId === null ? [] : [accountId]),
    lockTransfer(tx, id),
    readClock(tx),
  ]);
  // Accounts are locked before transfers, so a concurrent assignment of the transfer needs a retry.
  if (transfer.accountId !== ids.accountId && transfer.accountId !== accountId) throw assignedMeanwhile(transfer);
  return { transfer, account: accountId === null ? null : (accounts.get(accountId) ?? null), now };
}

function assignedMeanwhile({ id, accountId }: IncomingTransfer): Error {
  const message = `The incoming transfer ${id} has just been assigned to an account; try again.`;
  return rejection('common.state.illegal_transition', [ENTITY, 'accountId', accountId ?? ''], message);
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
  // Matched again: the account may have opened meanwhile.
  const matched = found.accountId === null ? await lockReceiver(tx, namedReceiverOf(found)) : null;
  const { transfer, account, now } = await begin(tx, found.id, matched?.account?.id ?? null);
  if (transfer.status !== 'on-hold' || transfer.holdReason !== 'held-by-provider') return 'no-effect';
  const pending = change(tx, transfer, now, { status: 'pending', holdReason: null, ...NO_WAIT });
  // Money in review waits for its decision, receivable.
  if (isInReview(pending)) moveMoney(tx, now, expectInReview(unchanged(pending), account, now));
  else
    moveMoney(
      tx,
      now,
      settleFromSuspense(unchanged(pending), account, decideArrival(account, matched?.hold ?? null), now),
    );
  await wakeIncoming(tx, found.id);
  return 'applied';
}

/** How the payer named the receiver, to match the payment again. */
export function namedReceiverOf({ provider, currency, receiverAccount, senderInformation }: IncomingTransfer) {
  const { iban = null, accountNumber = null, routingCodes = null } = receiverAccount ?? {};
  const receiver = { iban, accountNumber, routingCodes: routingCodes ?? {} };
  return { provider, currency, receiver, remittanceText: senderInformation };
}

const UNMATCHED = preparedChange(
  (db, given: Given<Pick<Account, 'provider' | 'currency' | 'iban' | 'accountNumber'>>) => {
    const { id, status, holdReason, provider, currency, receiverAccount } = incomingTransfers;
    return db
      .select()
      .from(incomingTransfers)
      .where(
        and(
          eq(status, 'on-hold'),
          inArray(holdReason, ['no-match', 'ambiguous-match']),
          eq(provider, given.provider),
          eq(currency, given.currency),
          // `matchPayment` decides; a number may lack its leading zero here.
          sql`(upper(replace(${receiverAccount} ->> 'iban', ' ', '')) = ${given.iban}
          OR ltrim(replace(${receiverAccount} ->> 'accountNumber', ' ', ''), '0') = ltrim(${given.accountNumber}, '0'))`,
        ),
      )
      .orderBy(id)
      .for('update');
  },
);

/**
 * Gives an account that its provider has just opened or handed over the payments that arrived before it and matched no account, or
 * several by their references. Money that the provider still holds is matched when it is released, money in review when it is
 * approved, and a concurrent assignment or return by an operator is kept. The caller has locked the account, and locked out
 * callbacks (`lockMigrations`).
 */
export async function receiveEarlyArrivals(tx: Transaction, account: Account): Promise<void> {
  for (const found of await tx.run(UNMATCHED, account)) {
    const matched = await matchPayment(tx, namedReceiverOf(found));
    if (matched.match !== 'one' || matched.accountId !== account.id) continue;
    const { transfer, account: receiver, now } = await begin(tx, found.id, account.id);
    if (receiver === null) continue;
    moveMoney(tx, now, settleFromSuspense(unchanged(transfer), receiver, decideArrival(receiver), now));
    await wakeIncoming(tx, transfer.id);
  }
}
