import type { AccountId } from '../common/ids.ts';
import type { IncomingTransfer } from '../incoming-transfers/incoming-transfers.ts';
import type { ProvisionedAccountCredit } from '../incoming-transfers/provisioned-account-credits.ts';
import type { LedgerChange, RowChange } from '../ledger/changes.ts';
import type { LockedAccount } from '../ledger/ledger.ts';
import type { Schemes } from '../providers/schemes.ts';
import type { OutgoingTransfer } from './rows.ts';
import type { OutgoingTransferStep } from './statuses.ts';

/** The configured rules for transfers that wait. */
export interface TransferRules {
  readonly rollLimit: number;
  /** How often a rejected payment is submitted again before it fails. */
  readonly retryLimit: number;
  /** The pause before another attempt by a scheme that never closes. */
  readonly retryPauseSeconds: number;
  readonly schemes: Schemes;
}

/** The facts for deciding on one transfer, read with or without locks. */
export interface TransferSituation {
  /** Null for a new transfer. */
  readonly before: OutgoingTransfer | null;
  readonly transfer: OutgoingTransfer;
  /** The receiver's side of an internal transfer, or the latest return of an external one. */
  readonly incoming: RowChange<IncomingTransfer> | null;
  /** The returns of an external transfer that are booked as such, oldest first. */
  readonly returns: readonly IncomingTransfer[];
  readonly accounts: ReadonlyMap<AccountId, LockedAccount>;
  /** A restore may have lost that the bank has it, and what the bank has told since is still to be read or booked. */
  readonly mayBeAtBank: boolean;
  readonly now: Date;
  readonly rules: TransferRules;
}

/**
 * A change of one outgoing transfer, or of only an incoming transfer, as a value: everything to write, and the conditions it
 * depends on. It is applied whole or not at all. Each changed row must still have the revision of `before`.
 */
export interface TransferChange extends LedgerChange {
  readonly outgoing: RowChange<OutgoingTransfer> | null;
  readonly incoming: RowChange<IncomingTransfer> | null;
  /** The credit that reports money from outside, new like its incoming transfer. */
  readonly credit?: ProvisionedAccountCredit;
}

/** A change, and the next step of the transfer's workflow. */
export interface Decided {
  readonly change: TransferChange | null;
  readonly step: OutgoingTransferStep;
}
