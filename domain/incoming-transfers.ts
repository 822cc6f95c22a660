import { amountNumber } from './money.ts';

/** Incoming transfers: the status table, and what becomes of money that has arrived. */
export const INCOMING_TRANSFER_STATUSES = ['pending', 'on-hold', 'completed', 'failed'] as const;
export type IncomingTransferStatus = (typeof INCOMING_TRANSFER_STATUSES)[number];

export const INCOMING_TRANSFER_MOVES: Readonly<Record<IncomingTransferStatus, readonly IncomingTransferStatus[]>> = {
  pending: ['completed', 'failed', 'on-hold'],
  'on-hold': ['pending', 'completed', 'failed'],
  completed: [],
  failed: [],
};

export type HoldReason = 'account-not-active' | 'client-not-active' | 'no-match' | 'held-by-provider';

export type IncomingTransferWait = 'compliance' | 'account' | 'match' | 'outgoing-transfer' | 'provider';

/** What the transfer's workflow does next. `until` is an ISO instant; null waits for a signal alone. */
export type IncomingTransferStep =
  | { readonly do: 'end' }
  | { readonly do: 'wait'; readonly for: IncomingTransferWait; readonly until: string | null }
  | { readonly do: 'send-back' };

export type ArrivalDecision =
  | { readonly status: 'completed' }
  | { readonly status: 'failed'; readonly failureCode: string }
  | { readonly status: 'on-hold'; readonly holdReason: HoldReason };

/** Decides about money for the matched account (null: nobody matched), by the statuses of it and of its client. */
export function decideArrival(account: { status: string; clientStatus: string } | null): ArrivalDecision {
  if (account === null) return { status: 'on-hold', holdReason: 'no-match' };
  if (account.status === 'closed' || account.status === 'declined') {
    return { status: 'failed', failureCode: 'account.status.not_active' };
  }
  if (account.status !== 'active') return { status: 'on-hold', holdReason: 'account-not-active' };
  if (account.clientStatus !== 'active') return { status: 'on-hold', holdReason: 'client-not-active' };
  return { status: 'completed' };
}

/** The event that tells of a status; being put on hold has none. */
export function incomingTransferEventType(status: IncomingTransferStatus): string | null {
  return status === 'on-hold' ? null : `incoming-transfer-${status}`;
}

/** A transfer as its row holds it, with the accounts that it names. Amounts in minor units; fee in `currency`. */
export interface IncomingTransferRecord {
  readonly id: string;
  readonly clientId: string | null;
  readonly accountId: string | null;
  readonly transactionNumber: string;
  readonly status: IncomingTransferStatus;
  readonly currency: string;
  readonly amountMinor: bigint;
  readonly feeMinor: bigint;
  readonly scope: 'internal' | 'external';
  readonly scheme: string | null;
  readonly outgoingTransferId: string | null;
  readonly provisionedAccountCreditId: string | null;
  readonly provider: string;
  readonly serviceProviderId: string | null;
  readonly serviceProviderReference: string | null;
  readonly senderInformation: string | null;
  readonly senderName: string | null;
  readonly transferDate: string | null;
}

/** A bank account as transfers show it (specification 2.1); every field may be null. */
export interface PartyAccount {
  readonly accountHolderName: string | null;
  readonly alias: string | null;
  readonly ledgerNumber: string | null;
  readonly accountNumber: string | null;
  readonly iban: string | null;
  readonly country: string | null;
  readonly currency: string | null;
  readonly routingCodes: Readonly<Record<string, string>> | null;
}

/** A transfer as answers and events show it (specification 2.7). */
export function presentIncomingTransfer(
  transfer: IncomingTransferRecord,
  senderAccount: PartyAccount | null,
  receiverAccount: PartyAccount | null,
) {
  const { currency, amountMinor, feeMinor } = transfer;
  return {
    id: transfer.id,
    clientId: transfer.clientId,
    accountId: transfer.accountId,
    transactionNumber: transfer.transactionNumber,
    status: transfer.status,
    currency,
    amount: amountNumber(amountMinor, currency),
    feeAmount: amountNumber(feeMinor, currency),
    feeCurrency: currency,
    totalAmount: amountNumber(amountMinor - feeMinor, currency),
    scope: transfer.scope,
    scheme: transfer.scheme,
    outgoingTransferId: transfer.outgoingTransferId,
    provisionedAccountCreditId: transfer.provisionedAccountCreditId,
    serviceProvider: transfer.provider,
    serviceProviderId: transfer.serviceProviderId,
    serviceProviderReference: transfer.serviceProviderReference,
    senderInformation: transfer.senderInformation,
    senderName: transfer.senderName ?? senderAccount?.accountHolderName ?? null,
    transferDate: transfer.transferDate,
    senderAccount,
    receiverAccount,
  };
}
