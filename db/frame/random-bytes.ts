import { randomBytes } from 'node:crypto';

/** Drawn ahead: a call of the generator costs more than the bytes that an id needs. */
const POOL_BYTES = 8_192;

let pool = Buffer.alloc(0);
let at = 0;

/** Random bytes of the system's generator, each given out once. */
export function drawRandomBytes(length: number): Uint8Array {
  if (at + length > pool.length) {
    pool = randomBytes(Math.max(POOL_BYTES, length));
    at = 0;
  }
  at += length;
  return pool.subarray(at - length, at);
}
