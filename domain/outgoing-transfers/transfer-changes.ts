import type { IncomingTransfer } from '../incoming-transfers/incoming-transfers.ts';
import type { LedgerChange, RowChange } from '../ledger/changes.ts';
import type { OutgoingTransfer } from './rows.ts';

/**
 * A change of one outgoing transfer, or of one incoming transfer alone, as a value: all that is written when it is applied,
 * and what it was decided from. It is applied whole or not at all. Rows that it moves must still have the revision of
 * `before`.
 */
export interface TransferChange extends LedgerChange {
  readonly outgoing: RowChange<OutgoingTransfer> | null;
  readonly incoming: RowChange<IncomingTransfer> | null;
}
