import { randomBytes } from 'node:crypto';

/** Drawn ahead, because a call of the generator costs more than the bytes of one id. */
const POOL_BYTES = 8_192;

let pool = Buffer.alloc(0);
let at = 0;

/** Bytes from the system's generator, each handed out once. */
export function drawRandomBytes(length: number): Uint8Array {
  if (at + length > pool.length) {
    pool = randomBytes(Math.max(POOL_BYTES, length));
    at = 0;
  }
  at += length;
  return pool.subarray(at - length, at);
}
