import { randomUUID } from 'node:crypto';
import { amountNumber } from '../../../domain/common/money.ts';
import type { Bank } from '../bank.ts';
import type { Change, CreditorReturn, Payment } from '../books.ts';
import { invalid } from '../wire.ts';
import { conflict, entryOf, isOpen, paymentCallback } from './records.ts';

const RETURNED_CODE = 'AC06';

/** A return: by default of everything that is left, for AC06. */
export interface ReturnRequest {
  readonly code?: string | undefined;
  readonly amountMinor?: bigint | undefined;
  /** Distinguishes two returns of the same amount. */
  readonly returnReference?: string | undefined;
}

/**
 * Returns a payment from the creditor's bank, in full or in parts, up to what was paid; an open one is completed first. Null for a
 * repetition: the same reference or, without one, the amount of the latest return.
 */
export function returnFromCreditor(bank: Bank, payment: Payment, asked: ReturnRequest = {}): Change | null {
  const earlier = returnsOf(payment);
  const left = payment.amountMinor - returnedMinorOf(payment);
  if ((asked.amountMinor ?? 0n) > payment.amountMinor) throw invalid('amount', 'is more than was paid');
  if (isRepeated(earlier, left, asked)) return null;
  const amountMinor = asked.amountMinor ?? left;
  const { status } = payment;
  const isKnown = earlier.some(({ returnReference: known }) => known === asked.returnReference);
  if (isKnown || (status !== 'completed' && status !== 'returned' && !isOpen(payment)) || amountMinor > left) {
    throw conflict(payment, 'returned');
  }
  const one: CreditorReturn = {
    returnReference: asked.returnReference ?? randomUUID(),
    code: asked.code ?? RETURNED_CODE,
    amountMinor,
  };
  const returned: Payment = { ...payment, status: 'returned', code: one.code, returns: [...earlier, one] };
  const before = isOpen(payment) ? [paymentCallback(bank, payment, 'payment-completed', {})] : [];
  const { returnReference, code } = one;
  const data = { code, returnReference, returnedAmount: amountNumber(amountMinor, payment.currency) };
  return {
    put: {
      payments: [returned],
      entries: [entryOf(bank, returned, 'payment-out-returned', amountMinor)],
      callbacks: [...before, paymentCallback(bank, returned, 'payment-returned', { data })],
    },
  };
}

function isRepeated(earlier: readonly CreditorReturn[], left: bigint, asked: ReturnRequest): boolean {
  const { amountMinor, returnReference } = asked;
  if (returnReference !== undefined) {
    return earlier.some(
      (one) => one.returnReference === returnReference && one.amountMinor === (amountMinor ?? one.amountMinor),
    );
  }
  if (amountMinor === undefined) return left === 0n;
  return earlier.at(-1)?.amountMinor === amountMinor;
}

/** Oldest first. Rows from before returns in parts hold one return, in full unless they say otherwise. */
export function returnsOf({ status, returns, ...payment }: Payment): readonly CreditorReturn[] {
  if (returns !== undefined) return returns;
  const { returnReference, returnedMinor, amountMinor, code } = payment;
  if (status !== 'returned') return [];
  return [
    { returnReference: returnReference ?? '', amountMinor: returnedMinor ?? amountMinor, code: code ?? RETURNED_CODE },
  ];
}

export function returnedMinorOf(payment: Payment): bigint {
  return returnsOf(payment).reduce((sum, part) => sum + part.amountMinor, 0n);
}
