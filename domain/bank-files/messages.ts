import { plainLine } from '../common/texts/plain-line.ts';
import type { LocalDate } from '../common/time/dates.ts';

/** What a bank's file says, read and checked, in the order of the file. Reading it decides nothing. */
export type BankMessage = PaymentStatusReport | AccountReport | CancellationAnswer;

/** Every message has the bank's own id; a file is taken once by this and by its digest. */
interface MessageHead {
  /** Such as `pain.002.001.10`. */
  readonly version: string;
  readonly messageId: string;
  readonly createdAt: Date | null;
}

/** ISO 20022's status codes, as banks send them for a file, a batch or a payment. */
export interface StatedStatus {
  /** Such as ACCP, ACSC, RJCT, PART; null if this level states none. */
  readonly status: string | null;
  /** Such as AC04 or RVNM. Codes only: a bank's free text may contain personal data. */
  readonly reasons: readonly string[];
}

/** pain.002 */
export interface PaymentStatusReport extends MessageHead {
  readonly message: 'pain.002';
  readonly originalMessageId: string;
  readonly file: StatedStatus;
  readonly batches: readonly ReportedBatch[];
}

export interface ReportedBatch extends StatedStatus {
  readonly originalBatchId: string;
  readonly payments: readonly ReportedPayment[];
}

export interface ReportedPayment extends StatedStatus {
  /** `OrgnlInstrId` and `OrgnlEndToEndId`; null if the bank does not repeat them. At least one is there. */
  readonly instructionId: string | null;
  readonly paymentReference: string | null;
  /** The bank's own reference, `AcctSvcrRef`. */
  readonly bankReference: string | null;
  /** The payee check's close match (RVMC), the name that the payee's bank holds. Personal data. */
  readonly matchedName: string | null;
}

/** camt.054 (as it comes) and camt.053 (the day). */
export interface AccountReport extends MessageHead {
  readonly message: 'camt.053' | 'camt.054';
  readonly entries: readonly BookedEntry[];
  /** What the statements of a camt.053 cover, also without an entry. Absent in a camt.054. */
  readonly covered?: readonly StatedDay[];
}

export interface StatedDay {
  readonly account: string;
  readonly currency: string;
  readonly day: LocalDate;
  /** Balances of its statement; null if it does not say. */
  readonly openingMinor: bigint | null;
  readonly closingMinor: bigint | null;
}

/** One movement of money: an entry without details, or one of an entry's details. */
export interface BookedEntry {
  /**
   * The same in camt.054 and camt.053: the bank's reference of the entry and the place in it, or, from a bank that gives none, a digest of
   * all that both messages say of it.
   */
  readonly key: string;
  /** The account's IBAN or number. */
  readonly account: string;
  readonly direction: 'debit' | 'credit';
  /** In minor units, positive. */
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly bookedOn: LocalDate;
  /** Not booked yet (`PDNG`): news without money. */
  readonly isPending: boolean;
  readonly bankReference: string | null;
  /** Ours, if it is about a payment of ours. */
  readonly instructionId: string | null;
  readonly paymentReference: string | null;
  /** A payment of ours came back, or a booking was undone: `RtrInf` or a reversal; the reason's code, such as AC04. */
  readonly returnReason: string | null;
  readonly isReversal: boolean;
  /** Of a credit: who paid, and what for. Personal data. */
  readonly debtor: {
    readonly name: string | null;
    readonly iban: string | null;
    readonly accountNumber: string | null;
    readonly bic: string | null;
  };
  readonly creditorIban: string | null;
  readonly remittanceText: string | null;
  /** The bank's charges in the amount, as it states them: the payment's own amount is `amountMinor - chargesMinor`. Absent without any. */
  readonly chargesMinor?: bigint;
  /** The bank's reference of the entry that holds this one of its details: that of a batch, told as one sum by another message. Absent without one. */
  readonly entryReference?: string;
  /** Every text in which banks put a payment's reference, those above included. Absent without any. */
  readonly references?: readonly string[];
  /** A batch booked as one sum: how many payments it holds, and its batch's id; its details come with another message or not at all. */
  readonly batch: { readonly originalBatchId: string | null; readonly count: number | null } | null;
}

/** camt.029: the answer to a requested cancellation. */
export interface CancellationAnswer extends MessageHead {
  readonly message: 'camt.029';
  readonly answers: readonly {
    /** The `CxlId` of the request, or what names the payment. */
    readonly cancellationId: string | null;
    readonly instructionId: string | null;
    readonly paymentReference: string | null;
    /** `CNCL` and such (accepted), `RJCR` (rejected), `PDCR` (pending). */
    readonly status: string;
    readonly reasons: readonly string[];
  }[];
}

const PROBLEM_LENGTH_MAX = 500;

/**
 * A file that cannot be read as a message of a bank: it is set aside. The text names element and rule, and quotes nothing personal; as
 * it may quote the file, it is cleaned.
 */
export class UnreadableMessage extends Error {
  constructor(message: string) {
    super(plainLine(message, PROBLEM_LENGTH_MAX));
    this.name = 'UnreadableMessage';
  }
}
