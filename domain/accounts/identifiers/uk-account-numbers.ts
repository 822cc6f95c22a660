/** An account in Britain as payments name it; the sort code is null if it was not sent. */
export interface UkAccountNumber {
  /** Eight digits. */
  readonly accountNumber: string;
  /** Six digits. */
  readonly sortCode: string | null;
}

export const UK_ACCOUNT_NUMBER_RULE =
  'A UK account number has eight digits; one of six or seven is filled with zeros. Send a longer one as the eight digits that the bank’s statement or IBAN shows, or beside its sort code where that is of Santander, NatWest or the Co-operative Bank.';

/**
 * Banks that number accounts otherwise, and the sort codes by which they can be told for certain, all of one bank: others
 * of theirs lie among those of banks that use their clearing.
 */
const SANTANDER = /^09(0\d|1\d)\d\d$/;
const CO_OPERATIVE = /^089\d\d\d$/;
const NATWEST = /^(01|5[0-9])\d{4}$|^60[0-2]\d\d\d$/;

/**
 * The account in standard form, by "Validating Account Numbers" of Pay.UK; null if it has none that is certain. A number
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
