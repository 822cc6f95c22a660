import { randomBytes } from 'node:crypto';
import { type TransactionNumberKind, transactionNumberFrom } from '../domain/numbers.ts';

/** Draws a transaction number of the day in UTC. Numbers are unique by an index; a taken one is drawn again. */
export function transactionNumber(kind: TransactionNumberKind, now: Date): string {
  return transactionNumberFrom(kind, now.toISOString().slice(0, 10), randomBytes(16));
}
