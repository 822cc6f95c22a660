import { v7 } from 'uuid';
import { asId, type Id } from '../../domain/frame/ids.ts';
import { drawRandomBytes } from './random-bytes.ts';

/** The last id's millisecond, and its number in that millisecond, which begins somewhere in the lower half of 32 bits. */
let msecs = 0;
let seq = 0;

/** A new UUIDv7: ids made later by one process sort later, also when the clock steps back, so that "creation, then id" is one order. */
export function newId<Branded extends Id<string> = Id<string>>(): Branded {
  const random = drawRandomBytes(16);
  const now = Date.now();
  if (now > msecs) {
    msecs = now;
    seq = new DataView(random.buffer, random.byteOffset).getUint32(0) >>> 1;
  } else {
    seq += 1;
  }
  return asId<Branded>(v7({ random, msecs, seq }));
}
