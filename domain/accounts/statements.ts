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

/** One side of a posting as its account's statement shows it. Amounts in minor units of the account's currency. */
export interface StatementEntry {
  readonly accountId: string;
  readonly transactionNumber: string;
  readonly postedAt: Date;
  readonly direction: 'debit' | 'credit';
  readonly amountMinor: bigint;
  readonly transactionType: StatementTransactionType;
  readonly entryType: StatementEntryType;
  /** What the account held after the entry. */
  readonly balanceMinor: bigint;
  readonly currency: string;
  readonly narrative: string | null;
}

/** Both ends belong to the range; `to` is a whole millisecond and means all of it. */
export interface StatementRange {
  readonly from: Date;
  readonly to: Date;
}

/**
 * The range of a statement (specification 4.5), months in UTC: without bounds the current month; with one bound, its
 * month from the first day or to the last. A from after the to is refused (400).
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
