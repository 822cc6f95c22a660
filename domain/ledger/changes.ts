import type { EventEntry } from '../frame/events.ts';
import type { AccountId } from '../frame/ids.ts';
import type { Posting } from './ledger.ts';

/** A row that a change makes (`before` is null) or moves, and the events of that. */
export interface RowChange<Row> {
  readonly before: Row | null;
  readonly after: Row;
  readonly events: readonly EventEntry[];
}

/** By how much a change moves the sums of an account beside its postings, in minor units. */
export interface AccountMove {
  readonly accountId: AccountId;
  readonly reservedMinor?: bigint;
  readonly receivableMinor?: bigint;
  /** A transfer begins to wait there for money: the next credit is to admit it. */
  readonly waits?: boolean;
}

/** What must still hold of an account when a change is applied that was decided before the account was locked. */
export interface AccountGuard {
  readonly accountId: AccountId;
  readonly status: string;
  readonly clientStatus: string;
  readonly closing: boolean;
  /** At least so much must be available, in minor units. */
  readonly availableMinor: bigint;
}

/** The idempotency key of the request that asks for a change, and its answer. The key must be free. */
export interface ClaimedKey {
  readonly machineUserId: string;
  readonly path: string;
  readonly key: string;
  readonly requestHash: Uint8Array;
  readonly status: number;
  readonly body: string;
}

/** What every change of transfers has beside its rows. */
export interface LedgerChange {
  readonly now: Date;
  readonly accounts: readonly AccountMove[];
  /** In the order of their entries. */
  readonly postings: readonly Posting[];
  readonly guards: readonly AccountGuard[];
  /** The workflows that are to look at their rows. */
  readonly wakes: readonly `${'outgoing-transfer' | 'incoming-transfer'}/${string}`[];
}
