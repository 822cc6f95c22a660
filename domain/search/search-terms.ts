import { accountNumberForms } from '../accounts/account-numbers.ts';
import { isIban, normalIban } from '../accounts/identifiers/ibans.ts';
import { CURRENCIES, type Currency, isCurrency, parseAmountMinor } from '../common/money.ts';
import { isClientNumber, isLedgerNumber, isTransactionNumber } from '../common/numbers/numbers.ts';
import { emailKey, isEmail } from '../common/parties/emails.ts';
import { parseWrittenId } from '../common/payment-references.ts';
import { isDate, type LocalDate } from '../common/time/dates.ts';

/** What a text that a person searches for may be, with its value as the rows store it. */
export type SearchTerm =
  | { readonly by: 'id' | 'transaction-number' | 'ledger-number' | 'client-number'; readonly value: string }
  | { readonly by: 'iban' | 'email' | 'reference' | 'name'; readonly value: string }
  /** As accounts of any country store it, and as sterling accounts in Britain do. */
  | { readonly by: 'account-number'; readonly value: string; readonly sterling: string }
  | { readonly by: 'amount'; readonly amounts: readonly Amount[]; readonly date: LocalDate };

export interface Amount {
  readonly currency: Currency;
  readonly amountMinor: bigint;
}

export type SearchBy = SearchTerm['by'];

/** Terms of which a row has exactly the value: one look-up in an index each. */
export function isExact({ by }: { readonly by: string }): boolean {
  return by !== 'name' && by !== 'amount';
}

const REFERENCE_LENGTH_MAX = 140;
const NAME_LETTERS_MIN = 2;

/** Everything that the text may be; empty if nothing can be found by it. */
export function searchTermsOf(text: string): SearchTerm[] {
  const written = text.trim();
  const amount = amountAndDate(written);
  if (amount !== null) return [amount];
  if (isEmail(written)) return [{ by: 'email', value: emailKey(written) }];
  const id = parseWrittenId(written);
  const number = written.toUpperCase();
  const iban = normalIban(written);
  const digits = accountNumberForms(written);
  const terms: (SearchTerm | false)[] = [
    id !== null && { by: 'id', value: id },
    isTransactionNumber(number) && { by: 'transaction-number', value: number },
    isLedgerNumber(written) && { by: 'ledger-number', value: written },
    isClientNumber(written) && { by: 'client-number', value: written },
    isIban(iban) && { by: 'iban', value: iban },
    id === null &&
      ACCOUNT_NUMBER.test(written) && {
        by: 'account-number',
        value: digits.accountNumber ?? written,
        sterling: digits.sterlingAccountNumber ?? written,
      },
    written !== '' && written.length <= REFERENCE_LENGTH_MAX && { by: 'reference', value: written },
    isName(written) && { by: 'name', value: written },
  ];
  return terms.filter((term) => term !== false);
}

const ACCOUNT_NUMBER = /^[0-9][0-9A-Z -]{3,33}$/i;

function isName(text: string): boolean {
  return !/\d/.test(text) && (text.match(/\p{L}/gu) ?? []).length >= NAME_LETTERS_MIN;
}

/** `1250.00 2026-11-24`, in either order, with or without a currency; null for any other text. */
function amountAndDate(text: string): SearchTerm | null {
  const words = text.split(/\s+/);
  const [date, ...otherDates] = words.filter((word) => isDate(word));
  const [currency, ...otherCurrencies] = words.filter(isCurrency);
  const [digits, ...others] = words.filter((word) => !isDate(word) && !isCurrency(word));
  if (date === undefined || digits === undefined) return null;
  if (otherDates.length + otherCurrencies.length + others.length > 0) return null;
  const amounts = (currency === undefined ? CURRENCIES : [currency]).flatMap((code) => {
    const amountMinor = parseAmountMinor(digits, code);
    return typeof amountMinor === 'bigint' ? [{ currency: code, amountMinor }] : [];
  });
  return amounts.length === 0 ? null : { by: 'amount', amounts, date };
}
