import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { amountNumber } from '../../../domain/frame/money.ts';
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
  maybe,
  number,
  reference,
  text,
} from '../wire.ts';
import { type Course, courseOf } from './courses.ts';
import { acceptRecall, refuseRecall, withoutCallbacks } from './recalls.ts';
import { conflict, entryOf, isOpen, paymentCallback } from './records.ts';
import { giveBack, returnedMinorOf, returnsOf } from './returns.ts';

const PARTY = { ...IDENTIFIERS, name: text(), country: maybe(text(2)) };

export const PAYMENT_REQUEST = v.object({
  ourReference: reference(),
  endToEndId: endToEndId(),
  attempt: maybe(number({ max: 1e9 })),
  amount: amountDigits(),
  currency: currency(),
  scheme: text(40),
  debtor: v.object({ ...PARTY, accountId: reference() }),
  creditor: v.object(PARTY),
  remittanceText: v.nullish(text(), ''),
  attributes: v.nullish(v.record(text(40), text()), {}),
});
export type PaymentRequest = v.InferOutput<typeof PAYMENT_REQUEST>;

/** `payment` is null if the bank only answered that it is unavailable. */
export interface Submission {
  readonly payment: Payment | null;
  readonly answer: Course['answer'] | null;
}

/** The same reference, money and account are the same payment: it gets the first one's result, unless that was a refusal. */
export async function submitPayment(bank: Bank, request: PaymentRequest): Promise<Submission> {
  const amount = amountMinor(request.amount, request.currency);
  checkScheme(request.scheme, request.currency);
  const { later, refusal, ...course } = courseOf(amount);
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
  const refusals = payment.refusals ?? 0;
  const error = refusal !== undefined && refusals < refusal.times ? refusal.error : null;
  const refused = error === null ? {} : { refusals: refusals + 1 };
  const status = error === null ? course.status : 'refused';
  const taken: Payment = { ...payment, ...refused, attempt, status, error, code: error?.code ?? null };
  await bank.commit({
    put: {
      payments: [taken],
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
    submissions: 0,
    createdAt: bank.now().toISOString(),
    code: null,
    error: null,
  };
}

/** A refused payment may be asked for anew. What refers to the refused attempt or an earlier one is a repetition. */
function isNewAttempt(payment: Payment, attempt: number): boolean {
  return payment.status === 'refused' && attempt > (payment.attempt ?? 1);
}

/** Names and texts may differ in a repetition; what moves the money may not. */
function isSame(payment: Payment, request: PaymentRequest, amount: bigint): boolean {
  const { debtor, creditor } = payment;
  return (
    payment.amountMinor === amount &&
    payment.currency === request.currency &&
    payment.scheme === request.scheme &&
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
  return: timed((bank, payment) => giveBack(bank, payment)),
  'accept-recall': timed((bank, payment) => acceptRecall(bank, payment)),
  'accept-recall-silently': timed((bank, payment) => withoutCallbacks(acceptRecall(bank, payment))),
  'refuse-recall': timed((bank, payment) => refuseRecall(bank, payment)),
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
