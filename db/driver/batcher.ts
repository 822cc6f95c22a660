import type { Database } from './client.ts';
import { type CallLimits, neverBegun, QUEUE_LENGTH_MAX, waitEndsAt } from './deadlines.ts';
import { CallerGone, DatabaseUnavailable } from './failures.ts';

/**
 * What one statement takes along: eight of those who wait, or half of them when they are many. So while the database works
 * on one half, this process answers the other and reads what comes next; and nobody waits for more than these.
 */
const BATCH_MIN = 8;
const BATCH_MAX = 32;

/** A statement that takes longer than this does not hold up those who come after it; so many may run in all. */
const PATIENCE_MS = 20;
const RUNNING_MAX = 6;
/** How often at most the queue is looked through for calls that have waited for too long. */
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
 * Calls that come together share one statement. What arrives while statements are under way goes with the next, so that
 * the busier the service is, the less each call costs; a call that comes alone goes at once. `run` gets the items in the
 * order of their calls and answers one result for each; when it fails, each of its calls fails with its error.
 * Calls that have a key in common, such as an account to lock, go together or one after the other, in their order.
 * A call that has waited for nine tenths of its time, whose caller is gone, or that finds the queue full, never starts.
 */
export class Batcher<Item, Result> {
  readonly #run: (items: readonly Item[], limits: CallLimits) => Promise<readonly Result[]>;
  readonly #keysOf: (item: Item) => readonly string[];
  readonly #atOnce: number;
  readonly #runningKeys = new Set<string>();
  #waiting: Waiting<Item, Result>[] = [];
  #running = 0;
  /** Of those that run, the ones that are waited for; begun since patience was last lost, which `#losses` counts. */
  #awaited = 0;
  #losses = 0;
  #scheduled = false;
  #patience: NodeJS.Timeout | null = null;
  #expiry: NodeJS.Timeout | null = null;

  /**
   * `atOnce`: statements that may run side by side, as soon as eight wait for the next. Two suit what only reads; two that
   * write take longer side by side than one after the other.
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
      else this.#bePatient();
    });
  }

  #mayStart(): boolean {
    if (this.#running >= RUNNING_MAX || this.#waiting.length === 0) return false;
    return this.#awaited === 0 || (this.#awaited < this.#atOnce && this.#waiting.length >= BATCH_MIN);
  }

  #bePatient(): void {
    if (this.#waiting.length > 0 && this.#awaited > 0) {
      this.#patience ??= setTimeout(() => this.#losePatience(), PATIENCE_MS);
    }
  }

  #losePatience(): void {
    this.#patience = null;
    this.#losses += 1;
    this.#awaited = 0;
    this.#schedule();
  }

  // At the end of this turn of the event loop, when every request that has arrived in it was looked at.
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
    this.#bePatient();
    this.#watchWaits();
  }

  /** Answers those who have waited for too long while nothing starts, because no statement ends. */
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

  /** Those who may go now, first come first served: nobody overtakes a call that waits for one of its keys. */
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
    const begunAfter = this.#losses;
    this.#running += 1;
    this.#awaited += 1;
    const answerCallers = await this.#outcomeOf(batch);
    this.#running -= 1;
    if (begunAfter === this.#losses) this.#awaited -= 1;
    for (const key of keys) this.#runningKeys.delete(key);
    if (this.#patience !== null) clearTimeout(this.#patience);
    this.#patience = null;
    // First the next statement, then the answers of this one: while they are made, the database has something to do.
    this.#startNext();
    answerCallers();
  }

  /** Runs the statement, and answers what tells its callers. */
  async #outcomeOf(batch: readonly Waiting<Item, Result>[]): Promise<() => void> {
    try {
      // All are answered when the first of them must be.
      const endsAt = batch.reduce((first, { limits }) => Math.min(first, limits.endsAt), Number.POSITIVE_INFINITY);
      const limits = { endsAt, isGone: () => batch.every((one) => one.limits.isGone()) };
      const results = await this.#run(
        batch.map(({ item }) => item),
        limits,
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

/** Calls of one moment to one database share a statement: a batcher for each database, whichever caller's view of it they use. */
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
 * What is wrong with one item must not fail the others: when their shared statement, known by its name, fails as a whole, it has done
 * nothing, and each gets `alone`, which says that it is to be done alone. Only when it is unknown whether it took effect, it must not be
 * tried again unasked: then all fail.
 */
export async function fallBackToSingle<Item, Result>(
  database: Pick<Database, 'noteSharedFailure'>,
  statement: string,
  items: readonly Item[],
  run: () => Promise<readonly Result[]>,
  alone: Result,
): Promise<readonly Result[]> {
  try {
    return await run();
  } catch (error) {
    // Without the database, or when all callers are gone, nothing is wrong with the statement.
    if (error instanceof DatabaseUnavailable || error instanceof CallerGone) throw error;
    database.noteSharedFailure(statement, error);
    return items.map(() => alone);
  }
}
