import { dateInUtc } from '../domain/dates.ts';
import { TRANSACTION_NUMBER_BYTES, type TransactionKind, transactionNumber } from '../domain/numbers.ts';
import { drawRandomBytes } from './random-bytes.ts';

/** Draws a transaction number of the day in UTC. Numbers are unique by an index; a taken one is drawn again. */
export function drawTransactionNumber(kind: TransactionKind, now: Date): string {
  return transactionNumber(kind, dateInUtc(now), drawRandomBytes(TRANSACTION_NUMBER_BYTES));
}
