import type { LocalDate } from '../common/time/dates.ts';

/**
 * A bank's statement as in its file: every amount with its role, every control figure, every reference with its element. Reading it
 * decides nothing; the comparison does. A file is a sequence of items in file order: `statement`, then for each of its entries
 * `entry`, its `transaction`s and `entry-end`, then `statement-end`. So memory never holds more than one item of each kind.
 */
export type StatementItem = StatementHeader | StatementEntry | StatementTransaction | StatementEntryEnd | StatementEnd;

export type EntryDirection = 'debit' | 'credit';

/** In minor units of its currency, not negative. */
export interface Money {
  readonly amountMinor: bigint;
  readonly currency: string;
}

/** ISO 20022's elements for amounts: of the entry (`Amt`), and inside `AmtDtls` and `Amt` of a transaction. */
export type AmountRole =
  | 'amount'
  | 'transaction'
  | 'instructed'
  | 'counter-value'
  | 'announced-posting'
  | 'proprietary';

export interface RoledAmount extends Money {
  readonly role: AmountRole;
}

/** `place` is the ISO 20022 element with the reference: `EndToEndId`, `AcctSvcrRef`, `RmtInf/Strd/CdtrRefInf/Ref` … */
export interface PlacedReference {
  readonly place: string;
  readonly value: string;
}

export interface Charge extends Money {
  readonly direction: EntryDirection | null;
  /** The entry's amount contains it (`ChrgInclInd`); null if the file does not say. */
  readonly included: boolean | null;
}

/** A balance of the account. `code` is ISO 20022's: `OPBD`, `CLBD`, `PRCD`, `ITBD` … or the bank's own. */
export interface StatedBalance extends Money {
  readonly code: string;
  readonly direction: EntryDirection;
  readonly date: LocalDate | null;
}

/** The count and sum that a summary or a batch states for entries; null if it does not. */
export interface StatedTotal {
  readonly count: number | null;
  /** The decimal number as text: the file states no currency for a sum of entries. */
  readonly sum: string | null;
}

export interface StatementHeader {
  readonly item: 'statement';
  /** From 1, in the file. */
  readonly number: number;
  readonly id: string | null;
  /** An IBAN or the bank's own number, without spaces; null if the file does not say. */
  readonly account: string | null;
  /** Of the account; null if the file does not say. */
  readonly currency: string | null;
  /** The period of the statement (`FrToDt`), which is the only date of one without entries. A time without a zone is in UTC; null if the file does not say. */
  readonly period: { readonly from: Date | null; readonly to: Date | null };
  readonly balances: readonly StatedBalance[];
  readonly summary: {
    readonly all: StatedTotal & { readonly net: string | null; readonly direction: EntryDirection | null };
    readonly credits: StatedTotal;
    readonly debits: StatedTotal;
  };
}

/** The marks of an entry or a transaction that reverses an earlier one. */
export interface ReversalMarks {
  /** `RvslInd`, in entries only. */
  readonly reversalIndicator: boolean | null;
  /** Has `RtrInf`. */
  readonly returnInformation: boolean;
  readonly returnReason: string | null;
  /** Domain, family and sub-family, as `PMNT/ICDT/RRTN`; null without. */
  readonly bankTransactionCode: string | null;
  /** The bank's own code, null without. */
  readonly proprietaryCode: string | null;
}

export interface StatementEntry extends Money, ReversalMarks {
  readonly item: 'entry';
  /** From 1, in the file: no two banks number entries in the same way. */
  readonly number: number;
  /** The number of its statement. */
  readonly statement: number;
  readonly direction: EntryDirection;
  /** `BOOK`, `PDNG`, `INFO` or `FUTR`. */
  readonly status: string;
  /** In UTC; a date without a time means its midnight. Null for an entry that is not booked and has no date. */
  readonly bookedAt: Date | null;
  readonly amounts: readonly RoledAmount[];
  readonly charges: readonly Charge[];
  /** The stated totals of charges (`TtlChrgsAndTaxAmt`), one per `Chrgs` with a total. */
  readonly chargeTotals: readonly Money[];
  readonly references: readonly PlacedReference[];
}

/** One `TxDtls`. */
export interface StatementTransaction extends ReversalMarks {
  readonly item: 'transaction';
  readonly entry: number;
  /** From 1, in the entry. */
  readonly number: number;
  /** From 1: the `NtryDtls` that holds it. */
  readonly batch: number;
  /** Its own; null means the entry's. */
  readonly direction: EntryDirection | null;
  /** As the file has them, in order; empty if it has none. */
  readonly amounts: readonly RoledAmount[];
  readonly charges: readonly Charge[];
  readonly chargeTotals: readonly Money[];
  readonly references: readonly PlacedReference[];
}

/** `Btch` of one `NtryDtls`. */
export interface StatedBatch {
  /** From 1. */
  readonly batch: number;
  readonly count: number | null;
  readonly total: Money | null;
  readonly direction: EntryDirection | null;
  readonly references: readonly PlacedReference[];
}

export interface StatementEntryEnd {
  readonly item: 'entry-end';
  readonly entry: number;
  readonly transactions: number;
  readonly batches: readonly StatedBatch[];
  /** References that follow the transactions in the file: `AddtlNtryInf`. */
  readonly references: readonly PlacedReference[];
}

export interface StatementEnd {
  readonly item: 'statement-end';
  readonly statement: number;
  readonly entries: number;
}
