import {
  TRANSACTION_NUMBER_BYTES,
  type TransactionKind,
  transactionNumber,
} from '../../domain/common/numbers/numbers.ts';
import { dateInUtc } from '../../domain/common/time/dates.ts';
import { drawRandomBytes } from '../common/random-bytes.ts';
import type { Transaction } from '../query/database.ts';

/** Draws a transaction number for the UTC day. An index keeps numbers unique; the caller replaces a taken one. */
export function drawTransactionNumber(kind: TransactionKind, now: Date): string {
  return transactionNumber(kind, dateInUtc(now), drawRandomBytes(TRANSACTION_NUMBER_BYTES));
}

export type DrawNumber = typeof drawTransactionNumber;

const TAKEN = `SELECT number FROM unnest($1::text[]) AS drawn (number)
  WHERE EXISTS (SELECT FROM outgoing_transfers WHERE transaction_number = number)
    OR EXISTS (SELECT FROM incoming_transfers WHERE transaction_number = number)`;

/**
 * Numbers for several transfers, drawn ahead and without taken ones. Of a thousand drawn on a day with a million transfers, one or
 * two are taken, and the transaction would start again nearly every time.
 */
export async function drawFreeNumbers(
  tx: Transaction,
  count: number,
  now: Date,
  draw: DrawNumber = drawTransactionNumber,
): Promise<DrawNumber> {
  const day = dateInUtc(now);
  const kinds = ['outgoing-transfer', 'incoming-transfer'] as const;
  const drawn = kinds.map((kind) => [kind, new Set(Array.from({ length: count }, () => draw(kind, now)))] as const);
  const taken = await tx.statement<{ number: string }>(TAKEN, [drawn.flatMap(([, numbers]) => [...numbers])]);
  const free = new Map<TransactionKind, Set<string>>(drawn);
  for (const { number } of taken) for (const numbers of free.values()) numbers.delete(number);
  return (kind, at) => {
    const numbers = free.get(kind);
    const [next] = dateInUtc(at) === day && numbers !== undefined ? numbers : [];
    if (next === undefined) return draw(kind, at);
    numbers?.delete(next);
    return next;
  };
}
