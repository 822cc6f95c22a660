import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { isIban } from '../../../domain/accounts/identifiers/ibans.ts';
import { amountNumber } from '../../../domain/common/money.ts';
import { type Bank, type TimedAction, timerAfter } from '../bank.ts';
import type { Change, Payment } from '../books.ts';
import {
  amountDigits,
  amountMinor,
  BankError,
  checkScheme,
  currency,
  endToEndId,
  IDENTIFIERS,
  invalid,
  maybe,
  NO_IBAN,
  number,
  reference,
  text,
  unspacedText,
} from '../wire.ts';
import { acceptRecall, rejectRecall, withoutCallbacks } from './recalls.ts';
import { conflict, entryOf, isOpen, paymentCallback } from './records.ts';
import { returnedMinorOf, returnFromCreditor, returnsOf } from './returns.ts';
import { rejectionOfReturn, withReturn } from './returns-to-payers.ts';
import { type Scenario, scenarioOf } from './scenarios.ts';

const PARTY = { ...IDENTIFIERS, name: text(), country: maybe(text(2)) };

export const PAYMENT_REQUEST = v.object({
  ourReference: reference(),
  endToEndId: endToEndId(),
  attempt: maybe(number({ max: 1e9 })),
  amount: amountDigits(),
  currency: currency(),
  scheme: text(40),
  debtor: v.object({ ...PARTY, accountId: reference() }),
  creditor: v.object({ ...PARTY, iban: maybe(unspacedText()) }),
  remittanceText: v.nullish(text(), ''),
  attributes: v.nullish(v.record(text(40), text()), {}),
  returnOf: maybe(v.object({ paymentId: reference(), code: text(10) })),
});
export type PaymentRequest = v.InferOutput<typeof PAYMENT_REQUEST>;

/** `payment` is null if the bank only answered that it is unavailable. */
export interface Submission {
  readonly payment: Payment | null;
  readonly answer: Scenario['answer'] | null;
}

/** The same reference, money and account identify the same payment: it gets the first result, unless that was a rejection. */
export async function submitPayment(bank: Bank, request: PaymentRequest): Promise<Submission> {
  const amount = amountMinor(request.amount, request.currency);
  checkScheme(request.scheme, request.currency);
  // A payer's is passed on as the payer's bank wrote it.
  const { iban: creditorIban } = request.creditor;
  if (request.returnOf === null && creditorIban !== null && !isIban(creditorIban))
    throw invalid('creditor.iban', NO_IBAN);
  const { later, rejection, ...course } = scenarioOf(amount);
  const attempt = request.attempt ?? 1;
  const earlier = bank.books.payments.get(request.ourReference);
  const payment = earlier ?? newPayment(bank, request, amount);
  if (earlier !== undefined && !isSame(earlier, request, amount)) {
    throw new BankError(409, 'reference-reused', 'Another payment has this reference.');
  }
  if (earlier !== undefined && earlier.status !== 'announced' && !isNewAttempt(earlier, attempt)) {
    await bank.settled();
    return { payment: earlier, answer: null };
  }
  if (payment.submissions < (course.unavailableTimes ?? 0)) {
    await bank.commit({ put: { payments: [{ ...payment, submissions: payment.submissions + 1 }] } });
    return { payment: null, answer: null };
  }
  const rejections = payment.rejections ?? 0;
  const isRejected = rejection !== undefined && rejections < rejection.times;
  const error = isRejected ? rejection.error : rejectionOfReturn(bank, payment);
  const rejected = error === null ? {} : { rejections: rejections + 1 };
  const status = error === null ? course.status : 'rejected';
  const taken: Payment = { ...payment, ...rejected, attempt, status, error, code: error?.code ?? null };
  await bank.commit({
    put: {
      payments: [taken],
      paymentsIn: error === null ? withReturn(bank, taken) : [],
      entries: error === null ? [entryOf(bank, taken, 'payment-out')] : [],
      timers:
        later === undefined || error !== null
          ? []
          : [timerAfter(bank, later.action, taken.ourReference, later.afterMs)],
    },
  });
  return { payment: taken, answer: course.answer ?? null };
}

function newPayment(bank: Bank, request: PaymentRequest, amount: bigint): Payment {
  const id = randomUUID();
  return {
    ourReference: request.ourReference,
    endToEndId: request.endToEndId,
    paymentId: id,
    paymentReference: `SBO${id.replaceAll('-', '').slice(0, 13).toUpperCase()}`,
    status: 'announced',
    amountMinor: amount,
    currency: request.currency,
    scheme: request.scheme,
    debtor: request.debtor,
    creditor: request.creditor,
    remittanceText: request.remittanceText,
    ...(request.returnOf === null ? {} : { returnOf: request.returnOf }),
    submissions: 0,
    createdAt: bank.now().toISOString(),
    code: null,
    error: null,
  };
}

/** A rejected payment may be submitted again. A request for the rejected attempt or an earlier one is a repetition. */
function isNewAttempt(payment: Payment, attempt: number): boolean {
  return payment.status === 'rejected' && attempt > (payment.attempt ?? 1);
}

/** Names and texts may differ in a repetition; the fields that move the money may not. */
function isSame(payment: Payment, request: PaymentRequest, amount: bigint): boolean {
  const { debtor, creditor } = payment;
  return (
    payment.amountMinor === amount &&
    payment.currency === request.currency &&
    payment.scheme === request.scheme &&
    payment.returnOf?.paymentId === request.returnOf?.paymentId &&
    debtor.accountId === request.debtor.accountId &&
    creditor.iban === request.creditor.iban &&
    creditor.accountNumber === request.creditor.accountNumber &&
    routing(creditor.routingCodes) === routing(request.creditor.routingCodes)
  );
}

function routing(codes: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(codes).sort(([one], [other]) => (one < other ? -1 : 1)));
}

export function findPayment(bank: Bank, ourReference: string): Payment | null {
  const payment = bank.books.payments.get(ourReference);
  return payment === undefined || payment.status === 'announced' ? null : payment;
}

/** Completes an open payment. Null if already completed; any other final state is a conflict. */
export function complete(bank: Bank, payment: Payment, copies: number): Change | null {
  if (payment.status === 'completed' || payment.status === 'returned') return null;
  if (!isOpen(payment)) throw conflict(payment, 'settled');
  const completed: Payment = { ...payment, status: 'completed' };
  const callbacks = copies > 0 ? [paymentCallback(bank, completed, 'payment-completed', { copies })] : [];
  return { put: { payments: [completed], callbacks } };
}

const FAILED_CODE = 'AC07';

/** Fails a payment after its release and books the money back. */
export function fail(bank: Bank, payment: Payment, code = FAILED_CODE): Change | null {
  if (payment.status === 'failed') return null;
  if (!isOpen(payment)) throw conflict(payment, 'rejected');
  const failed: Payment = { ...payment, status: 'failed', code };
  return {
    put: {
      payments: [failed],
      entries: [entryOf(bank, failed, 'payment-out-failed')],
      callbacks: [paymentCallback(bank, failed, 'payment-failed', { data: { code } })],
    },
  };
}

/** A timer acts on the payment's present state; a lever may have been faster. */
function timed(act: (bank: Bank, payment: Payment) => Change | null): TimedAction {
  return (bank, key) => {
    const payment = findPayment(bank, key);
    if (payment === null) return null;
    try {
      return act(bank, payment);
    } catch (error) {
      if (error instanceof BankError) return null;
      throw error;
    }
  };
}

export const PAYMENT_ACTIONS = {
  complete: timed((bank, payment) => complete(bank, payment, 1)),
  'complete-silently': timed((bank, payment) => complete(bank, payment, 0)),
  'complete-and-tell-twice': timed((bank, payment) => complete(bank, payment, 2)),
  fail: timed((bank, payment) => fail(bank, payment)),
  return: timed((bank, payment) => returnFromCreditor(bank, payment)),
  'accept-recall': timed((bank, payment) => acceptRecall(bank, payment)),
  'accept-recall-silently': timed((bank, payment) => withoutCallbacks(acceptRecall(bank, payment))),
  'reject-recall': timed((bank, payment) => rejectRecall(bank, payment)),
};

export function showPayment(payment: Payment) {
  const returns = returnsOf(payment);
  const { ourReference, paymentId, paymentReference, status, currency: code, scheme, error, createdAt } = payment;
  const amountOf = (minor: bigint) => amountNumber(minor, code);
  return {
    ourReference,
    endToEndId: payment.endToEndId ?? null,
    attempt: payment.attempt ?? 1,
    paymentId,
    paymentReference,
    status,
    amount: amountOf(payment.amountMinor),
    currency: code,
    scheme,
    remittanceText: payment.remittanceText,
    returnOf: payment.returnOf ?? null,
    creditor: payment.creditor,
    createdAt,
    code: payment.code,
    error,
    returnReference: returns.at(-1)?.returnReference ?? null,
    returnedAmount: returns.length === 0 ? null : amountOf(returnedMinorOf(payment)),
    returns: returns.map(({ amountMinor, ...one }) => ({ ...one, amount: amountOf(amountMinor) })),
    recall: payment.recall ?? null,
  };
}
