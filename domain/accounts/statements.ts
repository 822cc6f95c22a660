import { refusal } from '../frame/errors.ts';
import { formatDateTimeMs } from '../frame/time/dates.ts';

export const STATEMENT_TRANSACTION_TYPES = [
  'incoming-transfer',
  'outgoing-transfer',
  'exchange-transaction',
  'balance-adjustment',
] as const;
export type StatementTransactionType = (typeof STATEMENT_TRANSACTION_TYPES)[number];

export const STATEMENT_ENTRY_TYPES = [
  'principal',
  'fee',
  'principal-sell',
  'principal-buy',
  'cancellation-fee',
] as const;
export type StatementEntryType = (typeof STATEMENT_ENTRY_TYPES)[number];

/** One side of a posting in its account's statement. Amounts in minor units of the account's currency. */
export interface StatementEntry {
  readonly accountId: string;
  readonly transactionNumber: string;
  readonly postedAt: Date;
  readonly direction: 'debit' | 'credit';
  readonly amountMinor: bigint;
  readonly transactionType: StatementTransactionType;
  readonly entryType: StatementEntryType;
  /** The account's balance after the entry. */
  readonly balanceMinor: bigint;
  readonly currency: string;
  readonly narrative: string | null;
}

/** Both ends are inclusive; `to` includes its whole millisecond. */
export interface StatementRange {
  readonly from: Date;
  readonly to: Date;
}

/**
 * The range of a statement (specification 4.5), in UTC months: the current month by default; with one bound, from the first
 * or to the last day of its month. Rejects a `from` after `to` (400).
 */
export function statementRange(asked: { from?: Date | undefined; to?: Date | undefined }, now: Date): StatementRange {
  const from = asked.from ?? monthStart(asked.to ?? now, 0);
  const to = asked.to ?? new Date(monthStart(asked.from ?? now, 1).getTime() - 1);
  if (from.getTime() <= to.getTime()) return { from, to };
  throw refusal(
    'common.validation.field_invalid',
    ['accountStatement', 'entryDateTimeFrom', formatDateTimeMs(from)],
    'data.accountStatement.entryDateTimeFrom must not be after entryDateTimeTo.',
  );
}

function monthStart(instant: Date, monthsLater: number): Date {
  return new Date(Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth() + monthsLater, 1));
}
