import type { ClaimedKey } from '../../domain/ledger/changes.ts';
import type { TransferChange } from '../../domain/outgoing-transfers/transfer-changes.ts';
import { guarded, type ReadRows } from '../../domain/transfers/guards.ts';
import { type AuditEntry, appendAuditEntry } from '../common/audit-entries.ts';
import type { Database, Reader, Transaction } from '../query/database.ts';
import { applyUnderLocks, applyWithoutLocks } from './transfer-changes.ts';

/**
 * A change of a transfer that a caller or an operator requests, such as its cancellation. One function decides it, from what is read in one of two ways:
 *
 * - `decideWithoutLocks`, for a caller of the interface, reads without locks. What it decides is applied with the changes of other callers
 *   of the same moment, together with its audit entry, key and answer, if all that it was decided from still holds (`guarded`).
 * - `changeUnderLocks` does all the rest in a transaction: what no longer holds, what changes nothing, and every rejection.
 */
export interface RequestedChange<Facts extends ReadRows, Result> {
  /** Null: there is nothing to decide from. */
  readonly read: (database: Database) => Promise<Facts | null>;
  /** The same under locks; throws if there is nothing to decide from. */
  readonly lock: (tx: Transaction) => Promise<Facts>;
  /** Decides from the facts and nothing else; throws the rejection. May run twice. */
  readonly decide: (facts: Facts) => DecidedChange<Result>;
}

export interface DecidedChange<Result> {
  /** Null: there is nothing to change, and no audit entry. */
  readonly change: TransferChange | null;
  readonly auditEntry: AuditEntry;
  readonly result: Result;
}

/** How the answer to a requested change is made: `read` finds what it shows beyond the result, and that the change leaves as it is. */
export interface Presentation<Result, Shown, Answer> {
  readonly read: (reader: Reader) => Promise<Shown | null>;
  readonly answer: (result: Result, shown: Shown) => Answer;
}

/** How a route applies a requested change. */
export type ApplyRequested<Answer, Outcome> = <Facts extends ReadRows, Result, Shown>(
  requested: RequestedChange<Facts, Result>,
  presentation: Presentation<Result, Shown, Answer>,
) => Promise<Outcome>;

/** A change that can be applied without locks. `apply` answers false if nothing was done: it must be decided under locks. */
export interface ApplicableChange<Result> {
  readonly result: Result;
  readonly apply: (key: ClaimedKey | null) => Promise<boolean>;
}

/** Null: it must be decided under locks. */
export async function decideWithoutLocks<Facts extends ReadRows, Result>(
  database: Database,
  { read, decide }: RequestedChange<Facts, Result>,
): Promise<ApplicableChange<Result> | null> {
  const facts = await read(database);
  const decided = facts === null ? null : unlessThrown(() => decide(facts));
  if (facts === null || decided === null || decided.change === null) return null;
  const change = guarded(decided.change, facts);
  if (change === null) return null;
  const { auditEntry, result } = decided;
  return {
    result,
    // A request that repeats a key may differ: the locked path answers with what it stored.
    apply: async (key) => (await applyWithoutLocks(database, change, { key, auditEntry })).outcome === 'applied',
  };
}

// These facts may be of different moments, so that neither a rejection nor a transition that the tables do not have says anything: both
// come again under locks if they are true.
function unlessThrown<Value>(decide: () => Value): Value | null {
  try {
    return decide();
  } catch {
    return null;
  }
}

export async function changeUnderLocks<Facts extends ReadRows, Result>(
  tx: Transaction,
  { lock, decide }: RequestedChange<Facts, Result>,
): Promise<Result> {
  const decided = decide(await lock(tx));
  applyDecided(tx, decided);
  return decided.result;
}

/** Applies what was decided under this transaction's locks, with its audit entry. */
export function applyDecided(
  tx: Transaction,
  { change, auditEntry }: Pick<DecidedChange<unknown>, 'change' | 'auditEntry'>,
): void {
  if (change === null) return;
  appendAuditEntry(tx, auditEntry);
  applyUnderLocks(tx, [change]);
}
