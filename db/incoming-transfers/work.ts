import { recordNotFound } from '../../domain/frame/errors.ts';
import type { IncomingTransferId } from '../../domain/frame/ids.ts';
import {
  type Arrival,
  type IncomingChange,
  moveIncoming,
  receiveMoney,
} from '../../domain/incoming-transfers/changes.ts';
import type { UnchangingIncomingField } from '../../domain/incoming-transfers/events.ts';
import type { IncomingTransfer } from '../../domain/incoming-transfers/incoming-transfers.ts';
import type { Transaction } from '../driver/client.ts';
import { lockIn } from '../driver/queries/rows.ts';
import { newId } from '../frame/ids.ts';
import { incomingTransfers } from '../frame/schema.ts';
import { wake } from '../frame/workflow-wakeups.ts';
import { drawTransactionNumber } from '../ledger/transaction-numbers.ts';
import { applyUnderLocks } from '../ledger/transfer-changes.ts';

type IncomingTransferFields = Partial<Omit<IncomingTransfer, UnchangingIncomingField>>;

const LOCK = lockIn(incomingTransfers, 'update');

export async function lockTransfer(tx: Transaction, id: IncomingTransferId): Promise<IncomingTransfer> {
  const row = await tx.lock(LOCK, id);
  if (row === null) throw recordNotFound('incomingTransfer', 'id', id);
  return row;
}

/** Writes a change of a locked transfer with the event of its new status. */
export function change(
  tx: Transaction,
  before: IncomingTransfer,
  now: Date,
  fields: IncomingTransferFields,
): IncomingTransfer {
  const incoming = moveIncoming({ before, after: before, events: [] }, now, fields);
  applyUnderLocks(tx, [{ ...NOTHING_ELSE, now, incoming }]);
  return { ...incoming.after, revision: before.revision + 1n };
}

/** Writes a change of a locked transfer and of its money. This transaction holds the lock of its account. */
export function moveMoney(tx: Transaction, now: Date, moved: IncomingChange): void {
  applyUnderLocks(tx, [{ ...NOTHING_ELSE, now, ...moved }]);
}

const NOTHING_ELSE = { outgoing: null, accounts: [], postings: [], guards: [], wakes: [] } as const;

/** Records money that has arrived. If it matched an account, this transaction holds the account's lock. */
export function createIncomingTransfer(tx: Transaction, arrival: Arrival, now: Date): IncomingTransfer {
  const name = {
    id: newId<IncomingTransferId>(),
    transactionNumber: drawTransactionNumber('incoming-transfer', now),
  };
  const received = receiveMoney(name, arrival, now);
  moveMoney(tx, now, received);
  return received.incoming.after;
}

export function wakeIncoming(tx: Transaction, id: IncomingTransferId): void {
  wake(tx, 'incoming-transfer', `incoming-transfer/${id}`);
}
