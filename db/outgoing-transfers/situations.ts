import { eq, getTableColumns, sql } from 'drizzle-orm';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { AccountId, OutgoingTransferId } from '../../domain/common/ids.ts';
import type { IncomingTransfer } from '../../domain/incoming-transfers/incoming-transfers.ts';
import type { LockedAccount } from '../../domain/ledger/ledger.ts';
import type { OutgoingTransfer } from '../../domain/outgoing-transfers/rows.ts';
import type { TransferRules, TransferSituation } from '../../domain/outgoing-transfers/transfer-changes.ts';
import { MAY_BE_AT_BANK } from '../bank-files/restores.ts';
import { incomingTransfers, outgoingTransfers } from '../common/schema.ts';
import { lockAccountsOf, readAccountsOf } from '../ledger/ledger.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type Given, prepared, preparedChange } from '../query/queries.ts';
import { childrenIn, lockIn, lookUpIn } from '../query/rows.ts';
import { isListed } from '../query/values.ts';

const LOCK = lockIn(outgoingTransfers, 'update');

const LOCK_INCOMING = preparedChange((db, given: Given<{ id: OutgoingTransferId }>) => {
  const { id, incomingTransferId } = outgoingTransfers;
  const own = db.select({ id: incomingTransferId }).from(outgoingTransfers).where(eq(id, given.id));
  return db.select().from(incomingTransfers).where(eq(incomingTransfers.id, own)).for('update');
});

const MOMENT = `
  SELECT service_now() AS now, ARRAY(SELECT id::text FROM outgoing_transfers WHERE id = ANY ($1::uuid[]) AND ${MAY_BE_AT_BANK}) AS "atBank"`;

/** The service's time, and which of these transfers a bank may have. Read after their locks, as `readClock`. */
export async function readMoment(tx: Transaction, ids: readonly OutgoingTransferId[]) {
  const [row] = await tx.statement<{ readonly now: Date; readonly atBank: readonly string[] }>(MOMENT, [ids]);
  if (row === undefined) throw new Error('service_now() returned no row');
  const { now, atBank } = row;
  return (id: OutgoingTransferId): Moment => ({ now, mayBeAtBank: atBank.includes(id) });
}

type Moment = Pick<TransferSituation, 'now' | 'mayBeAtBank'>;

const RETURNS = childrenIn(incomingTransfers, incomingTransfers.returnOf, ({ returnOf }) => returnOf ?? '');

/**
 * Locks the transfer's accounts, then the transfer and its incoming one, and reads the situation to decide on. Returns need no lock
 * of their own: only the holder of the transfer's lock books one, and the fields read here never change.
 */
export async function lockSituation(
  tx: Transaction,
  id: OutgoingTransferId,
  rules: TransferRules,
): Promise<TransferSituation> {
  // The incoming transfer can become another one until the outgoing one is locked.
  const [accounts, transfer, incoming, returns, momentOf] = await Promise.all([
    lockAccountsOf(tx, id),
    tx.lock(LOCK, id),
    tx.first(LOCK_INCOMING, { id }),
    tx.findChildren(RETURNS, id),
    readMoment(tx, [id]),
  ]);
  if (transfer === null) throw recordNotFound('outgoingTransfer', 'id', id);
  return { ...situationOf(transfer, incoming, accounts, momentOf(id), rules), returns };
}

/** Transfers with their moment. */
export const DATED_TRANSFERS = prepared((db, given: Given<{ ids: readonly string[] }>) =>
  db
    .select({
      ...getTableColumns(outgoingTransfers),
      now: sql<Date>`service_now()`,
      mayBeAtBank: sql<boolean>`${sql.raw(MAY_BE_AT_BANK)}`,
    })
    .from(outgoingTransfers)
    .where(isListed(outgoingTransfers.id, given.ids)),
);
const INCOMING = lookUpIn(incomingTransfers);

/**
 * The situation without locks, by look-ups that callers of the same moment share. Null: there is no such transfer. Its incoming transfer
 * and returns are read after it: if it still has its revision later, they are those that belong to it.
 */
export async function readSituation(
  reader: Reader,
  id: OutgoingTransferId,
  rules: TransferRules,
): Promise<TransferSituation | null> {
  const [accounts, transfer] = await Promise.all([readAccountsOf(reader, id), reader.find(DATED_TRANSFERS, id)]);
  if (transfer === null) return null;
  const { incomingTransferId, returned } = transfer;
  const [incoming, returns] = await Promise.all([
    incomingTransferId === null ? null : reader.find(INCOMING, incomingTransferId),
    returned ? reader.findChildren(RETURNS, id) : [],
  ]);
  return { ...situationOf(transfer, incoming, accounts, transfer, rules), returns };
}

export function situationOf(
  transfer: OutgoingTransfer,
  incoming: IncomingTransfer | null,
  accounts: ReadonlyMap<AccountId, LockedAccount>,
  { now, mayBeAtBank }: Moment,
  rules: TransferRules,
): TransferSituation {
  const unmoved = incoming === null ? null : { before: incoming, after: incoming, events: [] };
  return { before: transfer, transfer, incoming: unmoved, returns: [], accounts, mayBeAtBank, now, rules };
}
