import { amountNumber } from '../../../domain/common/money.ts';
import { type Bank, callbackOf } from '../bank.ts';
import type { EntryKind, Payment } from '../books.ts';
import { BankError } from '../wire.ts';

/** What every change of a payment needs: entries, callbacks, and the rejection of a change that its state does not allow. */
export function isOpen({ status }: Payment): boolean {
  return status === 'accepted' || status === 'released';
}

export function conflict(payment: Payment, wanted: string): BankError {
  return new BankError(409, 'illegal-state', `A payment that is ${payment.status} cannot be ${wanted}.`);
}

export function entryOf(bank: Bank, payment: Payment, kind: EntryKind, minor = payment.amountMinor) {
  const { accountId, iban, accountNumber } = payment.debtor;
  const account = [accountId, iban, accountNumber].filter((key) => key !== null);
  const { paymentId, ourReference, endToEndId = null, currency } = payment;
  return bank.positions.entry(
    { kind, amountMinor: minor, currency, paymentId, ourReference, endToEndId, account },
    bank.now(),
  );
}

export function paymentCallback(
  bank: Bank,
  payment: Payment,
  type: string,
  more: { readonly copies?: number; readonly data?: Record<string, unknown> },
) {
  const { ourReference, paymentId, paymentReference, currency: code } = payment;
  const amount = amountNumber(payment.amountMinor, code);
  const data = { ourReference, paymentId, paymentReference, amount, currency: code, ...more.data };
  return callbackOf(bank, { type, line: ourReference, data, copies: more.copies ?? 1 });
}
