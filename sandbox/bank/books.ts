import type { PartyAccount } from '../../domain/incoming-transfers/incoming-transfers.ts';
import type { FileBooks } from '../file-bank/records.ts';

/** The bank's data: one row type per table, those of files only at a bank that takes them. Every field whose name ends in `Minor` is a bigint. */
export interface Books extends FileBooks {
  readonly clients: Client;
  readonly existingClients: ExistingClient;
  readonly existingBeneficiaries: ExistingBeneficiary;
  readonly existingAccounts: ExistingAccount;
  readonly accounts: Account;
  readonly accountChanges: AccountChange;
  readonly payments: Payment;
  readonly paymentsIn: PaymentIn;
  readonly entries: Entry;
  readonly timers: Timer;
  readonly callbacks: Callback;
}

export type TableName = keyof Books;

export interface Rejection {
  readonly category: 'functional' | 'technical';
  readonly origin: 'customer' | 'platform' | 'provider';
  readonly code: string;
  readonly message: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** The key of clients, accounts and payments is the customer's own reference. */
export interface Client {
  readonly ourReference: string;
  readonly reference: string;
  readonly fullName: string;
  /** Absent in rows of older journals. */
  readonly identityType?: 'individual' | 'corporate';
}

/** As the bank knows it; null means that the bank does not know it. */
export interface ExistingIdentity {
  readonly type: string | null;
  readonly givenName: string | null;
  readonly familyName: string | null;
  readonly legalName: string | null;
  readonly birthDate: string | null;
  readonly incorporationDate: string | null;
  readonly corporationType: string | null;
  readonly country: string | null;
  readonly identifications: readonly {
    readonly type: string | null;
    readonly identificationNumber: string | null;
    readonly issuingCountry: string | null;
    readonly issueDate: string | null;
    readonly expirationDate: string | null;
  }[];
}

export interface ExistingAddress {
  readonly country: string | null;
  readonly region: string | null;
  readonly city: string | null;
  readonly street: string | null;
  readonly houseNumber: string | null;
  readonly postalCode: string | null;
  readonly refinement: string | null;
}

interface ExistingContact {
  readonly address: ExistingAddress | null;
  readonly phone: string | null;
  readonly email: string | null;
}

/** A client that the bank had before the service existed. Its key is `sourceId`. */
export interface ExistingClient extends ExistingContact {
  readonly sourceId: string;
  readonly reference: string;
  readonly status: 'open' | 'closed';
  readonly identity: ExistingIdentity;
  readonly relations: readonly (ExistingContact & {
    readonly relation: string | null;
    readonly identity: ExistingIdentity;
  })[];
}

/** A payee of a client of the bank. Its key is `sourceId`. */
export interface ExistingBeneficiary extends ExistingContact {
  readonly sourceId: string;
  readonly reference: string;
  readonly clientReference: string;
  readonly identity: ExistingIdentity | null;
  readonly fullName: string | null;
  readonly title: string | null;
  readonly bankAccounts: readonly {
    readonly accountHolderName: string | null;
    readonly accountHolderType: string | null;
    readonly bankName: string | null;
    readonly alias: string | null;
    readonly country: string | null;
    readonly currency: string | null;
    readonly accountNumber: string | null;
    readonly iban: string | null;
    readonly routingCodes: Readonly<Record<string, string>>;
  }[];
}

export interface Identifiers {
  readonly iban: string | null;
  readonly accountNumber: string | null;
  readonly routingCodes: Readonly<Record<string, string>>;
}

/** An account that the bank had before the service existed. Its key is `sourceId`. */
export interface ExistingAccount {
  readonly sourceId: string;
  readonly reference: string;
  readonly clientReference: string;
  readonly status: 'open' | 'closed';
  readonly currency: string;
  readonly country: string;
  /** Outside the pooled position until the account is handed over; from then on the balance at that instant. */
  readonly balanceMinor: bigint;
  readonly identifiers: Identifiers;
  /** The customer's reference, once the account is handed over. */
  readonly ourReference: string | null;
}

export interface Account {
  readonly ourReference: string;
  readonly reference: string;
  readonly clientReference: string;
  readonly accountHolderName: string;
  readonly alias: string;
  readonly currency: string;
  readonly country: string;
  readonly status: 'opening' | 'open' | 'rejected' | 'closed';
  /** How often the bank changed its status on its own; absent: never. */
  readonly moves?: number;
  /** Absent: the bank opened it for the service. */
  readonly openingMinor?: bigint;
  readonly identifiers: Identifiers | null;
  readonly error: Rejection | null;
}

/** Its key is `changeKey`. */
export interface AccountChange {
  readonly ourReference: string;
  readonly changeReference: string;
  readonly kind: 'close' | 'alias';
  readonly alias: string | null;
  readonly status: 'accepted' | 'changed' | 'rejected';
  readonly error: Rejection | null;
}

export function changeKey(change: { ourReference: string; changeReference: string }): string {
  return `${change.ourReference} ${change.changeReference}`;
}

export interface Party extends Identifiers {
  readonly name: string;
  readonly country: string | null;
}

export type PaymentStatus = 'announced' | 'accepted' | 'released' | 'completed' | 'rejected' | 'failed' | 'returned';

/** `announced`: seen, answered with 503, and not processed. No answer shows such a payment. */
export interface Payment {
  readonly ourReference: string;
  /** The customer's end-to-end identification; absent or null: it gave none. */
  readonly endToEndId?: string | null;
  readonly paymentId: string;
  readonly paymentReference: string;
  readonly status: PaymentStatus;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly scheme: string;
  readonly debtor: Party & { readonly accountId: string };
  readonly creditor: Party;
  readonly remittanceText: string;
  /** The payment in that it returns, all or a part of it; absent: none. */
  readonly returnOf?: { readonly paymentId: string; readonly code: string };
  readonly submissions: number;
  /** The latest decided attempt, and how many were rejected. Absent in rows from before rejections could be retried. */
  readonly attempt?: number;
  readonly rejections?: number;
  readonly createdAt: string;
  readonly code: string | null;
  readonly error: Rejection | null;
  /** Oldest first. Rows from before returns in parts have the next two fields instead. */
  readonly returns?: readonly CreditorReturn[];
  readonly returnReference?: string | null;
  readonly returnedMinor?: bigint | null;
  /** The latest recall; absent: none. */
  readonly recall?: Recall;
}

export interface CreditorReturn {
  readonly returnReference: string;
  readonly amountMinor: bigint;
  readonly code: string;
}

export interface Recall {
  readonly recallReference: string;
  readonly status: 'asked' | 'accepted' | 'rejected';
  readonly code: string | null;
}

export interface PaymentIn {
  readonly paymentId: string;
  readonly paymentReference: string;
  /** `held`: in the pooled position, but not yet available to the customer. */
  readonly status: 'held' | 'booked' | 'sent-back';
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly scheme: string;
  readonly senderName: string | null;
  readonly senderAccount: PartyAccount | null;
  readonly receiver: Identifiers;
  readonly reference: string | null;
  readonly createdAt: string;
  readonly sentBack: { readonly ourReference: string; readonly reference: string; readonly code: string } | null;
  /** Our references of the payments out that return it; absent: none. */
  readonly returns?: readonly string[];
}

export type EntryKind =
  | 'payment-out'
  | 'payment-out-failed'
  | 'payment-out-returned'
  | 'payment-in'
  | 'payment-in-sent-back'
  | 'opening-balance';

/** One movement of the pooled position. Its key is `entryId`; `sequence` counts from 1 without a gap. */
export interface Entry {
  readonly entryId: string;
  readonly sequence: number;
  readonly bookedAt: string;
  readonly kind: EntryKind;
  readonly amountMinor: bigint;
  readonly currency: string;
  /** The currency's pooled position after it. */
  readonly positionMinor: bigint;
  readonly paymentId: string;
  readonly ourReference: string | null;
  /** Absent or null: none is known. */
  readonly endToEndId?: string | null;
  /** Keys that find the customer's account in a statement: our reference, IBAN, account number. */
  readonly account: readonly string[];
}

export function isCredit(kind: EntryKind): boolean {
  return kind !== 'payment-out' && kind !== 'payment-in-sent-back';
}

/** An action that the bank later takes on its own. */
export interface Timer {
  readonly id: string;
  readonly dueAtMs: number;
  readonly action:
    | 'open-account'
    | 'finish-change'
    | 'complete'
    | 'complete-silently'
    | 'complete-and-tell-twice'
    | 'fail'
    | 'return'
    | 'accept-recall'
    | 'accept-recall-silently'
    | 'reject-recall';
  readonly key: string;
}

export interface Callback {
  readonly id: string;
  /** Callbacks about one subject go out in order. */
  readonly line: string;
  /** Remaining deliveries. */
  readonly copies: number;
  /** The signed body, identical in every attempt. */
  readonly body: string;
}

/** Rows to write and keys to delete, atomically. */
export interface Change {
  readonly put?: { readonly [Name in TableName]?: readonly Books[Name][] };
  readonly remove?: { readonly [Name in TableName]?: readonly string[] };
}
