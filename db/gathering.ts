import type { Database } from './client.ts';
import { DatabaseUnavailable } from './failures.ts';

/**
 * What one statement takes along: eight of those who wait, or half of them when they are many. So while the database works
 * on one half, this process answers the other and reads what comes next; and nobody waits for more than these.
 */
const GATHERED_MIN = 8;
const GATHERED_MAX = 32;

/** A statement that takes longer than this does not hold up those who come after it; so many may run in all. */
const PATIENCE_MS = 20;
const RUNNING_MAX = 6;

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly keys: readonly string[];
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Calls that come together share one statement. What arrives while statements are under way goes with the next, so that
 * the busier the service is, the less each call costs; a call that comes alone goes at once. `run` gets the items in the
 * order of their calls and answers one result for each; when it fails, each of its calls fails with its error.
 * Calls that have a key in common, such as an account to lock, go together or one after the other, in their order.
 */
export class Gathering<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>;
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

  /**
   * `atOnce`: statements that may run side by side, as soon as eight wait for the next. Two suit what only reads; two that
   * write take longer side by side than one after the other.
   */
  constructor(
    run: (items: readonly Item[]) => Promise<readonly Result[]>,
    keysOf: (item: Item) => readonly string[] = () => [],
    atOnce = 1,
  ) {
    this.#run = run;
    this.#keysOf = keysOf;
    this.#atOnce = atOnce;
  }

  call(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, keys: this.#keysOf(item), resolve, reject });
      if (this.#mayStart()) this.#schedule();
      else this.#bePatient();
    });
  }

  #mayStart(): boolean {
    if (this.#running >= RUNNING_MAX || this.#waiting.length === 0) return false;
    return this.#awaited === 0 || (this.#awaited < this.#atOnce && this.#waiting.length >= GATHERED_MIN);
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
    const gathered = this.#mayStart() ? this.#gather() : [];
    if (gathered.length > 0) void this.#start(gathered);
    this.#bePatient();
  }

  /** Those who may go now, first come first served: nobody overtakes a call that waits for one of its keys. */
  #gather(): Waiting<Item, Result>[] {
    const gathered: Waiting<Item, Result>[] = [];
    const left: Waiting<Item, Result>[] = [];
    const taken = new Set(this.#runningKeys);
    const limit = Math.min(GATHERED_MAX, Math.max(GATHERED_MIN, Math.ceil(this.#waiting.length / 2)));
    for (const waiting of this.#waiting) {
      if (gathered.length < limit && !waiting.keys.some((key) => taken.has(key))) {
        gathered.push(waiting);
      } else {
        left.push(waiting);
        for (const key of waiting.keys) taken.add(key);
      }
    }
    this.#waiting = left;
    return gathered;
  }

  async #start(gathered: readonly Waiting<Item, Result>[]): Promise<void> {
    const keys = gathered.flatMap((waiting) => waiting.keys);
    for (const key of keys) this.#runningKeys.add(key);
    const begunAfter = this.#losses;
    this.#running += 1;
    this.#awaited += 1;
    const tell = await this.#outcomeOf(gathered);
    this.#running -= 1;
    if (begunAfter === this.#losses) this.#awaited -= 1;
    for (const key of keys) this.#runningKeys.delete(key);
    if (this.#patience !== null) clearTimeout(this.#patience);
    this.#patience = null;
    // First the next statement, then the answers of this one: while they are made, the database has something to do.
    this.#startNext();
    tell();
  }

  /** Runs the statement, and answers what tells its callers. */
  async #outcomeOf(gathered: readonly Waiting<Item, Result>[]): Promise<() => void> {
    try {
      const results = await this.#run(gathered.map(({ item }) => item));
      return () =>
        gathered.forEach(({ resolve, reject }, index) => {
          const result = results[index];
          if (result === undefined) reject(new Error('a gathered call got no result'));
          else resolve(result);
        });
    } catch (error) {
      return () => {
        for (const { reject } of gathered) reject(error);
      };
    }
  }
}

/** Calls of one moment to one database share a statement: a gathering for each database. */
export function gatheredPerDatabase<Item, Result>(
  run: (database: Database, items: readonly Item[]) => Promise<readonly Result[]>,
  keysOf?: (item: Item) => readonly string[],
): (database: Database, item: Item) => Promise<Result> {
  const gatherings = new WeakMap<Database, Gathering<Item, Result>>();
  return (database, item) => {
    let gathering = gatherings.get(database);
    if (gathering === undefined) {
      gathering = new Gathering((items) => run(database, items), keysOf);
      gatherings.set(database, gathering);
    }
    return gathering.call(item);
  };
}

/**
 * What is wrong with one item must not fail the others: when their shared statement fails as a whole, it has done nothing, and each
 * gets `alone`, which says that it is to be done alone. Only when nobody knows whether it took effect, nobody may try again
 * without being asked: then all fail.
 */
export async function orEachAlone<Item, Result>(
  items: readonly Item[],
  run: () => Promise<readonly Result[]>,
  alone: Result,
): Promise<readonly Result[]> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error;
    return items.map(() => alone);
  }
}
