import { setTimeout as sleep } from 'node:timers/promises';
import type { receiverHealth } from '../../domain/webhooks/deliveries.ts';

/** Concurrent queues of one subscription: starts low, grows with each success, halves when the receiver is unhealthy. */
const CONCURRENCY_START = 8;
const CONCURRENCY_MAX = 32;
const CONCURRENCY_MIN = 1;

export type Health = ReturnType<typeof receiverHealth>;

interface Subscription<Queue> {
  limit: number;
  running: number;
  /** Deliveries that wait or are in progress. */
  rows: number;
  readonly waiting: { readonly queue: Queue; readonly rows: number }[];
}

/**
 * Limits each subscription's concurrent queues. A receiver that is slow to answer gets one attempt at a time, so that
 * it takes neither sockets nor time from the others.
 */
export class SubscriptionConcurrency<Queue> {
  readonly #subscriptions = new Map<string, Subscription<Queue>>();
  /** Delivers a queue in order; returns the receiver's health. */
  readonly #deliver: (queue: Queue) => Promise<Health>;
  #wakeUps: (() => void)[] = [];

  constructor(deliver: (queue: Queue) => Promise<Health>) {
    this.#deliver = deliver;
  }

  add(subscriptionId: string, queue: Queue, rows: number): void {
    const subscription = this.#subscriptions.get(subscriptionId) ?? {
      limit: CONCURRENCY_START,
      running: 0,
      rows: 0,
      waiting: [],
    };
    this.#subscriptions.set(subscriptionId, subscription);
    subscription.rows += rows;
    subscription.waiting.push({ queue, rows });
    this.#pump(subscription);
  }

  #pump(subscription: Subscription<Queue>): void {
    while (subscription.running < subscription.limit) {
      const next = subscription.waiting.shift();
      if (next === undefined) return;
      subscription.running += 1;
      this.#deliver(next.queue)
        .catch((): Health => 'unknown')
        .then((health) => {
          if (health === 'well') subscription.limit = Math.min(CONCURRENCY_MAX, subscription.limit + 1);
          if (health === 'unwell') subscription.limit = Math.max(CONCURRENCY_MIN, subscription.limit >> 1);
          subscription.running -= 1;
          subscription.rows -= next.rows;
          this.#pump(subscription);
          for (const wakeUp of this.#wakeUps.splice(0)) wakeUp();
        });
    }
  }

  get isIdle(): boolean {
    for (const subscription of this.#subscriptions.values()) if (subscription.rows > 0) return false;
    return true;
  }

  /** How many rows to claim now. A subscription more than half full takes none, to avoid small claims. */
  rowLimits(rowsPerAttempt: number): { perSubscription: number; limits: ReadonlyMap<string, number> } {
    const limits = new Map<string, number>();
    for (const [id, { limit, rows }] of this.#subscriptions) {
      const capacity = limit * rowsPerAttempt;
      limits.set(id, rows > capacity / 2 ? 0 : capacity - rows);
    }
    return { perSubscription: CONCURRENCY_START * rowsPerAttempt, limits };
  }

  /** Resolves when the next queue is done, or after the pause. */
  async settledOr(pauseMs: number): Promise<void> {
    const pause = new AbortController();
    this.#wakeUps.push(() => pause.abort());
    await sleep(pauseMs, undefined, { signal: pause.signal }).catch(() => {});
  }

  async idle(): Promise<void> {
    while (!this.isIdle) await this.settledOr(100);
  }
}
