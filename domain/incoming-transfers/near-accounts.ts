import type { AccountStatus } from '../accounts/accounts.ts';

/** An account that shares an IBAN, an account number or a ledger number with money that matched no account. */
export interface NearAccount {
  readonly id: string;
  readonly mainAccountId: string | null;
  readonly status: AccountStatus;
  readonly provider: string;
  readonly currency: string;
  readonly iban: string | null;
  readonly accountNumber: string | null;
  readonly routingCodes: Readonly<Record<string, string>> | null;
  readonly ledgerNumber: string;
}

/** The receiver as the payer's bank gave it, in the form in which accounts store it. */
export interface UnmatchedReceiver {
  readonly provider: string;
  readonly currency: string;
  readonly iban: string | null;
  readonly accountNumber: string | null;
  readonly routingCodes: Readonly<Record<string, string>>;
  readonly ledgerNumbers: readonly string[];
}

/** What the account has in common with the money, and why it was not chosen; in the order of the matching (chooseReceiver). */
export function whyNotChosen(account: NearAccount, money: UnmatchedReceiver, near: readonly NearAccount[]): string {
  return `has the ${commonOf(account, money)}, but ${differenceOf(account, money, near)}`;
}

/** `IBAN of the payment`. */
export function commonOf(account: NearAccount, money: UnmatchedReceiver): string {
  if (hasItsIban(account, money)) return 'IBAN of the payment';
  return money.ledgerNumbers.includes(account.ledgerNumber)
    ? 'ledger number in the payment’s reference'
    : 'account number of the payment';
}

function hasItsIban({ iban }: NearAccount, money: UnmatchedReceiver): boolean {
  return iban !== null && iban === money.iban;
}

/** `is closed, and was so when the money arrived.` */
export function differenceOf(account: NearAccount, money: UnmatchedReceiver, near: readonly NearAccount[]): string {
  const { provider, currency, mainAccountId, status, ledgerNumber } = account;
  if (provider !== money.provider) return `is an account of ${provider}, and the money is at ${money.provider}.`;
  if (currency !== money.currency) return `holds ${currency}, and the money is ${money.currency}.`;
  if (money.ledgerNumbers.includes(ledgerNumber)) {
    return near.some((other) => other.id !== account.id && money.ledgerNumbers.includes(other.ledgerNumber))
      ? 'the reference has the ledger numbers of several accounts.'
      : 'the payment’s bank details are those of another account.';
  }
  if (mainAccountId !== null) return 'is a sub-account, and the reference lacks its ledger number.';
  const codes = routingDifference(account, money);
  if (codes !== null && !hasItsIban(account, money)) return codes;
  if (near.some((other) => other.id !== account.id && sharesDetails(account, other))) {
    return 'shares it with another account, and the reference has no ledger number to tell them apart.';
  }
  return status === 'active'
    ? 'did not have it, or was not open, when the money arrived.'
    : `is ${status}, and was so when the money arrived.`;
}

/** Null if one code agrees and none contradicts. A BIC has two spellings, so it contradicts nothing. */
function routingDifference({ routingCodes }: NearAccount, money: UnmatchedReceiver): string | null {
  const given = Object.entries(money.routingCodes);
  const other = given.find(([kind, code]) => kind !== 'bic' && (routingCodes?.[kind] ?? code) !== code);
  if (other !== undefined) {
    const [kind, code] = other;
    return `has the ${kind} ${routingCodes?.[kind]}, and the payment says ${code}.`;
  }
  if (given.some(([kind, code]) => routingCodes?.[kind] === code)) return null;
  return 'the payment has no routing code of it.';
}

function sharesDetails(one: NearAccount, other: NearAccount): boolean {
  return (
    one.provider === other.provider && one.currency === other.currency && one.accountNumber === other.accountNumber
  );
}
