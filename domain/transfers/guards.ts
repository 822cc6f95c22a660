import type { IncomingTransfer } from '../incoming-transfers/incoming-transfers.ts';
import type { AccountGuard, AccountSumChange, RowChange } from '../ledger/changes.ts';
import type { LockedAccount } from '../ledger/ledger.ts';
import type { OutgoingTransfer } from '../outgoing-transfers/rows.ts';
import type { TransferChange } from '../outgoing-transfers/transfer-changes.ts';

/** All rows from which a change was decided. */
export interface ReadRows {
  readonly outgoing: OutgoingTransfer | null;
  readonly incoming: IncomingTransfer | null;
  readonly accounts: readonly LockedAccount[];
}

/**
 * A change that was decided from rows read without locks, with the conditions under which the same would be decided under locks. Null:
 * only under locks can it be decided. What a decision reads is covered so:
 *
 * - Both transfers, by their revisions, also the one that does not change: the other's reviewer may not authorize. Every change of a
 *   transfer counts its revision up.
 * - The returns of a payment, by its revision: each of them changes it as well. They are read after it.
 * - Each account's status, which for a sub-account includes its main account's, its client's status and whether it is being closed, by
 *   guards. The statement that checks them holds the account's lock, for which every change of them waits.
 * - The balance, of the sender's account only and as the last condition of a transfer that starts (`decidePendingTransfer`): what it
 *   reserves must still be available. A transfer that finds too little starts to wait, which only the account's lock orders with the
 *   credit that is to end the wait.
 * - An account's client, provider, currency and country, the makers of a transfer, its beneficiary and its amounts never change.
 * - The time is that of the reading, and no row that was read is newer. Entries of an account never go back in time all the same
 *   (`ledger_post`).
 * - The details by which a transfer shows an account are those of the moment in which they were read; they decide nothing.
 */
export function guarded(change: TransferChange, read: ReadRows): TransferChange | null {
  if (change.accounts.some(({ waits }) => waits === true)) return null;
  // A new row takes the place of the one that was read, which would have no guard.
  if (change.incoming?.before === null && read.incoming !== null) return null;
  if ([read.outgoing, read.incoming].some((row) => row !== null && row.updatedAt > change.now)) return null;
  return {
    ...change,
    outgoing: change.outgoing ?? unchangedRow(read.outgoing),
    incoming: change.incoming ?? unchangedRow(read.incoming),
    guards: read.accounts.map((account) => guardOf(account, change.accounts)),
  };
}

function unchangedRow<Row>(row: Row | null): RowChange<Row> | null {
  return row === null ? null : { before: row, after: row, events: [] };
}

function guardOf(
  { id, status, clientStatus, closing }: LockedAccount,
  sums: readonly AccountSumChange[],
): AccountGuard {
  const reserved = sums
    .filter(({ accountId }) => accountId === id)
    .reduce((sum, { reservedMinor = 0n }) => sum + reservedMinor, 0n);
  return { accountId: id, status, clientStatus, closing, availableMinor: reserved > 0n ? reserved : 'any' };
}
