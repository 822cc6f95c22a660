import { type BodyBudget, BodyBudgets, tooManyBodies } from './body.ts';

/** Sixteen of the largest bodies, arriving or waiting. */
const BYTES_MAX = 64 * 1024 * 1024;
/** A parsed body uses many times its bytes, and handling it occupies a connection that others need. */
const AT_ONCE = 2;

/**
 * Handles bodies above the usual limit a few at a time, from parsing to the answer; the others wait as bytes. Callers
 * take turns, so that a caller with many bodies delays only itself.
 */
export class LargeBodies {
  readonly #budgets: BodyBudgets;
  #free: number;
  /** By caller; the next caller comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor({ bytesMax, atOnce }: { readonly bytesMax: number; readonly atOnce: number }) {
    this.#budgets = new BodyBudgets(bytesMax);
    this.#free = atOnce;
  }

  /** Memory for bodies of this caller that are still arriving. */
  budgetOf(callerId: string): BodyBudget {
    return this.#budgets.of(callerId);
  }

  /** Handles a body that has arrived, when its turn comes. */
  async inTurn<T>(callerId: string, bytes: number, handle: () => Promise<T>): Promise<T> {
    const budget = this.budgetOf(callerId);
    if (!budget.reserve(bytes)) throw tooManyBodies();
    try {
      if (this.#free > 0) this.#free -= 1;
      else await new Promise<void>((start) => this.#wait(callerId, start));
      return await handle().finally(() => this.#passOn());
    } finally {
      budget.release(bytes);
    }
  }

  #wait(callerId: string, start: () => void): void {
    const waiting = this.#waiting.get(callerId);
    if (waiting === undefined) this.#waiting.set(callerId, [start]);
    else waiting.push(start);
  }

  #passOn(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    const [callerId, waiting] = next;
    const start = waiting.shift();
    this.#waiting.delete(callerId);
    if (waiting.length > 0) this.#waiting.set(callerId, waiting);
    start?.();
  }
}

export const largeBodies = new LargeBodies({ bytesMax: BYTES_MAX, atOnce: AT_ONCE });
