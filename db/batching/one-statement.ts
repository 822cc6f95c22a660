import { limitsOfAll, neverBegun } from '../postgres/deadlines.ts';
import type { Executor } from '../postgres/executor.ts';
import { CallerGone, DatabaseUnavailable, LockTimeout, uniqueViolation } from '../postgres/failures.ts';
import type { CallLimits, Transaction } from '../query/database.ts';
import type { FinishedSet } from '../query/row-set.ts';
import { paramsOf, shapeOf, statementOf } from '../query/row-set-statement.ts';
import { Batcher } from './batcher.ts';
import { OptimisticTransaction } from './optimistic-transaction.ts';
import { ReadsTogether } from './reads-together.ts';

/** The first deadline is that of all, so a call with less time than this does not shorten the others'. */
const TIME_LEFT_MIN_MS = 1_000;
/** More than the code has; the memory must not grow with what callers send. */
const SHAPES_MAX = 500;

export interface RowSetsOptions {
  readonly executor: Executor;
  readonly onWoken: () => void;
  readonly noteFailure: (error: unknown) => void;
  readonly noteWrite: (way: WriteWay) => void;
}

/** What became of a set. A failure is its own: another may be written, although they went in one statement. */
type Outcome = 'written' | 'left-out' | { readonly failure: DatabaseUnavailable | CallerGone };

interface Sent {
  readonly set: FinishedSet;
  readonly limits: CallLimits;
}

export type Written<Value> = { readonly value: Value } | null;

/** `contended`: what it read has changed or is locked, or a key is taken. `transaction`: only a transaction can do it. */
export type WriteWay = 'one-statement' | 'contended' | 'transaction';

/**
 * Writes that one statement does: each reads without locks, decides, and hands over its rows. The sets of callers of the same
 * moment go as lists of one statement, which leaves out a set whose guards no longer hold; so no caller depends on another.
 */
export class RowSets {
  readonly #options: RowSetsOptions;
  readonly #reads: ReadsTogether;
  readonly #batchers = new Map<string, Batcher<Sent, Outcome>>();

  constructor(options: RowSetsOptions) {
    this.#options = options;
    this.#reads = new ReadsTogether(options.executor);
  }

  /** What `work` returned, once its rows have been committed. Null: nothing was done, and it must run in a transaction. */
  async write<Value>(work: (tx: Transaction) => Promise<Value>, limits: CallLimits): Promise<Written<Value>> {
    const { executor, onWoken, noteWrite } = this.#options;
    executor.rejectSecondConnection();
    if (hasLittleTime(limits)) return null;
    const tx = new OptimisticTransaction(this.#reads.readerFor(limits), limits.traceparent);
    const decided = await withinDeadline(this.#decide(tx, work), limits).finally(() => tx.end());
    const written = decided !== null && (await this.#send(tx.rows.finish(), limits));
    if (tx.needsTransaction !== null) noteWrite('transaction');
    else noteWrite(written ? 'one-statement' : 'contended');
    if (!written) return null;
    if (tx.hasWoken) onWoken();
    return decided;
  }

  /** Null if it must be decided in a transaction. */
  async #decide<Value>(
    tx: OptimisticTransaction,
    work: (tx: Transaction) => Promise<Value>,
  ): Promise<{ readonly value: Value } | null> {
    try {
      const value = await work(tx);
      return tx.needsTransaction === null ? { value } : null;
    } catch (error) {
      // What a lock is to keep together may have changed between two reads, so the rejection is decided again under locks.
      if (tx.needsTransaction !== null || tx.rows.hasGuards) return null;
      throw error;
    }
  }

  async #send(set: FinishedSet | null, limits: CallLimits): Promise<boolean> {
    if (set === null) return true;
    const outcome = await this.#batcherOf(set).call({ set, limits }, limits);
    if (typeof outcome !== 'string') throw outcome.failure;
    return outcome === 'written';
  }

  #batcherOf(set: FinishedSet): Batcher<Sent, Outcome> {
    const shape = shapeOf(set);
    let batcher = this.#batchers.get(shape);
    if (batcher === undefined) {
      const text = statementOf(set);
      batcher = new Batcher((sent) => this.#sendAll(text, sent));
      if (this.#batchers.size >= SHAPES_MAX) this.#batchers.clear();
      this.#batchers.set(shape, batcher);
    }
    return batcher;
  }

  async #sendAll(text: string, sent: readonly Sent[]): Promise<readonly Outcome[]> {
    const timely = sent.filter(({ limits }) => !hasLittleTime(limits));
    const together = compatible(timely.map(({ set }) => set));
    const chosen = [...together];
    const reached =
      chosen.length === 0
        ? []
        : await this.#sendTogether(text, chosen, limitsOfAll(timely.map(({ limits }) => limits)));
    const outcomes = new Map(chosen.map((set, index) => [set, reached[index]]));
    return sent.map(({ set }) => outcomes.get(set) ?? 'left-out');
  }

  /** If a set makes the statement fail, halves of the others are tried, so that only that one is not written. */
  async #sendTogether(text: string, sets: readonly FinishedSet[], limits: CallLimits): Promise<readonly Outcome[]> {
    try {
      const rows = await this.#options.executor.write<{ set: number }>(text, paramsOf(sets), limits);
      const written = new Set(rows.map(({ set }) => set));
      return sets.map((_, index) => (written.has(index) ? 'written' : 'left-out'));
    } catch (error) {
      if (error instanceof DatabaseUnavailable || error instanceof CallerGone)
        return sets.map(() => ({ failure: error }));
      if (!isUsual(error)) this.#options.noteFailure(error);
      if (sets.length === 1) return ['left-out'];
      const half = Math.ceil(sets.length / 2);
      const first = await this.#sendTogether(text, sets.slice(0, half), limits);
      return [...first, ...(await this.#sendTogether(text, sets.slice(half), limits))];
    }
  }
}

function hasLittleTime({ endsAt }: CallLimits): boolean {
  return endsAt - performance.now() < TIME_LEFT_MIN_MS;
}

/** A work may wait for more than its reads; its caller's answer is due all the same. */
async function withinDeadline<Value>(work: Promise<Value>, { endsAt }: CallLimits): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const missed = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(neverBegun('the deadline was missed')), Math.max(1, endsAt - performance.now()));
  });
  try {
    return await Promise.race([work, missed]);
  } finally {
    clearTimeout(timer);
  }
}

/** The sets that do not hold the same row, unless they share it: of two that do, the second would be decided from the first. */
function compatible(sets: readonly FinishedSet[]): ReadonlySet<FinishedSet> {
  const held = new Map<string, 'exclusive' | 'shared'>();
  const chosen = new Set<FinishedSet>();
  for (const set of sets) {
    const isFree = [...set.holds].every(([row, how]) => {
      const other = held.get(row);
      return other === undefined || (how === 'shared' && other === 'shared');
    });
    if (!isFree) continue;
    for (const [row, how] of set.holds) held.set(row, how);
    chosen.add(set);
  }
  return chosen;
}

/** Requests may violate a unique rule or meet a lock at the same moment; anything else is worth a look. */
function isUsual(error: unknown): boolean {
  return error instanceof LockTimeout || uniqueViolation(error) !== null;
}
