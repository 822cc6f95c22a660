import type { LocalDate } from '../time/dates.ts';
import { checkDigits97, remainder97 } from './check-digits.ts';

/**
 * Numbers for people to read and type. Client and ledger numbers are a sequence number with two check digits by ISO 7064
 * mod 97-10, which detects every single wrong digit and every swap of neighbours. They contain only digits, so none is an
 * IBAN, and have different lengths, so neither is mistaken for the other.
 */
const CLIENT_NUMBER_LENGTH = 10;
const LEDGER_NUMBER_LENGTH = 12;

/** 10 digits. `sequence` comes from a database sequence that starts at 1. */
export function clientNumber(sequence: bigint): string {
  return withCheckDigits(sequence, CLIENT_NUMBER_LENGTH);
}

/** 12 digits. `sequence` comes from a database sequence that starts at 1. */
export function ledgerNumber(sequence: bigint): string {
  return withCheckDigits(sequence, LEDGER_NUMBER_LENGTH);
}

export function isClientNumber(text: string): boolean {
  return isNumber(text, CLIENT_NUMBER_LENGTH);
}

export function isLedgerNumber(text: string): boolean {
  return isNumber(text, LEDGER_NUMBER_LENGTH);
}

/**
 * The ledger numbers in a payer's reference, in order, without duplicates. Banks and people break them up with spaces, dots
 * and dashes.
 */
export function ledgerNumbersIn(reference: string): string[] {
  const found = new Set<string>();
  for (const [run] of reference.matchAll(/\d(?:[ .-]?\d)*/g)) {
    const parts = run.split(/\D/);
    // Try each part as a start: another number may come first ("invoice 17 0000 0000 0195").
    for (let start = 0; start < parts.length; start += 1) {
      let digits = '';
      for (let end = start; end < parts.length && digits.length < LEDGER_NUMBER_LENGTH; end += 1) digits += parts[end];
      if (isLedgerNumber(digits)) found.add(digits);
    }
  }
  return [...found];
}

function withCheckDigits(sequence: bigint, length: number): string {
  const digits = sequence.toString().padStart(length - 2, '0');
  if (sequence < 1n || digits.length !== length - 2) throw new RangeError(`sequence ${sequence} has no number`);
  return digits + checkDigits97(digits);
}

function isNumber(text: string, length: number): boolean {
  return text.length === length && /^\d+$/.test(text) && remainder97(text) === 1 && Number(text.slice(-2)) <= 98;
}

/**
 * The kind of transaction that a number identifies. Kinds never share a number, because their first characters differ.
 */
export type TransactionKind = 'outgoing-transfer' | 'incoming-transfer' | 'other';

const ALPHANUMERIC = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const FIRST_CHARACTERS: Readonly<Record<TransactionKind, string>> = {
  'outgoing-transfer': 'ABCDEFGHIJKL',
  'incoming-transfer': 'MNOPQRSTUVWX',
  other: 'YZ0123456789',
};
const CHARACTERS = 6;

/** `transactionNumber` takes 32 bits per character, which keeps all characters equally likely to one part in 10^8. */
export const TRANSACTION_NUMBER_BYTES = 4 * CHARACTERS;

/**
 * `YYYYMMDD-` and six characters (specification 1), drawn from `random`. Two draws on one day may collide: the caller's
 * unique index detects that, and the caller draws again.
 */
export function transactionNumber(kind: TransactionKind, date: LocalDate, random: Uint8Array): string {
  if (random.length < TRANSACTION_NUMBER_BYTES) throw new RangeError('a transaction number needs 24 random bytes');
  const view = new DataView(random.buffer, random.byteOffset, random.byteLength);
  let drawn = '';
  for (let index = 0; index < CHARACTERS; index += 1) {
    const alphabet = index === 0 ? FIRST_CHARACTERS[kind] : ALPHANUMERIC;
    drawn += alphabet.charAt(view.getUint32(4 * index) % alphabet.length);
  }
  return `${date.replaceAll('-', '')}-${drawn}`;
}

export function isTransactionNumber(text: string): boolean {
  return /^\d{8}-[0-9A-Z]{6}$/.test(text);
}

/** The kind that a number was drawn for. */
export function transactionKindOf(number: string): TransactionKind | null {
  if (!isTransactionNumber(number)) return null;
  const first = number.charAt(9);
  if (FIRST_CHARACTERS['outgoing-transfer'].includes(first)) return 'outgoing-transfer';
  return FIRST_CHARACTERS['incoming-transfer'].includes(first) ? 'incoming-transfer' : 'other';
}
