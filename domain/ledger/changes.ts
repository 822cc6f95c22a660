import type { EventEntry } from '../common/events.ts';
import type { AccountId } from '../common/ids.ts';
import type { Priority } from '../common/waits.ts';
import type { Posting } from './ledger.ts';

/** A created row (`before` is null) or a changed one, with its events. */
export interface RowChange<Row> {
  readonly before: Row | null;
  readonly after: Row;
  readonly events: readonly EventEntry[];
}

/** A change of an account's sums beyond its postings, in minor units. */
export interface AccountSumChange {
  readonly accountId: AccountId;
  readonly reservedMinor?: bigint;
  readonly receivableMinor?: bigint;
  /** A transfer starts to wait there for money; the next credit must admit it. */
  readonly waits?: boolean;
}

/** Conditions on an account that is locked only after the decision. */
export interface AccountGuard {
  readonly accountId: AccountId;
  readonly status: string;
  readonly clientStatus: string;
  readonly closing: boolean;
  /** The least available balance, in minor units. */
  readonly availableMinor: bigint | 'any';
}

/** The idempotency key of the request, which must be free, and its answer. */
export interface ClaimedKey {
  readonly machineUserId: string;
  readonly path: string;
  readonly key: string;
  readonly requestHash: Uint8Array;
  readonly status: number;
  readonly body: string;
}

/** The parts of a change of transfers other than its rows. */
export interface LedgerChange {
  readonly now: Date;
  readonly accounts: readonly AccountSumChange[];
  /** In the order of their entries. */
  readonly postings: readonly Posting[];
  readonly guards: readonly AccountGuard[];
  /** The workflows to wake. */
  readonly wakes: readonly `${'outgoing-transfer' | 'incoming-transfer'}/${string}`[];
  /** The priority of the woken workflows; the usual one if absent. A workflow keeps the priority with which it was started. */
  readonly priority?: Priority;
}
