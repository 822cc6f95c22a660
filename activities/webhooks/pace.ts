import { setTimeout as sleep } from 'node:timers/promises';
import type { receiverHealth } from '../../domain/webhooks/deliveries.ts';

/** Concurrent lines of one subscription: starts low, grows with each success, halves when the receiver is unwell. */
const WIDTH_START = 8;
const WIDTH_MAX = 32;
const WIDTH_MIN = 1;

export type Health = ReturnType<typeof receiverHealth>;

interface Lane<Line> {
  width: number;
  running: number;
  /** Deliveries waiting or under way. */
  rows: number;
  readonly waiting: { readonly line: Line; readonly rows: number }[];
}

/**
 * Limits each subscription's concurrent lines. A receiver that is slow to answer gets one attempt at a time, so that
 * it takes neither sockets nor time from the others.
 */
export class Pace<Line> {
  readonly #lanes = new Map<string, Lane<Line>>();
  /** Works through a line; returns the receiver's health. */
  readonly #walk: (line: Line) => Promise<Health>;
  #wakeUps: (() => void)[] = [];

  constructor(walk: (line: Line) => Promise<Health>) {
    this.#walk = walk;
  }

  add(subscriptionId: string, line: Line, rows: number): void {
    const lane = this.#lanes.get(subscriptionId) ?? { width: WIDTH_START, running: 0, rows: 0, waiting: [] };
    this.#lanes.set(subscriptionId, lane);
    lane.rows += rows;
    lane.waiting.push({ line, rows });
    this.#pump(lane);
  }

  #pump(lane: Lane<Line>): void {
    while (lane.running < lane.width) {
      const next = lane.waiting.shift();
      if (next === undefined) return;
      lane.running += 1;
      this.#walk(next.line)
        .catch((): Health => 'unknown')
        .then((health) => {
          if (health === 'well') lane.width = Math.min(WIDTH_MAX, lane.width + 1);
          if (health === 'unwell') lane.width = Math.max(WIDTH_MIN, lane.width >> 1);
          lane.running -= 1;
          lane.rows -= next.rows;
          this.#pump(lane);
          for (const wakeUp of this.#wakeUps.splice(0)) wakeUp();
        });
    }
  }

  get isIdle(): boolean {
    for (const lane of this.#lanes.values()) if (lane.rows > 0) return false;
    return true;
  }

  /** How many rows to claim now. A lane more than half full takes none, to avoid small claims. */
  rowLimits(rowsPerAttempt: number): { perSubscription: number; limits: ReadonlyMap<string, number> } {
    const limits = new Map<string, number>();
    for (const [id, { width, rows }] of this.#lanes) {
      const room = width * rowsPerAttempt;
      limits.set(id, rows > room / 2 ? 0 : room - rows);
    }
    return { perSubscription: WIDTH_START * rowsPerAttempt, limits };
  }

  /** Resolves when the next line is done, or after this long. */
  async settledOr(pauseMs: number): Promise<void> {
    const pause = new AbortController();
    this.#wakeUps.push(() => pause.abort());
    await sleep(pauseMs, undefined, { signal: pause.signal }).catch(() => {});
  }

  async idle(): Promise<void> {
    while (!this.isIdle) await this.settledOr(100);
  }
}
