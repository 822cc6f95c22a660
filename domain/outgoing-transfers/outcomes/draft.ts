import type { IncomingTransfer } from '../../incoming-transfers/incoming-transfers.ts';
import type { AccountSumChange, RowChange } from '../../ledger/changes.ts';
import type { LockedAccount, Posting } from '../../ledger/ledger.ts';
import type { OutgoingTransfer } from '../rows.ts';
import type { OutgoingTransferStep, OutgoingTransferWait } from '../statuses.ts';
import type { TransferChange, TransferSituation } from '../transfer-changes.ts';

/** The part of an unfinished decision that an outcome reads and extends (drafts.ts). */
export interface Draft {
  readonly situation: TransferSituation;
  /** As decided so far. */
  readonly transfer: OutgoingTransfer;
  readonly source: LockedAccount;
  incoming: RowChange<IncomingTransfer> | null;
  readonly postings: Posting[];
  readonly moves: AccountSumChange[];
  readonly wakes: TransferChange['wakes'][number][];
  set(fields: Partial<OutgoingTransfer>): void;
  /** Sets the status reason of the transfer; null removes it. */
  explain(code: string | null, message?: string | null): void;
  addEvent(type: string): void;
  wait(waitingFor: OutgoingTransferWait, until: Date | null): OutgoingTransferStep;
}
