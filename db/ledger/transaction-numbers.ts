import { TRANSACTION_NUMBER_BYTES, type TransactionKind, transactionNumber } from '../../domain/frame/numbers.ts';
import { dateInUtc } from '../../domain/frame/time/dates.ts';
import { drawRandomBytes } from '../frame/random-bytes.ts';

/** Draws a transaction number for the UTC day. An index keeps numbers unique; the caller replaces a taken one. */
export function drawTransactionNumber(kind: TransactionKind, now: Date): string {
  return transactionNumber(kind, dateInUtc(now), drawRandomBytes(TRANSACTION_NUMBER_BYTES));
}
