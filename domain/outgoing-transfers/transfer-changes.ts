import type { IncomingTransfer } from '../incoming-transfers/incoming-transfers.ts';
import type { ProvisionedAccountCredit } from '../incoming-transfers/provisioned-account-credits.ts';
import type { LedgerChange, RowChange } from '../ledger/changes.ts';
import type { OutgoingTransfer } from './rows.ts';

/**
 * A change of one outgoing transfer, or of an incoming transfer alone, as a value: everything to write, and the conditions it
 * depends on. It is applied whole or not at all. Each changed row must still have the revision of `before`.
 */
export interface TransferChange extends LedgerChange {
  readonly outgoing: RowChange<OutgoingTransfer> | null;
  readonly incoming: RowChange<IncomingTransfer> | null;
  /** The credit that reports money from outside, new like its incoming transfer. */
  readonly credit?: ProvisionedAccountCredit;
}
