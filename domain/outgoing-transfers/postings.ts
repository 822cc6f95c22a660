import type { IncomingTransfer } from '../incoming-transfers/incoming-transfers.ts';
import type { Posting } from '../ledger/ledger.ts';
import type { OutgoingTransfer } from './rows.ts';

/** Principal and fee of a released payment, which use up its reservation. `receiver`: the other side of an internal transfer. */
export function releasePostings(transfer: OutgoingTransfer, receiver: IncomingTransfer | null, now: Date): Posting[] {
  const shared = {
    now,
    debit: transfer.accountId,
    currency: transfer.currency,
    debitNumber: transfer.transactionNumber,
    debitType: 'outgoing-transfer',
    outgoingTransferId: transfer.id,
  } as const;
  const creditSide =
    receiver === null
      ? {}
      : ({
          creditNumber: receiver.transactionNumber,
          creditType: 'incoming-transfer',
          incomingTransferId: receiver.id,
        } as const);
  const principal: Posting = {
    ...shared,
    ...creditSide,
    credit: receiver?.accountId ?? { provider: transfer.provider, kind: 'settlement' },
    amountMinor: transfer.amountMinor,
    entryType: 'principal',
    narrative: transfer.description,
    releaseMinor: transfer.amountMinor,
  };
  if (transfer.feeMinor === 0n) return [principal];
  const credit = { provider: transfer.provider, kind: 'fee-revenue' } as const;
  const { feeMinor } = transfer;
  return [principal, { ...shared, credit, amountMinor: feeMinor, entryType: 'fee', releaseMinor: feeMinor }];
}

/** Returns principal and fee to the account of a payment that failed after release. */
export function reversalPostings(transfer: OutgoingTransfer, now: Date): Posting[] {
  const shared = {
    now,
    credit: transfer.accountId,
    currency: transfer.currency,
    debitNumber: transfer.transactionNumber,
    debitType: 'outgoing-transfer',
    outgoingTransferId: transfer.id,
  } as const;
  const principal: Posting = {
    ...shared,
    debit: { provider: transfer.provider, kind: 'settlement' },
    amountMinor: transfer.amountMinor,
    entryType: 'principal',
    narrative: transfer.description,
  };
  if (transfer.feeMinor === 0n) return [principal];
  const debit = { provider: transfer.provider, kind: 'fee-revenue' } as const;
  return [principal, { ...shared, debit, amountMinor: transfer.feeMinor, entryType: 'fee' }];
}
