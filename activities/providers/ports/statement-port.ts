import type { LocalDate } from '../../../domain/common/time/dates.ts';

/** A provider's statement of its pooled position (port.ts, `fetchStatement`). */
export interface StatementRequest {
  readonly currency: string;
  readonly from: Date;
  readonly to: Date;
  /** `next` of the previous page; absent for the first. */
  readonly after?: string | undefined;
}

export interface StatedDayRequest {
  readonly currency: string;
  readonly day: LocalDate;
}

export interface StatementPage {
  readonly entries: readonly StatementEntry[];
  /** Ids of entries that could not be read, or digests of those without an id. They hide no other entry. */
  readonly unreadable: readonly string[];
  /** Null on the last page. */
  readonly next: string | null;
}

export const STATEMENT_ENTRY_KINDS = [
  'payment-out',
  'payment-out-failed',
  'payment-out-returned',
  'payment-in',
  'payment-in-sent-back',
  'opening-balance',
] as const;
export type StatementEntryKind = (typeof STATEMENT_ENTRY_KINDS)[number];

export interface StatementEntry {
  readonly entryId: string;
  readonly bookedAt: Date;
  readonly kind: StatementEntryKind;
  /** As the pooled position sees it: `credit` is money that came in. */
  readonly direction: 'debit' | 'credit';
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly serviceProviderId: string;
  /** Our id of the transfer, for payments out and returned money, or of the account whose opening balance it is. */
  readonly ourReference: string | null;
  /** Our id of the account to which the entry was booked; null if the provider does not say. */
  readonly accountId: string | null;
}
