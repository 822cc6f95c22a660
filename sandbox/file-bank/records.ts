/** What a bank that takes files keeps in the books next to the payments themselves. */
export interface FileBooks {
  readonly fileCustomers: FileCustomer;
  readonly receivedFiles: ReceivedFile;
  readonly instructions: Instruction;
  readonly bookings: Booking;
  readonly notices: Notice;
  readonly messagesDue: OutgoingMessage;
  readonly messagesOut: OutgoingMessage;
  readonly accountStatements: AccountStatement;
}

/** How the bank answers a customer; a field means what its name says, and docs/sandbox.md lists the values. */
export interface CustomerSettings {
  /** IBANs or account numbers that the customer may debit; none: any. */
  readonly accounts: readonly string[];
  /** What pain.002 tells: rejections only, acceptances too, or also that a payment is completed. */
  readonly statusReports: (typeof STATUS_REPORTS)[number];
  /** Whether movements are told as they come, by camt.054; the day's camt.053 always comes. */
  readonly notifications: boolean;
  readonly batchBooking: (typeof BATCH_BOOKINGS)[number];
  readonly payeeCheck: (typeof PAYEE_CHECKS)[number];
  /** The version of camt.053 and camt.054; pain.002 follows the version of the pain.001. */
  readonly camtVersion: (typeof CAMT_VERSIONS)[number];
  /** How files are sealed (OpenPGP), both ways. */
  readonly pgp: (typeof PGP_FORMS)[number];
  /** The customer's public key, armored; empty without. */
  readonly pgpKey: string;
  /** Which of its keys the bank signs with. It opens files for either. */
  readonly bankKey: (typeof BANK_KEYS)[number];
}

export const STATUS_REPORTS = ['rejections', 'acceptances', 'completions'] as const;
/** Payments booked one by one, or a batch as one sum: with its details, with them in another message, or without. */
export const BATCH_BOOKINGS = ['single', 'with-details', 'details-apart', 'without-details'] as const;
/** Not made; made for files of one payment only; or made for all. What does not match waits until it is confirmed at the bank. */
export const PAYEE_CHECKS = ['none', 'opted-out', 'confirmed'] as const;
export const CAMT_VERSIONS = ['02', '08'] as const;
export const PGP_FORMS = ['none', 'signed', 'encrypted', 'signed-and-encrypted'] as const;
export const BANK_KEYS = ['present', 'next'] as const;

export const USUAL_SETTINGS: CustomerSettings = {
  accounts: [],
  statusReports: 'completions',
  notifications: true,
  batchBooking: 'single',
  payeeCheck: 'none',
  camtVersion: '08',
  pgp: 'none',
  pgpKey: '',
  bankKey: 'present',
};

/** docs/sandbox.md is printed from them. */
export const SETTING_VALUES = {
  accounts: { means: 'the IBANs and account numbers that it may debit, none for any', values: ['[]'] },
  statusReports: { means: 'what pain.002 tells', values: STATUS_REPORTS },
  notifications: { means: 'whether camt.054 comes; camt.053 always does', values: ['true', 'false'] },
  batchBooking: { means: 'how a `PmtInf` is booked, whatever its `BtchBookg` says', values: BATCH_BOOKINGS },
  payeeCheck: { means: 'which euro payments are checked: no, files of one, all', values: PAYEE_CHECKS },
  camtVersion: { means: 'of camt.053 and camt.054', values: CAMT_VERSIONS },
  pgp: { means: 'how files are sealed both ways (OpenPGP, armored)', values: PGP_FORMS },
  pgpKey: { means: 'the customer’s public key, armored', values: [''] },
  bankKey: { means: 'which of its keys the bank signs with; it opens files for either', values: BANK_KEYS },
} as const satisfies Record<keyof CustomerSettings, unknown>;

/** Its key is the name, by which the customer signs in and its folder is called. */
export interface FileCustomer {
  readonly name: string;
  readonly settings: CustomerSettings;
}

/** A file that the bank has found in a customer's folder. */
export interface ReceivedFile {
  readonly id: string;
  readonly customer: string;
  readonly fileName: string;
  readonly digest: string;
  readonly receivedAt: string;
  /** Of the message; null in a file that cannot be read so far. */
  readonly version: string | null;
  readonly messageId: string | null;
  /** As the file has them. */
  readonly count: string | null;
  readonly controlSum: string | null;
  /** `reading`: begun, and continued after a restart. */
  readonly outcome: 'reading' | 'taken' | 'duplicate' | 'rejected';
  readonly code: string | null;
  readonly problem: string | null;
  readonly isArchived: boolean;
}

/** The answer of the payee's bank. */
export interface PayeeCheck {
  readonly answer: 'RCVC' | 'RVMC' | 'RVNM' | 'RVNA';
  /** Of a close match. */
  readonly matchedName: string | null;
}

/** The place of a payment in the customer's files. */
export interface InstructionPlace {
  readonly customer: string;
  readonly fileId: string;
  readonly messageId: string;
  readonly version: string;
  readonly batchId: string;
  readonly instructionId: string | null;
  readonly endToEndId: string;
}

/** A payment as it was instructed latest. Its key is `ourReference`, which is also that of the payment in the books. */
export interface Instruction extends InstructionPlace {
  readonly ourReference: string;
  readonly account: string;
  readonly currency: string;
  readonly amount: string;
  readonly scheme: string;
  readonly debtorName: string;
  readonly creditor: {
    readonly name: string;
    readonly country: string | null;
    readonly iban: string | null;
    readonly accountNumber: string | null;
    readonly routingCodes: Readonly<Record<string, string>>;
  };
  readonly remittanceText: string;
  readonly executionDate: string;
  readonly attempt: number;
  /** What it waits for; null: nothing, it is submitted or about to be. */
  readonly hold: 'payee-check' | 'execution-date' | 'cancelled' | null;
  readonly payeeCheck: PayeeCheck | null;
}

/** A movement on a customer's account. `sequence` counts from 1 within an account without a gap. */
export interface Booking {
  readonly id: string;
  readonly customer: string;
  readonly account: string;
  readonly currency: string;
  readonly sequence: number;
  readonly bookedAt: string;
  readonly kind: 'payment-out' | 'payment-out-failed' | 'payment-out-returned' | 'payment-in' | 'payment-in-sent-back';
  readonly direction: 'debit' | 'credit';
  readonly amountMinor: bigint;
  /** The account's balance after it. */
  readonly balanceMinor: bigint;
  /** Shared by the bookings of a batch that is booked as one sum. */
  readonly entryReference: string;
  readonly bankReference: string;
  readonly isOfBatch: boolean;
  readonly place: InstructionPlace | null;
  readonly returnCode: string | null;
  /** Of money that goes back: the bank's reference of the booking by which it came. */
  readonly originalReference?: string;
  /** The other side: the payee of a debit, the payer of a credit. */
  readonly party: { readonly name: string | null; readonly account: string | null; readonly bic: string | null };
  readonly remittanceText: string | null;
}

/** Something to tell the customer, in the next message of its kind once it is due. */
export type Notice = {
  readonly id: string;
  readonly customer: string;
  readonly dueAtMs: number;
  /** The file that must have been read to its end before; null: none. */
  readonly fileId: string | null;
  /** News of different rounds never stand in one message. */
  readonly round: number;
} & (StatusNotice | FileNotice | EntryNotice | CancellationNotice);

/** For a pain.002. */
export interface StatusNotice {
  readonly kind: 'status';
  readonly place: InstructionPlace;
  readonly status: string;
  readonly reasons: readonly string[];
  readonly additional: string | null;
  readonly bankReference: string | null;
}

/** For a pain.002 about a whole file that was rejected. */
export interface FileNotice {
  readonly kind: 'file';
  readonly code: string;
  readonly problem: string;
}

/** For a camt.054. */
export interface EntryNotice {
  readonly kind: 'entry';
  readonly account: string;
  readonly currency: string;
  readonly entryReference: string;
  readonly hasDetails: boolean;
}

/** For a camt.029. */
export interface CancellationNotice {
  readonly kind: 'cancellation';
  readonly cancellationId: string | null;
  /** Of the payment, as the request names it or as the bank knows it. */
  readonly place: {
    readonly messageId: string;
    readonly version: string;
    readonly batchId: string;
    readonly instructionId: string | null;
    readonly endToEndId: string | null;
  };
  readonly isAccepted: boolean;
  readonly reason: string | null;
}

/** A message for a customer. It is written from here, and the same bytes again after a crash. */
export interface OutgoingMessage {
  readonly id: string;
  readonly customer: string;
  readonly version: string;
  readonly fileName: string;
  readonly createdAt: string;
  readonly content: string;
  /** What lies in the customer's folder in its place; made once, as it is another each time. */
  readonly sealed?: string;
}

/** What a camt.053 told last of an account. Its key is the id. */
export interface AccountStatement {
  readonly id: string;
  readonly customer: string;
  readonly account: string;
  readonly currency: string;
  readonly date: string;
  /** From 1 within an account. */
  readonly number: number;
  readonly toSequence: number;
  readonly closingMinor: bigint;
}
