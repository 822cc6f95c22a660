import { type BodyRoom, createBodyRoom, refuseWithoutRoom } from './body.ts';

/** Sixteen of the largest bodies, arriving or waiting. */
const BYTES_MAX = 64 * 1024 * 1024;
/** A parsed body takes many times its bytes, and its handling a connection that others need too. */
const AT_ONCE = 2;

/** Handles bodies above the usual limit a few at a time, from parsing to the answer; the others wait as bytes. */
export class LargeBodies {
  /** For bodies that are still arriving. */
  readonly room: BodyRoom;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor({ bytesMax, atOnce }: { readonly bytesMax: number; readonly atOnce: number }) {
    this.room = createBodyRoom(bytesMax);
    this.#free = atOnce;
  }

  /** Handles a body that has arrived, when its turn comes. */
  async inTurn<T>(bytes: number, handle: () => Promise<T>): Promise<T> {
    if (!this.room.take(bytes)) throw refuseWithoutRoom();
    try {
      if (this.#free > 0) this.#free -= 1;
      else await new Promise<void>((start) => this.#waiting.push(start));
      return await handle().finally(() => this.#passOn());
    } finally {
      this.room.give(bytes);
    }
  }

  #passOn(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}

export const largeBodies = new LargeBodies({ bytesMax: BYTES_MAX, atOnce: AT_ONCE });
