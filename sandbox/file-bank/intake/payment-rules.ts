import { isIban } from '../../../domain/accounts/identifiers/ibans.ts';
import { isCurrency, parseAmountMinor } from '../../../domain/common/money.ts';
import type { FileBatch, FilePayment, PaymentFile } from '../messages/payment-file.ts';
import type { CustomerSettings } from '../records.ts';

/** The bank's own rules, next to ISO's schema: a reason of ISO 20022 and what is wrong. */
export interface RuleBreach {
  readonly code: string;
  readonly problem: string;
}

/** Why the file as a whole is rejected; null: it is not. */
export function fileBreach(file: PaymentFile): RuleBreach | null {
  const payments = file.batches.flatMap((batch) => batch.payments);
  return (
    countBreach('GrpHdr', file.count, payments) ??
    sumBreach('GrpHdr', file.controlSum, payments) ??
    file.batches
      .map(({ id, count, controlSum, payments: own }) => countBreach(id, count, own) ?? sumBreach(id, controlSum, own))
      .find((breach) => breach !== null) ??
    null
  );
}

function countBreach(where: string, count: string | null, payments: readonly FilePayment[]): RuleBreach | null {
  if (count === null || Number(count) === payments.length) return null;
  return { code: 'AM18', problem: `${where}: NbOfTxs is ${count}, and there are ${payments.length}.` };
}

function sumBreach(where: string, controlSum: string | null, payments: readonly FilePayment[]): RuleBreach | null {
  if (controlSum === null) return null;
  const sum = payments.reduce((total, { amount }) => total + thousandths(amount ?? '0'), 0n);
  return thousandths(controlSum) === sum
    ? null
    : { code: 'AM10', problem: `${where}: CtrlSum is not the sum of the amounts.` };
}

/** No currency has more decimals than three; what ISO allows beyond them is cut off. */
function thousandths(amount: string): bigint {
  const [whole = '0', decimals = ''] = amount.replace('+', '').split('.');
  return BigInt(whole === '' ? '0' : whole) * 1_000n + BigInt(decimals.padEnd(3, '0').slice(0, 3));
}

/** Why one payment is rejected; null: it is not. */
export function paymentBreach(
  payment: FilePayment,
  { account }: FileBatch,
  { accounts }: CustomerSettings,
  version: string,
): RuleBreach | null {
  if (accounts.length > 0 && !accounts.includes(account)) {
    return { code: 'AC02', problem: 'The customer has no such account.' };
  }
  return moneyBreach(payment) ?? creditorBreach(payment) ?? addressBreach(payment, version);
}

function moneyBreach({ amount, currency, endToEndId }: FilePayment): RuleBreach | null {
  if (['', 'NOTPROVIDED'].includes(endToEndId)) return { code: 'RF01', problem: 'EndToEndId must name the payment.' };
  if (!isCurrency(currency)) return { code: 'AM03', problem: 'The bank has no account in the currency.' };
  if (amount === null || typeof parseAmountMinor(amount, currency) !== 'bigint') {
    return { code: 'AM12', problem: 'InstdAmt must be an amount of its currency above zero.' };
  }
  return null;
}

function creditorBreach({ creditorName, iban, accountNumber, member, bic }: FilePayment): RuleBreach | null {
  if ((creditorName ?? '').trim() === '') return { code: 'BE22', problem: 'Cdtr/Nm is missing.' };
  if (iban !== null) return isIban(iban) ? null : { code: 'AC01', problem: 'The IBAN has wrong check digits.' };
  if (accountNumber === null) return { code: 'AC01', problem: 'CdtrAcct is missing.' };
  if (member === null && bic === null)
    return { code: 'RC01', problem: 'CdtrAgt must name the bank of the account number.' };
  return null;
}

/** Since November 2026 an address has town and country in elements of their own. */
function addressBreach({ address }: FilePayment, version: string): RuleBreach | null {
  if (address === null || version === 'pain.001.001.03') return null;
  if (address.town !== null && address.country !== null) return null;
  return { code: 'BE04', problem: 'An address needs TwnNm and Ctry.' };
}

/** The scheme of a payment, by its currency and what the file says of service and instrument. */
export function schemeOf({ currency, serviceLevel, localInstrument }: FilePayment): string {
  const isUrgent = serviceLevel === 'URGP';
  if (currency === 'EUR') {
    if (serviceLevel === 'SEPA') return localInstrument === 'INST' ? 'sepa-instant' : 'sepa';
    return isUrgent ? 'target2' : 'swift';
  }
  if (currency === 'GBP')
    return isUrgent ? 'chaps' : serviceLevel === null || serviceLevel === 'URNS' ? 'faster-payments' : 'swift';
  return 'swift';
}

/** The kind under which the bank's books have a number in a clearing system. */
const MEMBER_KINDS: Readonly<Record<string, string>> = {
  GBDSC: 'sort-code',
  USABA: 'aba',
  INFSC: 'ifsc',
  AUBSB: 'bsb-code',
  CNAPS: 'cnaps',
};

export function routingCodesOf({ bic, member }: FilePayment): Readonly<Record<string, string>> {
  const kind = MEMBER_KINDS[member?.system ?? ''] ?? 'member-id';
  return { ...(bic === null ? {} : { bic }), ...(member === null ? {} : { [kind]: member.id }) };
}
