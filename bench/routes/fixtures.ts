import { setTimeout as sleep } from 'node:timers/promises';
import type postgres from 'postgres';
import { type BenchAccount, createAccounts, findAccounts, PLUG_IN } from '../accounts.ts';
import type { Bench } from '../bench.ts';
import type { PreparedRequest } from '../load/callers.ts';

/** The number of parents with full lists, and the length of these lists. */
export const PARENT_COUNT = 20;
export const LIST_LENGTH = 20;

/** How many requests are prepared if each works only once: more than a fast write uses in a measurement. */
export const FRESH_COUNT = 3_000;
/** How many resources are prepared for a change that each allows once. A measurement ends early when they are used up. */
export const STOCK_COUNT = 400;

const CALLERS = 16;
/** A preparation may take long on a busy machine. */
const PREPARATION_LIMIT_SECONDS = 120;
const SETTLING_LIMIT_MS = 30_000;
const POLL_MS = 20;

/** The resources that the measured requests use. They are inserted by SQL or created through the interface. */
export class Fixtures {
  readonly bench: Bench;
  readonly #made = new Map<string, Promise<unknown>>();

  constructor(bench: Bench) {
    this.bench = bench;
  }

  get sql(): postgres.Sql {
    return this.bench.stage.sql;
  }

  get accounts(): readonly BenchAccount[] {
    return this.bench.accounts;
  }

  /** As many plug-in accounts. */
  async plugInAccounts(): Promise<readonly BenchAccount[]> {
    await this.made('plug-in accounts', async () => {
      await createAccounts(this.sql, PLUG_IN);
    });
    return findAccounts(this.sql, PLUG_IN);
  }

  /** Runs `make` for the first caller; all others wait for it. */
  async made(name: string, make: () => Promise<void>): Promise<void> {
    const making = this.#made.get(name) ?? make();
    this.#made.set(name, making);
    await making;
  }

  /** Sends each request once. */
  async send(method: 'POST' | 'PATCH' | 'DELETE', requests: readonly PreparedRequest[]): Promise<void> {
    if (requests.length === 0) return;
    const { stage, callers } = this.bench;
    const { count } = await callers.run({
      origin: stage.api.origin,
      method,
      headers: { authorization: `Bearer ${stage.token}`, 'content-type': 'application/json' },
      requests,
      once: true,
      idempotent: false,
      callers: CALLERS,
      seconds: PREPARATION_LIMIT_SECONDS,
    });
    if (count < requests.length) throw new Error(`only ${count} of ${requests.length} were prepared in time`);
  }

  /** The resources that `find` returns, after `make` has created the missing ones. */
  async stock<Item>(
    find: () => Promise<readonly Item[]>,
    make: (missing: number) => Promise<void>,
    wanted = STOCK_COUNT,
  ): Promise<readonly Item[]> {
    const found = await find();
    if (found.length >= wanted) return found.slice(0, wanted);
    await make(wanted - found.length);
    return find();
  }

  /**
   * Finishes the work that earlier requests left, so that it does not affect the next measurement: events are numbered, and
   * nothing waits for Temporal.
   */
  async settle(): Promise<void> {
    await this.sql`DELETE FROM workflow_wakeups`;
    for (const endsMs = performance.now() + SETTLING_LIMIT_MS; performance.now() < endsMs; await sleep(POLL_MS)) {
      const rows = await this.sql`SELECT FROM events WHERE first_position IS NULL LIMIT 1`;
      if (rows.length === 0) return;
    }
    throw new Error('the events were not numbered in time');
  }
}

/** Takes the items of a list in turns. */
export function inTurns<Item>(items: readonly Item[], number: number): Item {
  const item = items[number % items.length];
  if (item === undefined) throw new Error('nothing to take in turns');
  return item;
}

/** `count` items, each made from its index. */
export function times<Item>(count: number, make: (number: number) => Item): Item[] {
  return Array.from({ length: count }, (_, number) => make(number));
}
