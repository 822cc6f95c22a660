import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { stringify } from 'lossless-json';
import type { Books, Callback, Change, Timer } from './books.ts';
import { Callbacks } from './callbacks.ts';
import { FaultSwitch } from './faults.ts';
import { Positions } from './store/positions.ts';
import { Store } from './store/store.ts';

/** Runs a due timer. Null if nothing is left to do. */
export type TimedAction = (bank: Bank, key: string) => Change | null;

// setTimeout is limited to 31 bits.
const TIMER_MS_MAX = 2 ** 31 - 1;

/** The bank's books, timers and callbacks. */
export class Bank {
  readonly faults: FaultSwitch;
  readonly positions = new Positions();
  readonly callbacks: Callbacks;
  readonly now: () => Date;
  /** Aborted when the bank closes, which ends all waits. */
  readonly closing = new AbortController();
  readonly #store: Store;
  readonly #actions: Readonly<Record<Timer['action'], TimedAction>>;
  readonly #completed: (change: Change) => Change;
  readonly #timers = new Map<Timer['id'], NodeJS.Timeout>();

  private constructor(store: Store, callbacks: Callbacks, options: BankOptions, faults: FaultSwitch) {
    this.#store = store;
    this.callbacks = callbacks;
    this.faults = faults;
    this.now = options.now;
    this.#actions = options.actions;
    this.#completed = (change) => options.completed?.(this, change) ?? change;
    // Every deliberately late answer listens to it, so a leak warning would be wrong.
    setMaxListeners(0, this.closing.signal);
  }

  static async open(options: BankOptions): Promise<Bank> {
    const store = await Store.open(options.journalFile, options.onFailure);
    const faults = new FaultSwitch();
    const callbacks = new Callbacks({
      target: options.callbacks,
      faults,
      onDelivered: (callback) => {
        const left = callback.copies - 1;
        store
          .commit(
            left > 0
              ? { put: { callbacks: [{ ...callback, copies: left }] } }
              : { remove: { callbacks: [callback.id] } },
          )
          .catch(options.onFailure);
      },
    });
    const bank = new Bank(store, callbacks, options, faults);
    for (const entry of store.tables.entries.values()) bank.positions.add(entry);
    for (const callback of store.tables.callbacks.values()) callbacks.add(callback);
    for (const timer of [...store.tables.timers.values()]) bank.#arm(timer);
    return bank;
  }

  get books(): { readonly [Name in keyof Books]: ReadonlyMap<string, Books[Name]> } {
    return this.#store.tables;
  }

  /** Visible inside the bank immediately; durable and ready to be announced when it resolves. */
  async commit(asked: Change): Promise<void> {
    const change = this.#completed(asked);
    for (const entry of change.put?.entries ?? []) this.positions.add(entry);
    const durable = this.#store.commit(change);
    for (const timer of change.put?.timers ?? []) this.#arm(timer);
    await durable;
    for (const callback of change.put?.callbacks ?? []) this.callbacks.add(callback);
  }

  /** Resolves when everything readable now is durable. */
  settled(): Promise<void> {
    return this.#store.settled();
  }

  async close(): Promise<void> {
    this.closing.abort();
    for (const handle of this.#timers.values()) clearTimeout(handle);
    await this.callbacks.close();
    await this.#store.close();
  }

  /** When the next timer after this instant is due; null if there is none. */
  nextTimerAfter(instant: Date): Date | null {
    const due = [...this.books.timers.values()].map(({ dueAtMs }) => dueAtMs).filter((at) => at > instant.getTime());
    return due.length === 0 ? null : new Date(Math.min(...due));
  }

  /** Runs the timers by the present time of the clock. */
  clockMoved(): void {
    for (const timer of [...this.books.timers.values()]) this.#arm(timer);
  }

  #arm(timer: Timer): void {
    const delayMs = Math.min(Math.max(0, timer.dueAtMs - this.now().getTime()), TIMER_MS_MAX);
    clearTimeout(this.#timers.get(timer.id));
    const handle = setTimeout(() => {
      // A timer beyond the reach of setTimeout.
      if (delayMs === TIMER_MS_MAX) return this.#arm(timer);
      this.#timers.delete(timer.id);
      const change = this.#actions[timer.action](this, timer.key);
      // The journal ends the process if a write fails.
      this.commit({ ...change, remove: { timers: [timer.id] } }).catch(() => {});
    }, delayMs);
    this.#timers.set(timer.id, handle);
  }
}

export interface BankOptions {
  readonly journalFile: string;
  /** Where callbacks go; null: the customers are told in another way, and no change has callbacks. */
  readonly callbacks: { readonly url: string; readonly secret: string } | null;
  /** The clock of the books and timers. */
  readonly now: () => Date;
  readonly actions: Readonly<Record<Timer['action'], TimedAction>>;
  /** What else a change brings, which the journal then has in the same line; absent: nothing. */
  readonly completed?: (bank: Bank, change: Change) => Change;
  /** The books can no longer be written. */
  readonly onFailure: (error: unknown) => void;
}

export function timerAfter(bank: Bank, action: Timer['action'], key: string, delayMs: number): Timer {
  return { id: randomUUID(), action, key, dueAtMs: bank.now().getTime() + delayMs };
}

/** An event for the customer's service; `line` is its subject. */
export function callbackOf(
  bank: Bank,
  event: {
    readonly type: string;
    readonly line: string;
    readonly data: Record<string, unknown>;
    readonly copies?: number;
  },
): Callback {
  const id = randomUUID();
  const body = stringify({ id, type: event.type, createdAt: bank.now().toISOString(), data: event.data }) ?? '';
  return { id, line: event.line, copies: event.copies ?? 1, body };
}
