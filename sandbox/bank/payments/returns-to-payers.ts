import { amountNumber, formatAmount } from '../../../domain/common/money.ts';
import type { Bank } from '../bank.ts';
import type { Payment, PaymentIn, Rejection } from '../books.ts';

/** Payments out that return a payment in to its payer, in one part or several, together up to what came in. */

/** Why the bank does not take a payment as the return that it says it is; null if it does, or the payment is no return. */
export function rejectionOfReturn(bank: Bank, { returnOf, amountMinor, currency }: Payment): Rejection | null {
  if (returnOf === undefined) return null;
  const paidIn = bank.books.paymentsIn.get(returnOf.paymentId);
  if (paidIn === undefined || paidIn.currency !== currency) {
    return rejected('NOOR', 'No payment in has this id and currency.');
  }
  if (paidIn.status === 'held') return rejected('AM07', 'The bank still holds the payment in.');
  const leftMinor = paidIn.amountMinor - returnedToPayerMinor(bank, paidIn);
  if (leftMinor === 0n) return rejected('ARDT', 'The payment in has been returned in full.');
  if (amountMinor <= leftMinor) return null;
  return rejected('AM09', `Of the payment in, ${formatAmount(leftMinor, currency)} ${currency} is left to return.`);
}

/** The payment in with a payment that returns it; none for any other payment. */
export function withReturn(bank: Bank, { returnOf, ourReference }: Payment): readonly PaymentIn[] {
  const paidIn = returnOf === undefined ? undefined : bank.books.paymentsIn.get(returnOf.paymentId);
  if (paidIn === undefined) return [];
  const { returns = [] } = paidIn;
  return returns.includes(ourReference) ? [] : [{ ...paidIn, returns: [...returns, ourReference] }];
}

/** What has gone back of a payment in, or is on its way back: a return that failed no longer counts. */
export function returnedToPayerMinor(bank: Bank, paidIn: PaymentIn): bigint {
  if (paidIn.status === 'sent-back') return paidIn.amountMinor;
  return returnsOf(bank, paidIn)
    .filter(({ status }) => status !== 'failed')
    .reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
}

export function showReturns(bank: Bank, paidIn: PaymentIn) {
  return returnsOf(bank, paidIn).map(({ ourReference, amountMinor, currency, status, returnOf }) => ({
    ourReference,
    amount: amountNumber(amountMinor, currency),
    code: returnOf?.code ?? null,
    status,
  }));
}

function returnsOf(bank: Bank, { returns = [] }: PaymentIn): Payment[] {
  return returns.map((reference) => bank.books.payments.get(reference)).filter((one) => one !== undefined);
}

function rejected(code: string, message: string): Rejection {
  return { category: 'functional', origin: 'customer', code, message, attributes: {} };
}
