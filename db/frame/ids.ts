import { v7 } from 'uuid';
import { asId, type Id } from '../../domain/frame/ids.ts';
import type { Transaction } from '../driver/client.ts';
import type { ListStatement } from '../driver/queries/list-statements.ts';
import { drawRandomBytes } from './random-bytes.ts';

/** The last id's millisecond and its counter, which starts in the lower half of 32 bits. */
let msecs = 0;
let seq = 0;

/** A new UUIDv7. Ids from one process sort in order of creation even if the clock steps back. */
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

/** A new id that sorts after `earlier`, which another process, whose clock is ahead, may have made. */
export function newIdAfter<Branded extends Id<string>>(earlier: Branded): Branded {
  const id = newId<Branded>();
  if (id > earlier) return id;
  const madeAtMs = Number.parseInt(earlier.replace('-', '').slice(0, 12), 16);
  return asId<Branded>(v7({ random: drawRandomBytes(16), msecs: madeAtMs + 1 }));
}

type Sequence = 'client_numbers' | 'ledger_numbers';

const DRAW: Readonly<Record<Sequence, ListStatement<null, bigint>>> = {
  client_numbers: drawFrom('client_numbers'),
  ledger_numbers: drawFrom('ledger_numbers'),
};

function drawFrom(sequence: Sequence): ListStatement<null, bigint> {
  return {
    text: `SELECT nextval('${sequence}') FROM generate_series(1, $1::integer)`,
    stage: 'reads',
    paramsOf: (items) => [items.length],
    resultsOf: (answer) => answer.map(([number]) => BigInt(String(number))),
  };
}

/** The next number of a sequence. A transaction that rolls back leaves a gap. */
export async function drawNumber(tx: Transaction, sequence: Sequence): Promise<bigint> {
  const [number] = await tx.each(DRAW[sequence], [null]);
  if (number === undefined) throw new Error('a sequence returned no value');
  return number;
}
