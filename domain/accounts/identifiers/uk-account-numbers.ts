/** An account in Britain as payments name it; the sort code is null if it was not sent. */
export interface UkAccountNumber {
  /** Eight digits. */
  readonly accountNumber: string;
  /** Six digits. */
  readonly sortCode: string | null;
}

export const UK_ACCOUNT_NUMBER_RULE =
  'A UK account number has eight digits; shorter numbers of six or seven digits are padded with zeros. Send a longer number as the eight digits on the bank’s statement or in the IBAN, or together with its sort code if the bank is Santander, NatWest or the Co-operative Bank.';

/**
 * Banks with account numbers of other lengths, and the sort codes that belong to one of them with certainty. Other codes
 * of theirs are shared with banks that use their clearing.
 */
const SANTANDER = /^09(0\d|1\d)\d\d$/;
const CO_OPERATIVE = /^089\d\d\d$/;
const NATWEST = /^(01|5[0-9])\d{4}$|^60[0-2]\d\d\d$/;

/**
 * The account in standard form, by "Validating Account Numbers" of Pay.UK; null if that is not certain. A number
 * of nine digits changes the sort code: its first digit is the last one of Santander's.
 */
export function ukAccountNumber(written: string, sortCode: string | null): UkAccountNumber | null {
  // NatWest prints its ten digits with a dash.
  const digits = written.replaceAll(' ', '').replace(/^(\d\d)-(\d{8})$/, '$1$2');
  if (/^\d{6,8}$/.test(digits)) return { accountNumber: digits.padStart(8, '0'), sortCode };
  if (sortCode === null || !/^\d{9,10}$/.test(digits)) return null;
  if (digits.length === 9) return SANTANDER.test(sortCode) ? ofSantander(digits, sortCode) : null;
  if (NATWEST.test(sortCode)) return { accountNumber: digits.slice(-8), sortCode };
  return CO_OPERATIVE.test(sortCode) ? { accountNumber: digits.slice(0, 8), sortCode } : null;
}

/** A sort code that already has another last digit contradicts the number. */
function ofSantander(digits: string, sortCode: string): UkAccountNumber | null {
  const first = digits.slice(0, 1);
  if (!sortCode.endsWith('0') && !sortCode.endsWith(first)) return null;
  return { accountNumber: digits.slice(1), sortCode: sortCode.slice(0, -1) + first };
}
