import type { Transaction, TransactionOptions } from '../client.ts';
import { type CallLimits, limitsOf } from '../deadlines.ts';
import type { Executor } from '../executor.ts';
import { CallerGone, DatabaseUnavailable, LockTimeout, uniqueViolation } from '../failures.ts';
import { Batcher } from './batcher.ts';
import { NotShareable, type SharedOutcome, type SharedWork, WritesUndone } from './members.ts';
import { runTogether } from './shared-transaction.ts';

/**
 * A statement that waits longer for a lock fails, and the writes run alone, so that what one of them waits for hardly holds
 * up the others. Far below `deadlock_timeout`: whoever waits for the shared transaction is never the one that fails.
 */
const LOCK_WAIT_MS = 25;
/** The first deadline is that of all, so a call with less time than this does not shorten the others'. */
const TIME_LEFT_MIN_MS = 1_000;
/** How often the others begin again together when one that had written something fails. */
const ATTEMPTS_MAX = 3;

export interface SharedTransactionsOptions {
  readonly executor: Executor;
  readonly deadlineMs: number;
  readonly noteFailure: (error: unknown) => void;
  readonly noteWrite: (transaction: 'shared' | 'alone') => void;
  /** Rejects a work that sends what cannot be shared, in place of running it alone. For tests. */
  readonly isStrict: boolean;
}

/**
 * Writes of the same moment in one transaction: they share each statement, the round trips and the commit. Each is decided
 * as in a transaction of its own, because no two of them may hold the same row; all commit, or none does. Whatever cannot be
 * done so (a row that another holds, a refusal, a failure) is done again in a transaction of its own.
 */
export class SharedTransactions {
  readonly #options: SharedTransactionsOptions;
  readonly #batcher: Batcher<SharedWork, SharedOutcome>;

  constructor(options: SharedTransactionsOptions) {
    this.#options = options;
    // Two, because each waits for its decisions between its statements.
    this.#batcher = new Batcher((works, limits) => this.#run(works, limits), undefined, 2);
  }

  async transaction<T>(
    work: (tx: Transaction) => Promise<T>,
    options: TransactionOptions,
    caller: CallLimits | null,
  ): Promise<T> {
    const { executor, deadlineMs, noteWrite } = this.#options;
    const own = limitsOf(options.deadlineMs ?? deadlineMs);
    const limits = caller === null ? own : { ...caller, endsAt: Math.min(caller.endsAt, own.endsAt) };
    if (limits.endsAt - performance.now() < TIME_LEFT_MIN_MS) return executor.transaction(work, options, limits);
    executor.refuseSecondConnection();
    const outcome = await this.#batcher.call(work, limits);
    noteWrite(outcome === 'alone' ? 'alone' : 'shared');
    // The value is what this work returned.
    return outcome === 'alone' ? executor.transaction(work, options, limits) : (outcome.value as T);
  }

  async #run(works: readonly SharedWork[], limits: CallLimits): Promise<readonly SharedOutcome[]> {
    const outcomes: SharedOutcome[] = works.map(() => 'alone');
    let left = [...works.entries()];
    for (let attempt = 1; attempt <= ATTEMPTS_MAX && left.length > 0; attempt += 1) {
      try {
        const done = await this.#attempt(
          left.map(([, work]) => work),
          limits,
        );
        for (const [at, [index]] of left.entries()) outcomes[index] = done[at] ?? 'alone';
        return outcomes;
      } catch (error) {
        if (!(error instanceof WritesUndone)) return this.#allAlone(works, error);
        left = left.filter((_, at) => !error.left.has(at));
      }
    }
    return outcomes;
  }

  #attempt(works: readonly SharedWork[], limits: CallLimits): Promise<readonly SharedOutcome[]> {
    const { executor, isStrict, noteFailure } = this.#options;
    const refuse = (error: NotShareable) => {
      if (isStrict) throw error;
      noteFailure(error);
    };
    const options = { lockTimeoutMs: LOCK_WAIT_MS, byIndexes: true };
    return executor.transaction((tx) => runTogether(tx, works, refuse), options, limits);
  }

  #allAlone(works: readonly SharedWork[], error: unknown): readonly SharedOutcome[] {
    // What Postgres may have done is not done again; nor is anything for callers who have gone.
    if (error instanceof CallerGone || error instanceof NotShareable) throw error;
    if (error instanceof DatabaseUnavailable && error.outcome === 'unknown') throw error;
    if (!isUsual(error)) this.#options.noteFailure(error);
    return works.map(() => 'alone');
  }
}

/** Requests may violate a unique rule or meet a locked row, and Postgres may be away; anything else is worth a look. */
function isUsual(error: unknown): boolean {
  return error instanceof DatabaseUnavailable || error instanceof LockTimeout || uniqueViolation(error) !== null;
}
