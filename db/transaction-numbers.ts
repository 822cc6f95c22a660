import { randomBytes } from 'node:crypto';
import { dateInUtc } from '../domain/dates.ts';
import { TRANSACTION_NUMBER_BYTES, type TransactionKind, transactionNumber } from '../domain/numbers.ts';

/** Draws a transaction number of the day in UTC. Numbers are unique by an index; a taken one is drawn again. */
export function drawTransactionNumber(kind: TransactionKind, now: Date): string {
  return transactionNumber(kind, dateInUtc(now), randomBytes(TRANSACTION_NUMBER_BYTES));
}
