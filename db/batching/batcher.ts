import { limitsOfAll, neverBegun, QUEUE_LENGTH_MAX, waitEndsAt } from '../postgres/deadlines.ts';
import { CallerGone, DatabaseUnavailable } from '../postgres/failures.ts';
import type { CallLimits, Database } from '../query/database.ts';

/**
 * The size of a batch: eight waiting calls, or half of them when there are more. The database works on one half while this
 * process answers the other.
 */
const BATCH_MIN = 8;
const BATCH_MAX = 32;

/** After this long a statement no longer holds up the calls behind it; at most RUNNING_MAX run at once. */
const STALL_TIMEOUT_MS = 20;
const RUNNING_MAX = 6;
/** The shortest interval between two searches of the queue for expired calls. */
const EXPIRY_STEP_MS = 50;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly keys: readonly string[];
  readonly limits: CallLimits;
  readonly waitsUntil: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Batches concurrent calls into one statement. Calls that arrive while a statement runs go into the next one, so the cost
 * per call falls as load rises; a single call starts at once. `run` receives the items in order and returns one result for
 * each; if it fails, all its calls fail with its error.
 * Calls that share a key, such as an account to lock, run in one batch or one after the other, in order.
 * A call never starts once it has waited for nine tenths of its time or its caller is gone, or if the queue is full.
 */
export class Batcher<Item, Result> {
  readonly #run: (items: readonly Item[], limits: CallLimits) => Promise<readonly Result[]>;
  readonly #keysOf: (item: Item) => readonly string[];
  readonly #atOnce: number;
  readonly #runningKeys = new Set<string>();
  #waiting: Waiting<Item, Result>[] = [];
  #running = 0;
  /** Running statements that still hold up the queue: those begun since the last stall. `#stalls` counts stalls. */
  #awaited = 0;
  #stalls = 0;
  #scheduled = false;
  #stallTimer: NodeJS.Timeout | null = null;
  #expiry: NodeJS.Timeout | null = null;

  /**
   * `atOnce`: statements that may run side by side once eight calls wait. Use two for reads only: two writing statements
   * take longer side by side than one after the other.
   */
  constructor(
    run: (items: readonly Item[], limits: CallLimits) => Promise<readonly Result[]>,
    keysOf: (item: Item) => readonly string[] = () => [],
    atOnce = 1,
  ) {
    this.#run = run;
    this.#keysOf = keysOf;
    this.#atOnce = atOnce;
  }

  call(item: Item, limits: CallLimits): Promise<Result> {
    if (this.#waiting.length >= QUEUE_LENGTH_MAX)
      return Promise.reject(neverBegun('too many calls wait for a statement'));
    return new Promise((resolve, reject) => {
      const waitsUntil = waitEndsAt(limits.endsAt, performance.now());
      this.#waiting.push({ item, keys: this.#keysOf(item), limits, waitsUntil, resolve, reject });
      if (this.#mayStart()) this.#schedule();
      else this.#armStallTimer();
    });
  }

  #mayStart(): boolean {
    if (this.#running >= RUNNING_MAX || this.#waiting.length === 0) return false;
    return this.#awaited === 0 || (this.#awaited < this.#atOnce && this.#waiting.length >= BATCH_MIN);
  }

  #armStallTimer(): void {
    if (this.#waiting.length > 0 && this.#awaited > 0) {
      this.#stallTimer ??= setTimeout(() => this.#onStall(), STALL_TIMEOUT_MS);
    }
  }

  #onStall(): void {
    this.#stallTimer = null;
    this.#stalls += 1;
    this.#awaited = 0;
    this.#schedule();
  }

  // At the end of this turn of the event loop, so that every request that arrived in it is in the queue.
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#startNext();
    });
  }

  #startNext(): void {
    const batch = this.#mayStart() ? this.#takeBatch() : [];
    if (batch.length > 0) void this.#start(batch);
    this.#armStallTimer();
    this.#watchWaits();
  }

  /** Rejects expired calls while a running statement keeps new ones from starting. */
  #watchWaits(): void {
    if (this.#expiry !== null || this.#waiting.length === 0) return;
    const first = this.#waiting.reduce(
      (earliest, { waitsUntil }) => Math.min(earliest, waitsUntil),
      Number.POSITIVE_INFINITY,
    );
    this.#expiry = setTimeout(
      () => {
        this.#expiry = null;
        this.#waiting = this.#waiting.filter((waiting) => this.#mayStillStart(waiting, performance.now()));
        this.#watchWaits();
      },
      Math.max(EXPIRY_STEP_MS, first - performance.now()),
    );
  }

  #mayStillStart({ limits, waitsUntil, reject }: Waiting<Item, Result>, now: number): boolean {
    if (now < waitsUntil && !limits.isGone()) return true;
    reject(limits.isGone() ? new CallerGone() : neverBegun('no statement began in time'));
    return false;
  }

  /** The calls that may start now, in order of arrival. A call that waits for a key goes before every later call with that key. */
  #takeBatch(): Waiting<Item, Result>[] {
    const batch: Waiting<Item, Result>[] = [];
    const left: Waiting<Item, Result>[] = [];
    const taken = new Set(this.#runningKeys);
    const limit = Math.min(BATCH_MAX, Math.max(BATCH_MIN, Math.ceil(this.#waiting.length / 2)));
    const now = performance.now();
    for (const waiting of this.#waiting) {
      if (!this.#mayStillStart(waiting, now)) continue;
      if (batch.length < limit && !waiting.keys.some((key) => taken.has(key))) {
        batch.push(waiting);
      } else {
        left.push(waiting);
        for (const key of waiting.keys) taken.add(key);
      }
    }
    this.#waiting = left;
    return batch;
  }

  async #start(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    const keys = batch.flatMap((waiting) => waiting.keys);
    for (const key of keys) this.#runningKeys.add(key);
    const stallsBefore = this.#stalls;
    this.#running += 1;
    this.#awaited += 1;
    const answerCallers = await this.#outcomeOf(batch);
    this.#running -= 1;
    if (stallsBefore === this.#stalls) this.#awaited -= 1;
    for (const key of keys) this.#runningKeys.delete(key);
    if (this.#stallTimer !== null) clearTimeout(this.#stallTimer);
    this.#stallTimer = null;
    // The next statement starts before this one's callers get their answers, so that the database is never idle meanwhile.
    this.#startNext();
    answerCallers();
  }

  /** Runs the statement; returns a function that hands the callers their results. */
  async #outcomeOf(batch: readonly Waiting<Item, Result>[]): Promise<() => void> {
    try {
      const results = await this.#run(
        batch.map(({ item }) => item),
        limitsOfAll(batch.map(({ limits }) => limits)),
      );
      return () =>
        batch.forEach(({ resolve, reject }, index) => {
          const result = results[index];
          if (result === undefined) reject(new Error('a batched call got no result'));
          else resolve(result);
        });
    } catch (error) {
      return () => {
        for (const { reject } of batch) reject(error);
      };
    }
  }
}

/** Batches concurrent calls per database, across all callers' views of it. */
export function batchedPerDatabase<Item, Result>(
  run: (database: Database, items: readonly Item[], limits: CallLimits) => Promise<readonly Result[]>,
  keysOf?: (item: Item) => readonly string[],
): (database: Database, item: Item) => Promise<Result> {
  const batchers = new WeakMap<Database, Batcher<Item, Result>>();
  return ({ shared, limits }, item) => {
    let batcher = batchers.get(shared());
    if (batcher === undefined) {
      batcher = new Batcher((items, ofAll) => run(shared(), items, ofAll), keysOf);
      batchers.set(shared(), batcher);
    }
    return batcher.call(item, limits());
  };
}

/**
 * Keeps one bad item from failing the others. If the shared statement fails, nothing was done, and each call gets `single`,
 * which means: repeat it in a transaction of its own. If the outcome is unknown, all calls fail instead of repeating.
 */
export async function fallBackToSingle<Item, Result>(
  database: Pick<Database, 'noteSharedFailure'>,
  statement: string,
  items: readonly Item[],
  run: () => Promise<readonly Result[]>,
  single: Result,
): Promise<readonly Result[]> {
  try {
    return await run();
  } catch (error) {
    // A missing database or caller is no fault of the statement.
    if (error instanceof DatabaseUnavailable || error instanceof CallerGone) throw error;
    database.noteSharedFailure(statement, error);
    return items.map(() => single);
  }
}
