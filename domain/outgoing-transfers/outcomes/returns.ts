import {
  type Arrival,
  type IncomingChange,
  type IncomingTransferName,
  receiveMoney,
} from '../../incoming-transfers/changes.ts';
import type { IncomingTransfer } from '../../incoming-transfers/incoming-transfers.ts';
import type { LockedAccount } from '../../ledger/ledger.ts';
import { type PaymentReport, reasonCodeOf } from '../reports.ts';
import type { OutgoingTransfer } from '../rows.ts';
import type { TransferChange, TransferSituation } from '../transfer-changes.ts';
import type { Draft } from './draft.ts';

/**
 * Books a return of a completed payment: each once, by the provider's id, and together at most the principal.
 * `break`: it contradicts a booked return, or the returns would exceed the payment.
 */
export function bookReturn(
  draft: Draft,
  report: PaymentReport,
  name: IncomingTransferName | null,
): 'applied' | 'no-effect' | 'break' {
  const { transfer, situation } = draft;
  const booked = situation.returns;
  const earlier = bookedAs(booked, report);
  if (earlier !== null) return isSameAmount(earlier, report) ? 'no-effect' : 'break';
  const before = booked.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  const amountMinor = amountOf(report, transfer);
  if (before + amountMinor > transfer.amountMinor) return 'break';
  if (name === null) throw new Error('a return needs a name for the money that came back');
  const received = receiveReturn(name, transfer, draft.source, { ...report, amountMinor }, situation.now);
  draft.incoming = received.incoming;
  draft.moves.push(...received.accounts);
  draft.postings.push(...received.postings);
  draft.wakes.push(...received.wakes);
  draft.set({
    returned: true,
    returnedMinor: transfer.returnedMinor + amountMinor,
    incomingTransferId: received.incoming.after.id,
  });
  draft.explain(reasonCodeOf(report, transfer.method), report.message);
  draft.addEvent('outgoing-transfer-returned');
  return 'applied';
}

/**
 * The booked return that a report is about; null if it is about a new one. A plug-in caller returns a payment once, and names no id.
 */
function bookedAs(booked: readonly IncomingTransfer[], report: PaymentReport): IncomingTransfer | null {
  const claimed = report.claim?.returned ?? null;
  if (claimed === null) return booked.at(-1) ?? null;
  return booked.find(({ returnReference }) => returnReference === claimed.reference) ?? null;
}

function isSameAmount(booked: IncomingTransfer, { claim }: PaymentReport): boolean {
  const claimed = claim?.returned ?? null;
  return claimed === null || booked.amountMinor === BigInt(claimed.amountMinor);
}

/** A report without a claim covers the whole payment. */
function amountOf({ claim }: PaymentReport, { amountMinor }: OutgoingTransfer): bigint {
  const claimed = claim?.returned ?? null;
  return claimed === null ? amountMinor : BigInt(claimed.amountMinor);
}

/** Books returned money, completed at once, or held if the account is closed. */
function receiveReturn(
  name: IncomingTransferName,
  outgoing: OutgoingTransfer,
  account: LockedAccount,
  report: PaymentReport & { readonly amountMinor: bigint },
  now: Date,
): IncomingChange {
  const usable = account.status !== 'closed' && account.status !== 'declined';
  const arrival: Arrival = {
    provider: outgoing.provider,
    method: outgoing.method,
    account: usable ? account : null,
    hold: null,
    // The money was the client's before: a rejection would have no payer to return it to.
    isReviewed: false,
    amountMinor: report.amountMinor,
    feeMinor: 0n,
    currency: outgoing.currency,
    scope: 'external',
    scheme: outgoing.scheme,
    provisionedAccountCreditId: null,
    serviceProviderId: null,
    serviceProviderReference: report.serviceProviderReference,
    returnOf: outgoing.id,
    returnReference: report.claim?.returned?.reference ?? null,
    senderInformation: `Return of ${outgoing.transactionNumber}${report.code === null ? '' : `: ${report.code}`}`,
    senderName: outgoing.beneficiary?.fullName ?? null,
    senderAccount: outgoing.beneficiary?.account ?? null,
    receiverAccount: null,
  };
  return receiveMoney(name, arrival, now);
}

/** The situation after a change, for deciding on another return in the same transaction. */
export function situationAfter(situation: TransferSituation, change: TransferChange): TransferSituation {
  const { outgoing, incoming } = change;
  if (outgoing === null || outgoing.before === null) return situation;
  const { before, after, events } = outgoing;
  const transfer: OutgoingTransfer = {
    ...after,
    revision: before.revision + 1n,
    eventSequence: before.eventSequence + BigInt(events.length),
  };
  const booked = incoming !== null && incoming.after.returnOf === after.id ? [incoming.after] : [];
  return { ...situation, before: transfer, transfer, incoming: null, returns: [...situation.returns, ...booked] };
}
