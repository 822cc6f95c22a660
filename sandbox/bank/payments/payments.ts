import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { amountNumber } from '../../../domain/frame/money.ts';
import { type Bank, callbackOf, type TimedAction, timerAfter } from '../bank.ts';
import type { Change, EntryKind, Payment, Refusal, Timer } from '../books.ts';
import {
  amountDigits,
  amountMinor,
  BankError,
  checkScheme,
  currency,
  IDENTIFIERS,
  invalid,
  maybe,
  number,
  reference,
  text,
} from '../wire.ts';

const PARTY = { ...IDENTIFIERS, name: text(), country: maybe(text(2)) };

export const PAYMENT_REQUEST = v.object({
  ourReference: reference(),
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

/** A payment's course, chosen by the last two digits of its amount. */
interface Course {
  readonly status: 'refused' | 'accepted' | 'released' | 'completed';
  readonly later?: { readonly action: Timer['action']; readonly afterMs: number };
  /** The first submissions that get 503 without effect. */
  readonly unavailableTimes?: number;
  /** The fault in the answer to the submission that takes effect. */
  readonly answer?: 'cut' | 'late' | 'after-callback';
  /** Look-ups get 400, as if the payment itself were refused. */
  readonly lookUpsRefused?: boolean;
}

export const LATE_ANSWER_MS = 10_000;

const COURSES: Readonly<Record<number, Course>> = {
  1: { status: 'refused' },
  2: { status: 'released', later: { action: 'fail', afterMs: 300 } },
  3: { status: 'completed', later: { action: 'return', afterMs: 2_000 } },
  4: { status: 'accepted', later: { action: 'complete-silently', afterMs: 1_000 } },
  5: { status: 'completed', answer: 'cut' },
  6: { status: 'completed', unavailableTimes: 2 },
  7: { status: 'completed', answer: 'late' },
  8: { status: 'released', later: { action: 'complete-and-tell-twice', afterMs: 100 } },
  // The route completes it, or the timer if the bank dies before that.
  9: { status: 'released', answer: 'after-callback', later: { action: 'complete', afterMs: 5_000 } },
  10: { status: 'released' },
  11: { status: 'completed', later: { action: 'return', afterMs: 3 * 24 * 3_600_000 } },
  13: { status: 'released', lookUpsRefused: true },
};

function courseOf(amount: bigint): Course {
  return COURSES[Number(amount % 100n)] ?? { status: 'completed' };
}

export function refusesLookUps(payment: Payment): boolean {
  return courseOf(payment.amountMinor).lookUpsRefused ?? false;
}

const CREDITOR_UNKNOWN: Refusal = {
  category: 'functional',
  origin: 'customer',
  code: 'AC03',
  message: 'The creditor account is not known.',
  attributes: {},
};
const FAILED_CODE = 'AC07';
const RETURNED_CODE = 'AC06';

/** `payment` is null if the bank only answered that it is unavailable. */
export interface Submission {
  readonly payment: Payment | null;
  readonly answer: Course['answer'] | null;
}

/** The same reference, money and account are the same payment: it gets the first one's result. */
export async function submitPayment(bank: Bank, request: PaymentRequest): Promise<Submission> {
  const amount = amountMinor(request.amount, request.currency);
  checkScheme(request.scheme, request.currency);
  const { later, ...course } = courseOf(amount);
  const earlier = bank.books.payments.get(request.ourReference);
  const payment = earlier ?? newPayment(bank, request, amount);
  if (earlier !== undefined && !isSame(earlier, request, amount)) {
    throw new BankError(409, 'reference-reused', 'Another payment has this reference.');
  }
  if (earlier !== undefined && earlier.status !== 'announced') {
    await bank.settled();
    return { payment: earlier, answer: null };
  }
  if (payment.submissions < (course.unavailableTimes ?? 0)) {
    await bank.commit({ put: { payments: [{ ...payment, submissions: payment.submissions + 1 }] } });
    return { payment: null, answer: null };
  }
  const taken: Payment = {
    ...payment,
    status: course.status,
    error: course.status === 'refused' ? CREDITOR_UNKNOWN : null,
    code: course.status === 'refused' ? CREDITOR_UNKNOWN.code : null,
  };
  await bank.commit({
    put: {
      payments: [taken],
      entries: course.status === 'refused' ? [] : [entryOf(bank, taken, 'payment-out')],
      timers: later === undefined ? [] : [timerAfter(bank, later.action, taken.ourReference, later.afterMs)],
    },
  });
  return { payment: taken, answer: course.answer ?? null };
}

function newPayment(bank: Bank, request: PaymentRequest, amount: bigint): Payment {
  const id = randomUUID();
  return {
    ourReference: request.ourReference,
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
    returnReference: null,
    returnedMinor: null,
  };
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

const OPEN: readonly Payment['status'][] = ['accepted', 'released'];

/** Completes an open payment. Null if already completed; any other final state is a conflict. */
export function complete(bank: Bank, payment: Payment, copies: number): Change | null {
  if (payment.status === 'completed' || payment.status === 'returned') return null;
  if (!OPEN.includes(payment.status)) throw conflict(payment, 'settled');
  const completed: Payment = { ...payment, status: 'completed' };
  const callbacks = copies > 0 ? [paymentCallback(bank, completed, 'payment-completed', { copies })] : [];
  return { put: { payments: [completed], callbacks } };
}

/** Fails a payment after its release and books the money back. */
export function fail(bank: Bank, payment: Payment, code = FAILED_CODE): Change | null {
  if (payment.status === 'failed') return null;
  if (!OPEN.includes(payment.status)) throw conflict(payment, 'rejected');
  const failed: Payment = { ...payment, status: 'failed', code };
  return {
    put: {
      payments: [failed],
      entries: [entryOf(bank, failed, 'payment-out-failed')],
      callbacks: [paymentCallback(bank, failed, 'payment-failed', { data: { code } })],
    },
  };
}

/** The returned amount and reason; by default everything, and AC06. */
export interface GivenBack {
  readonly code?: string | undefined;
  readonly amountMinor?: bigint | undefined;
}

/**
 * Returns a payment from the creditor's bank, in full or in part, once; an open one is completed first. Null if the
 * same return exists already; another amount is a conflict.
 */
export function giveBack(bank: Bank, payment: Payment, { code, amountMinor: part }: GivenBack = {}): Change | null {
  const returnedMinor = part ?? payment.amountMinor;
  if (returnedMinor > payment.amountMinor) throw invalid('amount', 'is more than was paid');
  if (payment.status === 'returned' && returnedMinor === returnedMinorOf(payment)) return null;
  if (payment.status !== 'completed' && !OPEN.includes(payment.status)) throw conflict(payment, 'returned');
  const returned: Payment = {
    ...payment,
    status: 'returned',
    code: code ?? RETURNED_CODE,
    returnReference: randomUUID(),
    returnedMinor,
  };
  const before = payment.status === 'completed' ? [] : [paymentCallback(bank, payment, 'payment-completed', {})];
  const { returnReference } = returned;
  const returnedAmount = amountNumber(returnedMinor, payment.currency);
  const data = { code: returned.code, returnReference, returnedAmount };
  return {
    put: {
      payments: [returned],
      entries: [entryOf(bank, returned, 'payment-out-returned', returnedMinor)],
      callbacks: [...before, paymentCallback(bank, returned, 'payment-returned', { data })],
    },
  };
}

/** Null if nothing was returned. Returns from before partial ones are in full. */
function returnedMinorOf(payment: Payment): bigint | null {
  return payment.status === 'returned' ? (payment.returnedMinor ?? payment.amountMinor) : null;
}

function conflict(payment: Payment, wanted: string): BankError {
  return new BankError(409, 'illegal-state', `A payment that is ${payment.status} cannot be ${wanted}.`);
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
};

function entryOf(bank: Bank, payment: Payment, kind: EntryKind, minor = payment.amountMinor) {
  const { accountId, iban, accountNumber } = payment.debtor;
  const account = [accountId, iban, accountNumber].filter((key) => key !== null);
  const { paymentId, ourReference } = payment;
  return bank.positions.entry(
    { kind, amountMinor: minor, currency: payment.currency, paymentId, ourReference, account },
    bank.now(),
  );
}

function paymentCallback(
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

export function showPayment(payment: Payment) {
  const returnedMinor = returnedMinorOf(payment);
  const { ourReference, paymentId, paymentReference, status, currency: code, scheme, error, createdAt } = payment;
  return {
    ourReference,
    paymentId,
    paymentReference,
    status,
    amount: amountNumber(payment.amountMinor, code),
    currency: code,
    scheme,
    remittanceText: payment.remittanceText,
    creditor: payment.creditor,
    createdAt,
    code: payment.code,
    error,
    returnReference: payment.returnReference,
    returnedAmount: returnedMinor === null ? null : amountNumber(returnedMinor, code),
  };
}
