import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Reader } from './client.ts';

/** One thing that does not hold of the books. */
export interface Violation {
  readonly rule: string;
  readonly subject: string;
  readonly expected: string;
  readonly actual: string;
}

const INVARIANTS = readFileSync(fileURLToPath(new URL('ledger-invariants.sql', import.meta.url)), 'utf8');

/** Judges all books on one snapshot; an empty answer means that every invariant holds. */
export async function checkLedger(reader: Reader): Promise<readonly Violation[]> {
  return reader.statement<Violation>(INVARIANTS, []);
}
