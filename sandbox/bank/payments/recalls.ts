import * as v from 'valibot';
import { type Bank, timerAfter } from '../bank.ts';
import type { Change, Payment, Recall, Rejection } from '../books.ts';
import { BankError, reference } from '../wire.ts';
import { conflict, isOpen, paymentCallback } from './records.ts';
import { returnedMinorOf, returnFromCreditor } from './returns.ts';
import { scenarioOf } from './scenarios.ts';

export const RECALL_REQUEST = v.object({ recallReference: reference() });

/** FOCR: following a cancellation request. */
const RECALLED_CODE = 'FOCR';
/** CUST: the creditor does not agree. */
const REJECTED_CODE = 'CUST';
const ACCEPTED: NonNullable<ReturnType<typeof scenarioOf>['recall']> = { action: 'accept-recall', afterMs: 1_000 };

const ALREADY_RETURNED: Rejection = {
  category: 'functional',
  origin: 'customer',
  code: 'ARDT',
  message: 'The payment has already been returned in full.',
  attributes: {},
};

/** Asks the creditor's bank to return a payment; the amount of the payment selects the answer. A repetition has no effect. */
export async function recall(
  bank: Bank,
  payment: Payment,
  { recallReference }: v.InferOutput<typeof RECALL_REQUEST>,
): Promise<Recall | Rejection> {
  const earlier = payment.recall ?? null;
  if (earlier?.recallReference === recallReference) {
    await bank.settled();
    return earlier;
  }
  if (payment.status === 'failed' || returnedMinorOf(payment) === payment.amountMinor) return ALREADY_RETURNED;
  if (!isOpen(payment) && payment.status !== 'completed' && payment.status !== 'returned') {
    throw conflict(payment, 'recalled');
  }
  if (earlier?.status === 'asked') throw new BankError(409, 'illegal-state', 'Another recall has no answer yet.');
  const asked: Recall = { recallReference, status: 'asked', code: null };
  const { action, afterMs } = scenarioOf(payment.amountMinor).recall ?? ACCEPTED;
  const timers = [timerAfter(bank, action, payment.ourReference, afterMs)];
  await bank.commit({ put: { payments: [{ ...payment, recall: asked }], timers } });
  return asked;
}

/** Returns everything that is left. */
export function acceptRecall(bank: Bank, payment: Payment): Change | null {
  const open = openRecallOf(payment);
  if (open === null) return null;
  const accepted: Payment = { ...payment, recall: { ...open, status: 'accepted', code: RECALLED_CODE } };
  return returnFromCreditor(bank, accepted, { code: RECALLED_CODE }) ?? { put: { payments: [accepted] } };
}

export function rejectRecall(bank: Bank, payment: Payment): Change | null {
  const open = openRecallOf(payment);
  if (open === null) return null;
  const rejected: Payment = { ...payment, recall: { ...open, status: 'rejected', code: REJECTED_CODE } };
  const data = { recallReference: open.recallReference, code: REJECTED_CODE };
  return {
    put: { payments: [rejected], callbacks: [paymentCallback(bank, rejected, 'payment-recall-rejected', { data })] },
  };
}

export function withoutCallbacks(change: Change | null): Change | null {
  if (change?.put === undefined) return change;
  const { callbacks: _, ...put } = change.put;
  return { ...change, put };
}

function openRecallOf({ recall: latest }: Payment): Recall | null {
  return latest?.status === 'asked' ? latest : null;
}
