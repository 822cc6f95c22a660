import type { InstructionState } from './progress.ts';
import { isSameAccount } from './receipts.ts';

/** A batch of ours that the bank has booked as one sum. */
export interface BatchSum {
  readonly key: string;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly account: string | null;
  readonly bookedOn: string;
  /** The bank's reference of it, which its details repeat. */
  readonly reference: string | null;
  /** As the bank says; null: it does not. */
  readonly batchCount: number | null;
  /** The bank's charges in the amount. */
  readonly chargesMinor: bigint | null;
  readonly outcome: string;
}

interface Payment {
  readonly transferId: string;
  readonly instructionId: string;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly state: InstructionState;
}

/** A movement that has paid one of them. */
export interface BatchDebit {
  readonly key: string;
  readonly transferId: string;
  readonly account: string | null;
  readonly bookedOn: string;
  readonly entryReference: string | null;
}

export interface PartsOfSum<One> {
  /** The payments that the sum has paid, or of which it may be the sum. */
  readonly payments: readonly One[];
  readonly totalMinor: bigint;
  /** Whether it is exactly theirs. */
  readonly isTheirs: boolean;
  /** Whether it is theirs and that of others. */
  readonly isTooMuch: boolean;
  /** The rest of the batch: rejected, or paid by other money. */
  readonly others: readonly One[];
  /** Those of them that a detail of the sum has told, and those that none has. */
  readonly told: readonly One[];
  readonly untold: readonly One[];
}

/** The key of a payment's part of a sum. */
export function partKey(sumKey: string, instructionId: string): string {
  return `${sumKey}:${instructionId}`;
}

/**
 * The payments of its batch that a sum may have paid: all but those that are rejected, or paid by other money. As amounts are positive, and a
 * bank books none of the others with it, it is the sum of these only if it has paid each of them, whatever the bank has still to tell. If it
 * books one and rejects it afterwards, its next word contradicts, which is a break.
 */
export function partsOfSum<One extends Payment>(
  sum: BatchSum,
  batch: readonly One[],
  debits: readonly BatchDebit[],
): PartsOfSum<One> {
  const keys = new Set(debits.map(({ key }) => key));
  const paid = new Set(debits.map(({ transferId }) => transferId));
  const told = new Set(debits.filter((debit) => isDetailOf(debit, sum)).map(({ transferId }) => transferId));
  const isPart = ({ instructionId }: One) => keys.has(partKey(sum.key, instructionId));
  const mayBePart = (one: One) =>
    one.state !== 'rejected' &&
    one.state !== 'failed' &&
    (isPart(one) || told.has(one.transferId) || !paid.has(one.transferId));
  const wasPart = (one: One) => isPart(one) || told.has(one.transferId);
  // What has happened to a payment since the sum was booked changes nothing about it.
  const isBooked = sum.outcome === 'applied';
  const payments = batch.filter(isBooked ? wasPart : mayBePart);
  const others = isBooked ? [] : batch.filter((one) => !mayBePart(one));
  const totalMinor = totalOf(payments);
  const restMinor = sum.amountMinor - (sum.chargesMinor ?? 0n) - totalMinor;
  const isWhole = restMinor === 0n && (sum.batchCount ?? payments.length) === payments.length;
  return {
    payments,
    totalMinor,
    isTheirs: isBooked || (isWhole && payments.every(({ currency }) => currency === sum.currency)),
    isTooMuch: restMinor > 0n && restMinor <= totalOf(others),
    others,
    told: payments.filter((one) => !isPart(one) && told.has(one.transferId)),
    untold: payments.filter((one) => isPart(one) || !told.has(one.transferId)),
  };
}

function totalOf(payments: readonly Payment[]): bigint {
  return payments.reduce((total, { amountMinor }) => total + amountMinor, 0n);
}

/** Banks use their references again on another day, and in another account. */
function isDetailOf({ entryReference, bookedOn, account }: BatchDebit, sum: BatchSum): boolean {
  if (sum.reference === null || entryReference !== sum.reference || bookedOn !== sum.bookedOn) return false;
  return account === null || sum.account === null || isSameAccount(account, sum.account);
}
