import { eq } from 'drizzle-orm';
import { recordNotFound } from '../../domain/frame/errors.ts';
import type { AccountId, OutgoingTransferId } from '../../domain/frame/ids.ts';
import type { IncomingTransfer } from '../../domain/incoming-transfers/incoming-transfers.ts';
import type { LockedAccount } from '../../domain/ledger/ledger.ts';
import type { OutgoingTransfer } from '../../domain/outgoing-transfers/rows.ts';
import type { TransferRules, TransferSituation } from '../../domain/outgoing-transfers/transfer-changes.ts';
import type { Transaction } from '../driver/client.ts';
import { type Given, prepared } from '../driver/queries/queries.ts';
import { childrenIn, lockIn } from '../driver/queries/rows.ts';
import { readClock } from '../frame/clock.ts';
import { incomingTransfers, outgoingTransfers } from '../frame/schema.ts';
import { findAccountsOf, lockAccounts, lockAccountsOf } from '../ledger/ledger.ts';

const LOCK = lockIn(outgoingTransfers, 'update');

const LOCK_INCOMING = prepared((db, given: Given<{ id: OutgoingTransferId }>) => {
  const { id, incomingTransferId } = outgoingTransfers;
  const own = db.select({ id: incomingTransferId }).from(outgoingTransfers).where(eq(id, given.id));
  return db.select().from(incomingTransfers).where(eq(incomingTransfers.id, own)).for('update');
});

const LOCK_INCOMING_BY_ID = lockIn(incomingTransfers, 'update');

/** The incoming transfer can become another one until the outgoing one is locked. */
async function lockIncoming(
  tx: Transaction,
  id: OutgoingTransferId,
  transfer: Promise<OutgoingTransfer | null>,
): Promise<IncomingTransfer | null> {
  if (!tx.isShared) return tx.first(LOCK_INCOMING, { id });
  const incomingTransferId = (await transfer)?.incomingTransferId ?? null;
  return incomingTransferId === null ? null : tx.lock(LOCK_INCOMING_BY_ID, incomingTransferId);
}

const RETURNS = childrenIn(incomingTransfers, incomingTransfers.returnOf, ({ returnOf }) => returnOf ?? '');

/**
 * Locks the transfer's accounts, then the transfer and its incoming one, and reads the situation to decide on. Returns need no lock
 * of their own: only who holds the transfer books one, and what is read of them never changes.
 */
export async function lockSituation(
  tx: Transaction,
  id: OutgoingTransferId,
  rules: TransferRules,
): Promise<TransferSituation> {
  const accountIds = tx.isShared ? await findAccountsOf(tx, id) : null;
  const locking = accountIds === null ? lockAccountsOf(tx, id) : lockAccounts(tx, accountIds);
  const own = tx.lock(LOCK, id);
  // Shared, the incoming transfer is locked after the time is read: whoever changes it holds one of these accounts.
  const [accounts, transfer, incoming, returns, now] = await Promise.all([
    locking,
    own,
    lockIncoming(tx, id, own),
    tx.findChildren(RETURNS, id),
    readClock(tx),
  ]);
  if (transfer === null) throw recordNotFound('outgoingTransfer', 'id', id);
  return { ...situationOf(transfer, incoming, accounts, now, rules), returns };
}

export function situationOf(
  transfer: OutgoingTransfer,
  incoming: IncomingTransfer | null,
  accounts: ReadonlyMap<AccountId, LockedAccount>,
  now: Date,
  rules: TransferRules,
): TransferSituation {
  const unmoved = incoming === null ? null : { before: incoming, after: incoming, events: [] };
  return { before: transfer, transfer, incoming: unmoved, returns: [], accounts, now, rules };
}
