import {
  type Arrival,
  type IncomingChange,
  type IncomingTransferName,
  receiveMoney,
} from '../incoming-transfers/changes.ts';
import type { IncomingTransfer } from '../incoming-transfers/incoming-transfers.ts';
import type { LockedAccount, Posting } from '../ledger/ledger.ts';
import type { PaymentReport } from './reports.ts';
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

/** Books the returned part of a payment, completed at once, or held if the account is closed. */
export function receiveReturn(
  name: IncomingTransferName,
  outgoing: OutgoingTransfer,
  account: LockedAccount,
  report: PaymentReport,
  now: Date,
): IncomingChange {
  const usable = account.status !== 'closed' && account.status !== 'declined';
  const returned = report.claim?.returned ?? null;
  const arrival: Arrival = {
    provider: outgoing.provider,
    method: outgoing.method,
    account: usable ? account : null,
    hold: null,
    // It was ours before: a rejection would have no payer to return it to.
    isReviewed: false,
    amountMinor: returned === null ? outgoing.amountMinor : BigInt(returned.amountMinor),
    feeMinor: 0n,
    currency: outgoing.currency,
    scope: 'external',
    scheme: outgoing.scheme,
    provisionedAccountCreditId: null,
    serviceProviderId: null,
    serviceProviderReference: report.serviceProviderReference,
    returnReference: returned?.reference ?? null,
    senderInformation: `Return of ${outgoing.transactionNumber}${report.code === null ? '' : `: ${report.code}`}`,
    senderName: outgoing.beneficiary?.fullName ?? null,
    senderAccount: outgoing.beneficiary?.account ?? null,
    receiverAccount: null,
  };
  return receiveMoney(name, arrival, now);
}

/** Whether the report is about the return that is already booked. A missing claim or return reference matches any. */
export function isBookedReturn(booked: IncomingTransfer | null, { claim }: PaymentReport): boolean {
  const returned = claim?.returned ?? null;
  if (returned === null || booked === null) return true;
  if (booked.amountMinor !== BigInt(returned.amountMinor)) return false;
  return booked.returnReference === null || booked.returnReference === returned.reference;
}
