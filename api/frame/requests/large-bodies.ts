import { type BodyRoom, BodyRooms, refuseWithoutRoom } from './body.ts';

/** Sixteen of the largest bodies, arriving or waiting. */
const BYTES_MAX = 64 * 1024 * 1024;
/** A parsed body takes many times its bytes, and its handling a connection that others need too. */
const AT_ONCE = 2;

/**
 * Handles bodies above the usual limit a few at a time, from parsing to the answer; the others wait as bytes. Callers
 * take turns, so that one with many waits for itself alone.
 */
export class LargeBodies {
  readonly #rooms: BodyRooms;
  #free: number;
  /** By caller, the next one first. */
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor({ bytesMax, atOnce }: { readonly bytesMax: number; readonly atOnce: number }) {
    this.#rooms = new BodyRooms(bytesMax);
    this.#free = atOnce;
  }

  /** For bodies of this caller that are still arriving. */
  roomOf(callerId: string): BodyRoom {
    return this.#rooms.of(callerId);
  }

  /** Handles a body that has arrived, when its turn comes. */
  async inTurn<T>(callerId: string, bytes: number, handle: () => Promise<T>): Promise<T> {
    const room = this.roomOf(callerId);
    if (!room.take(bytes)) throw refuseWithoutRoom();
    try {
      if (this.#free > 0) this.#free -= 1;
      else await new Promise<void>((start) => this.#wait(callerId, start));
      return await handle().finally(() => this.#passOn());
    } finally {
      room.give(bytes);
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
