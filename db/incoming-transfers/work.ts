import { recordNotFound } from '../../domain/common/errors.ts';
import type { IncomingTransferId } from '../../domain/common/ids.ts';
import {
  type Arrival,
  type IncomingChange,
  receiveMoney,
  transitionIncoming,
} from '../../domain/incoming-transfers/changes.ts';
import type { UnchangingIncomingField } from '../../domain/incoming-transfers/events.ts';
import type { IncomingTransfer } from '../../domain/incoming-transfers/incoming-transfers.ts';
import type { TransferChange } from '../../domain/outgoing-transfers/transfer-changes.ts';
import { newId } from '../common/ids.ts';
import { incomingTransfers } from '../common/schema.ts';
import { wake } from '../common/workflow-wakeups.ts';
import type { Transaction } from '../query/database.ts';
import { lockIn } from '../query/rows.ts';
import { drawTransactionNumber } from '../transfers/transaction-numbers.ts';
import { applyUnderLocks } from '../transfers/transfer-changes.ts';

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
  const incoming = transitionIncoming({ before, after: before, events: [] }, now, fields);
  moveMoney(tx, now, { incoming, accounts: [], postings: [], wakes: [] });
  return { ...incoming.after, revision: before.revision + 1n };
}

/** Writes a change of a locked transfer and of its money. This transaction holds the lock of its account. */
export function moveMoney(tx: Transaction, now: Date, moved: IncomingChange): void {
  applyUnderLocks(tx, [changeOf(now, moved)]);
}

export function changeOf(now: Date, moved: IncomingChange): TransferChange {
  return { outgoing: null, guards: [], now, ...moved };
}

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
