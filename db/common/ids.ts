import { v7 } from 'uuid';
import { asId, type Id } from '../../domain/common/ids.ts';
import type { Transaction } from '../query/database.ts';
import type { ListStatement } from '../query/list-statements.ts';
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

/** A new id that sorts after `earlier`, which may come from a process whose clock is ahead. */
export function newIdAfter<Branded extends Id<string>>(earlier: Branded): Branded {
  const id = newId<Branded>();
  if (id > earlier) return id;
  const madeAtMs = Number.parseInt(earlier.replace('-', '').slice(0, 12), 16);
  return asId<Branded>(v7({ random: drawRandomBytes(16), msecs: madeAtMs + 1 }));
}

/** More than the clocks of two processes may differ by, and the longest transaction. */
const CLOCK_SKEW_MS = 3_600_000;
/** No id is less. */
export const LEAST_ID = '00000000-0000-0000-0000-000000000000';
const GREATEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The least UUIDv7 of an instant. */
export function leastIdOf(instant: Date): string {
  const digits = instant.getTime().toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7000-8000-000000000000`;
}

/** The least id that an event or entry about these resources can have: none is made before the first of them. */
export function leastIdAbout(...resourceIds: readonly string[]): string {
  const [first = LEAST_ID] = [...resourceIds].sort();
  const madeAtMs = madeAt(first);
  return madeAtMs === null ? LEAST_ID : leastIdOf(new Date(Math.max(0, madeAtMs - CLOCK_SKEW_MS)));
}

/** No id that was made in one transaction with this one is as great. */
export function leastIdAfter(id: string): string {
  const madeAtMs = madeAt(id);
  return madeAtMs === null ? GREATEST_ID : leastIdOf(new Date(madeAtMs + CLOCK_SKEW_MS));
}

function madeAt(id: string): number | null {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(id) ? Number.parseInt(id.replace('-', '').slice(0, 12), 16) : null;
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
