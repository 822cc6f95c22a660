import * as v from 'valibot';
import { type Bank, timerAfter } from '../bank.ts';
import type { Change, Payment, Recall, Refusal } from '../books.ts';
import { BankError, reference } from '../wire.ts';
import { courseOf } from './courses.ts';
import { conflict, isOpen, paymentCallback } from './records.ts';
import { giveBack, returnedMinorOf } from './returns.ts';

export const RECALL_REQUEST = v.object({ recallReference: reference() });

/** Following a cancellation request. */
const RECALLED_CODE = 'FOCR';
/** The creditor does not agree. */
const REFUSED_CODE = 'CUST';
const ACCEPTED: NonNullable<ReturnType<typeof courseOf>['recall']> = { action: 'accept-recall', afterMs: 1_000 };

const ALREADY_RETURNED: Refusal = {
  category: 'functional',
  origin: 'customer',
  code: 'ARDT',
  message: 'All of the payment has come back already.',
  attributes: {},
};

/** Asks the creditor's bank for a payment back; the amount of the payment says what it answers. A repetition has no effect. */
export async function recall(
  bank: Bank,
  payment: Payment,
  { recallReference }: v.InferOutput<typeof RECALL_REQUEST>,
): Promise<Recall | Refusal> {
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
  const { action, afterMs } = courseOf(payment.amountMinor).recall ?? ACCEPTED;
  const timers = [timerAfter(bank, action, payment.ourReference, afterMs)];
  await bank.commit({ put: { payments: [{ ...payment, recall: asked }], timers } });
  return asked;
}

/** Gives back all that is left. */
export function acceptRecall(bank: Bank, payment: Payment): Change | null {
  const open = openRecallOf(payment);
  if (open === null) return null;
  const accepted: Payment = { ...payment, recall: { ...open, status: 'accepted', code: RECALLED_CODE } };
  return giveBack(bank, accepted, { code: RECALLED_CODE }) ?? { put: { payments: [accepted] } };
}

export function refuseRecall(bank: Bank, payment: Payment): Change | null {
  const open = openRecallOf(payment);
  if (open === null) return null;
  const refused: Payment = { ...payment, recall: { ...open, status: 'refused', code: REFUSED_CODE } };
  const data = { recallReference: open.recallReference, code: REFUSED_CODE };
  return {
    put: { payments: [refused], callbacks: [paymentCallback(bank, refused, 'payment-recall-refused', { data })] },
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
