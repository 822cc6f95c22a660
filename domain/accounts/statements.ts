import { rejection } from '../common/errors.ts';
import { formatDateTimeMs } from '../common/time/dates.ts';

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
  /** The entry's number in its account, without gaps. */
  readonly version: bigint;
  readonly transactionNumber: string;
  /** The transfer that the entry belongs to; null for other transactions. */
  readonly transferId: string | null;
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

/** The filters of a statement by date. */
export interface AskedRange {
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/**
 * The range of a statement (specification 4.5), in UTC months: the current month by default; with one bound, from the first
 * or to the last day of its month. Rejects a `from` after `to` (400).
 */
export function statementRange(asked: AskedRange, now: Date): StatementRange {
  const from = asked.from ?? monthStart(asked.to ?? now, 0);
  const to = asked.to ?? new Date(monthStart(asked.from ?? now, 1).getTime() - 1);
  if (from.getTime() <= to.getTime()) return { from, to };
  throw fromRejected(from, 'must not be after entryDateTimeTo');
}

/**
 * The range of a file. No entry can be added before `settledAt`, so a longer range ends with the last whole millisecond before
 * it, and the next file can begin where this one ends. Rejects a range in the future.
 */
export function exportRange(asked: AskedRange, settledAt: Date): StatementRange {
  const { from, to } = statementRange(asked, settledAt);
  const lastMs = settledAt.getTime() - 1;
  if (from.getTime() <= lastMs) return { from, to: new Date(Math.min(to.getTime(), lastMs)) };
  throw fromRejected(from, 'must be in the past');
}

/** A balance is known up to the present. */
export function requirePast(at: Date, now: Date): void {
  if (at.getTime() <= now.getTime()) return;
  throw rejection(
    'common.validation.field_invalid',
    ['balance', 'at', formatDateTimeMs(at)],
    'data.balance.at must not be in the future.',
  );
}

function fromRejected(from: Date, rule: string) {
  return rejection(
    'common.validation.field_invalid',
    ['accountStatement', 'entryDateTimeFrom', formatDateTimeMs(from)],
    `data.accountStatement.entryDateTimeFrom ${rule}.`,
  );
}

function monthStart(instant: Date, monthsLater: number): Date {
  return new Date(Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth() + monthsLater, 1));
}
