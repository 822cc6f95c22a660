/** The states of an outgoing transfer, and what its workflow does next. */

export const OUTGOING_TRANSFER_STATUSES = [
  'pending',
  'processing',
  'released',
  'completed',
  'cancelled',
  'failed',
] as const;
export type OutgoingTransferStatus = (typeof OUTGOING_TRANSFER_STATUSES)[number];

/** `processing` = money reserved, `released` = accepted by the provider and posted, `completed` = settled. */
export const OUTGOING_TRANSFER_TRANSITIONS: Readonly<
  Record<OutgoingTransferStatus, readonly OutgoingTransferStatus[]>
> = {
  pending: ['processing', 'cancelled', 'failed'],
  processing: ['released', 'failed'],
  released: ['completed', 'failed'],
  completed: [],
  cancelled: [],
  failed: [],
};

export function isFinalOutgoingTransferStatus(status: OutgoingTransferStatus): boolean {
  return OUTGOING_TRANSFER_TRANSITIONS[status].length === 0;
}

/** The event of a status; every status has one. */
export function outgoingTransferEventType(status: OutgoingTransferStatus): string {
  return status === 'pending' ? 'outgoing-transfer-created' : `outgoing-transfer-${status}`;
}

export type RequirementStatus = 'not-checked' | 'fulfilled' | 'not-fulfilled' | 'not-required';
export type CheckedStatus = Exclude<RequirementStatus, 'not-required'>;

export interface Requirements {
  readonly authorizationStatus: RequirementStatus;
  readonly complianceCheckStatus: RequirementStatus;
  readonly transferDateStatus: CheckedStatus;
  readonly balanceCheckStatus: CheckedStatus;
}

/** What an open transfer waits for; `next-window` if its date has rolled, `provider-decision` if its provider has taken it and may still reject it. A completed one may wait for the answer to its recall. */
export const OUTGOING_TRANSFER_WAITS = [
  'authorization',
  'compliance',
  'date',
  'balance',
  'account',
  'provider',
  'provider-decision',
  'retry',
  'recall',
  'caller',
  'next-window',
] as const;
export type OutgoingTransferWait = (typeof OUTGOING_TRANSFER_WAITS)[number];

/** Whether a transfer waits for its date: its own, or the one to which it has rolled. */
export function isDateWait(waitingFor: string | null): boolean {
  return waitingFor === 'date' || waitingFor === 'next-window';
}

/** The next step of the transfer's workflow. `until` is an ISO instant; null waits for a signal only. */
export type OutgoingTransferStep =
  | { readonly do: 'end' }
  | { readonly do: 'wait'; readonly for: OutgoingTransferWait; readonly until: string | null }
  | { readonly do: 'review' }
  | { readonly do: 'submit'; readonly attempt: number }
  | { readonly do: 'look-up'; readonly count: number }
  | { readonly do: 'recall'; readonly number: number };

/**
 * A recall asks the provider to have a released payment returned. It moves no money: the money comes by a return like any other.
 * `due`: the request has not reached the provider, as far as we know; `asked`: it has, and its answer is awaited; `ended`: accepted,
 * or pointless because the payment has failed or was returned.
 */
export const RECALL_STATUSES = ['due', 'asked', 'rejected', 'ended'] as const;
export type RecallStatus = (typeof RECALL_STATUSES)[number];

export function isRecallOpen({ recallStatus }: { readonly recallStatus: RecallStatus | null }): boolean {
  return recallStatus === 'due' || recallStatus === 'asked';
}
