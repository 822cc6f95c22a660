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
