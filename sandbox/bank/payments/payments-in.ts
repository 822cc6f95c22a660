import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { amountNumber, formatAmount } from '../../../domain/common/money.ts';
import { type Bank, callbackOf } from '../bank.ts';
import type { PaymentIn } from '../books.ts';
import { findUnmigrated } from '../existing-clients/existing-accounts.ts';
import {
  amountDigits,
  amountMinor,
  BankError,
  checkScheme,
  country,
  currency,
  endToEndId,
  IDENTIFIERS,
  invalid,
  maybe,
  reference,
  text,
} from '../wire.ts';
import { returnedToPayerMinor, showReturns } from './returns-to-payers.ts';

/** Passed on as the payer's bank wrote it: only the receiver's IBAN is validated. */
const SENDER_ACCOUNT = v.object({
  ...IDENTIFIERS,
  accountHolderName: maybe(text(140)),
  alias: maybe(text(140)),
  ledgerNumber: maybe(text(34)),
  iban: maybe(
    v.pipe(
      v.string('must be a text'),
      v.transform((value) => value.replaceAll(' ', '')),
      text(34),
    ),
  ),
  country: maybe(country()),
  currency: maybe(currency()),
});

export const PAYMENT_IN_REQUEST = v.object({
  amount: amountDigits(),
  currency: currency(),
  scheme: text(40),
  senderName: maybe(text(140)),
  senderAccount: maybe(SENDER_ACCOUNT),
  reference: maybe(text(140)),
  hold: maybe(v.boolean('must be true or false')),
  ...IDENTIFIERS,
});
export type PaymentInRequest = v.InferOutput<typeof PAYMENT_IN_REQUEST>;

/**
 * An outside payer pays. The customer must match the receiver: any receiver is accepted, known or not. The customer is not
 * notified of a payment to an existing account that is not handed over.
 */
export async function receivePayment(bank: Bank, request: PaymentInRequest): Promise<PaymentIn> {
  const amount = amountMinor(request.amount, request.currency);
  checkScheme(request.scheme, request.currency);
  const { iban, accountNumber, routingCodes } = request;
  if (accountNumber !== null && iban === null && Object.keys(routingCodes).length === 0) {
    throw invalid('routingCodes', 'is required with accountNumber');
  }
  if (iban === null && accountNumber === null && (request.reference ?? '').trim() === '') {
    throw invalid(
      'iban',
      'name the receiver: iban, accountNumber with routingCodes, or reference with a ledger number',
    );
  }
  const id = randomUUID();
  const payment: PaymentIn = {
    paymentId: id,
    paymentReference: `SBI${id.replaceAll('-', '').slice(0, 13).toUpperCase()}`,
    status: request.hold === true ? 'held' : 'booked',
    amountMinor: amount,
    currency: request.currency,
    scheme: request.scheme,
    senderName: request.senderName,
    senderAccount: request.senderAccount,
    receiver: { iban, accountNumber, routingCodes },
    reference: request.reference,
    createdAt: bank.now().toISOString(),
    sentBack: null,
  };
  const { receiver, currency: code, amountMinor: minor } = payment;
  const existing = findUnmigrated(bank, receiver, code);
  if (existing !== null) {
    if (payment.status === 'held') throw invalid('hold', 'is not possible for an account that is not handed over');
    const credited = { ...existing, balanceMinor: existing.balanceMinor + minor };
    await bank.commit({ put: { paymentsIn: [payment], existingAccounts: [credited] } });
    return payment;
  }
  await bank.commit({
    put: {
      paymentsIn: [payment],
      entries: [
        bank.positions.entry(
          {
            kind: 'payment-in',
            amountMinor: minor,
            currency: code,
            paymentId: id,
            ourReference: null,
            account: accountKeys(bank, receiver),
          },
          bank.now(),
        ),
      ],
      callbacks: [callbackOf(bank, { type: 'payment-received', line: id, data: callbackData(payment) })],
    },
  });
  return payment;
}

/** Releases a held payment. Repeating it, or releasing one that was never held, changes nothing. */
export async function releasePayment(bank: Bank, paymentId: string): Promise<PaymentIn> {
  const payment = bank.books.paymentsIn.get(paymentId);
  if (payment === undefined) throw new BankError(404, 'not-found', 'No payment in has this id.');
  if (payment.status === 'sent-back') throw new BankError(409, 'already-sent-back', 'The payment has been returned.');
  if (payment.status === 'booked') return payment;
  const released: PaymentIn = { ...payment, status: 'booked' };
  const { paymentReference, currency: code } = released;
  const data = { paymentId, paymentReference, amount: amountNumber(released.amountMinor, code), currency: code };
  await bank.commit({
    put: {
      paymentsIn: [released],
      callbacks: [callbackOf(bank, { type: 'payment-in-released', line: paymentId, data })],
    },
  });
  return released;
}

/** Keys of the customer's account that the payer named, if the bank has opened it. */
function accountKeys(bank: Bank, receiver: PaymentIn['receiver']): string[] {
  const keys = [receiver.iban, receiver.accountNumber].filter((key) => key !== null);
  for (const { ourReference, identifiers } of bank.books.accounts.values()) {
    if (identifiers === null) continue;
    const named =
      receiver.iban === null
        ? receiver.accountNumber !== null && receiver.accountNumber === identifiers.accountNumber
        : receiver.iban === identifiers.iban;
    if (named) return [...new Set([...keys, ourReference, identifiers.iban ?? '', identifiers.accountNumber ?? ''])];
  }
  return keys;
}

export const RETURN_TO_PAYER_REQUEST = v.object({
  ourReference: reference(),
  endToEndId: endToEndId(),
  amount: amountDigits(),
  currency: currency(),
  code: text(10),
});
export type ReturnRequest = v.InferOutput<typeof RETURN_TO_PAYER_REQUEST>;

/** The customer returns money to its payer: in full, and once. */
export async function returnPaymentIn(bank: Bank, paymentId: string, request: ReturnRequest): Promise<PaymentIn> {
  const payment = bank.books.paymentsIn.get(paymentId);
  if (payment === undefined) throw new BankError(404, 'not-found', 'No payment in has this id.');
  const amount = amountMinor(request.amount, request.currency);
  if (amount !== payment.amountMinor || request.currency !== payment.currency) {
    throw new BankError(422, 'amount-differs', 'A payment can only be returned in full.');
  }
  if (payment.sentBack !== null) {
    if (payment.sentBack.ourReference !== request.ourReference) {
      throw new BankError(409, 'already-sent-back', 'The payment has been returned under another reference.');
    }
    await bank.settled();
    return payment;
  }
  if (returnedToPayerMinor(bank, payment) > 0n) {
    throw new BankError(422, 'ARDT', 'A part of the payment has been returned, or is on its way back.');
  }
  const { ourReference, endToEndId: named, code } = request;
  const sentBack: PaymentIn = {
    ...payment,
    status: 'sent-back',
    sentBack: { ourReference, code, reference: randomUUID() },
  };
  const entry = bank.positions.entry(
    {
      kind: 'payment-in-sent-back',
      amountMinor: amount,
      currency: payment.currency,
      paymentId,
      ourReference,
      endToEndId: named,
      account: accountKeys(bank, payment.receiver),
    },
    bank.now(),
  );
  await bank.commit({ put: { paymentsIn: [sentBack], entries: [entry] } });
  return sentBack;
}

/** A person at the bank returns money to its payer, as the customer has asked. */
export async function returnByHand(bank: Bank, paymentId: string): Promise<PaymentIn> {
  const payment = bank.books.paymentsIn.get(paymentId);
  if (payment === undefined) throw new BankError(404, 'not-found', 'No payment in has this id.');
  const { currency: code } = payment;
  const amount = formatAmount(payment.amountMinor, code);
  return returnPaymentIn(bank, paymentId, {
    ourReference: `by hand ${paymentId}`,
    endToEndId: 'NOTPROVIDED',
    amount,
    currency: code,
    code: 'MS03',
  });
}

function callbackData(payment: PaymentIn) {
  const {
    paymentId,
    paymentReference,
    currency: code,
    scheme,
    senderName,
    senderAccount,
    reference: remittance,
  } = payment;
  const amount = amountNumber(payment.amountMinor, code);
  const { iban, accountNumber, routingCodes } = payment.receiver;
  return {
    paymentId,
    paymentReference,
    amount,
    currency: code,
    scheme,
    senderName,
    senderAccount,
    iban,
    accountNumber,
    routingCodes,
    reference: remittance,
    held: payment.status === 'held',
  };
}

export function showPaymentIn(bank: Bank, payment: PaymentIn) {
  const { status, createdAt, sentBack } = payment;
  return { ...callbackData(payment), status, createdAt, sentBack, returns: showReturns(bank, payment) };
}
