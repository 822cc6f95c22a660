import { nextReviewCheck } from '../compliance/checks.ts';
import { dateInUtc } from '../frame/time/dates.ts';
import { PRIORITIES, type Priority } from '../frame/waits.ts';
import { type PartyAccount, presentPartyAccount } from '../incoming-transfers/incoming-transfers.ts';
import type { SchemeOf, Schemes } from '../providers/schemes.ts';
import { isRecallOpen, type RecallStatus } from './outcomes/recalls.ts';

/**
 * Outgoing transfers: the transition table and the one decision that moves a pending transfer, in the order authorization,
 * compliance, date and, last, balance.
 */
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
export const OUTGOING_TRANSFER_MOVES: Readonly<Record<OutgoingTransferStatus, readonly OutgoingTransferStatus[]>> = {
  pending: ['processing', 'cancelled', 'failed'],
  processing: ['released', 'failed'],
  released: ['completed', 'failed'],
  completed: [],
  cancelled: [],
  failed: [],
};

export function isFinalOutgoingTransferStatus(status: OutgoingTransferStatus): boolean {
  return OUTGOING_TRANSFER_MOVES[status].length === 0;
}

export type RequirementStatus = 'not-checked' | 'fulfilled' | 'not-fulfilled' | 'not-required';
export type CheckedStatus = Exclude<RequirementStatus, 'not-required'>;

export interface Requirements {
  readonly authorizationStatus: RequirementStatus;
  readonly complianceCheckStatus: RequirementStatus;
  readonly transferDateStatus: CheckedStatus;
  readonly balanceCheckStatus: CheckedStatus;
}

/** What an open transfer waits for, as operators see it; a completed one may wait for the answer to its recall. */
export type OutgoingTransferWait =
  | 'authorization'
  | 'compliance'
  | 'date'
  | 'balance'
  | 'account'
  | 'provider'
  | 'retry'
  | 'recall'
  | 'caller';

/** The next step of the transfer's workflow. `until` is an ISO instant; null waits for a signal only. */
export type OutgoingTransferStep =
  | { readonly do: 'end' }
  | { readonly do: 'wait'; readonly for: OutgoingTransferWait; readonly until: string | null }
  | { readonly do: 'review' }
  | { readonly do: 'submit'; readonly attempt: number }
  | { readonly do: 'look-up'; readonly count: number }
  | { readonly do: 'recall'; readonly number: number };

export interface PendingTransfer extends Requirements, SchemeOf {
  readonly transferDate: string;
  readonly cutOffAt: Date | null;
  readonly rollCount: number;
  readonly totalMinor: bigint;
}

export interface Surroundings {
  readonly now: Date;
  readonly schemes: Schemes;
  /** How often the date may roll before the transfer fails. */
  readonly rollLimit: number;
  /** The source account and its client are active; for an internal transfer, also the receiving account and its client. */
  readonly accountsActive: boolean;
  /** The receiving account of an internal transfer is closed or declined, so it can never be paid. */
  readonly destinationGone: boolean;
  readonly availableMinor: bigint;
}

export type PendingDecision =
  | { readonly decision: 'fail'; readonly failureCode: string; readonly requirements: Requirements }
  | {
      /** `reschedule`: a calendar or a cut-off has changed, which is no missed cut-off and does not count as a roll. */
      readonly decision: 'roll' | 'reschedule';
      readonly transferDate: string;
      readonly cutOffAt: Date | null;
    }
  | { readonly decision: 'process'; readonly requirements: Requirements }
  | {
      readonly decision: 'wait';
      readonly for: OutgoingTransferWait;
      readonly until: Date;
      readonly requirements: Requirements;
    };

/** Decides what to do with a pending transfer now. After a roll or a new schedule, the caller decides again. */
export function decidePendingTransfer(transfer: PendingTransfer, around: Surroundings): PendingDecision {
  const { now, schemes } = around;
  const requirements: Requirements = {
    authorizationStatus: transfer.authorizationStatus,
    complianceCheckStatus: transfer.complianceCheckStatus,
    transferDateStatus: transfer.transferDateStatus,
    balanceCheckStatus: transfer.balanceCheckStatus,
  };
  if (requirements.complianceCheckStatus === 'not-fulfilled') {
    return { decision: 'fail', failureCode: 'compliance.rejected', requirements };
  }
  if (around.destinationGone) return { decision: 'fail', failureCode: 'account.closed', requirements };

  if (!schemes.isInForce(transfer, { transferDate: transfer.transferDate, cutOff: transfer.cutOffAt })) {
    return { decision: 'reschedule', ...rescheduled(transfer, around) };
  }
  const schedule = schemes.roll(transfer, transfer.transferDate, now);
  if (schedule.rolls > 0) {
    if (transfer.rollCount >= around.rollLimit) {
      return { decision: 'fail', failureCode: 'transfer.roll.limit_exceeded', requirements };
    }
    return { decision: 'roll', transferDate: schedule.transferDate, cutOffAt: schedule.cutOff };
  }

  // Lazy: only transfers that wait need it.
  const rollsAt = () => schemes.rollsAt(transfer, transfer.transferDate);
  if (requirements.authorizationStatus === 'not-checked') {
    return { decision: 'wait', for: 'authorization', until: rollsAt(), requirements };
  }
  if (requirements.complianceCheckStatus === 'not-checked') {
    return { decision: 'wait', for: 'compliance', until: rollsAt(), requirements };
  }
  const opensAt = schemes.opensAt(transfer, transfer.transferDate);
  if (now.getTime() < opensAt.getTime()) {
    return { decision: 'wait', for: 'date', until: opensAt, requirements };
  }
  const dated: Requirements = { ...requirements, transferDateStatus: 'fulfilled' };
  if (!around.accountsActive) return { decision: 'wait', for: 'account', until: rollsAt(), requirements: dated };
  if (around.availableMinor < transfer.totalMinor) {
    const short: Requirements = { ...dated, balanceCheckStatus: 'not-fulfilled' };
    return { decision: 'wait', for: 'balance', until: rollsAt(), requirements: short };
  }
  return { decision: 'process', requirements: { ...dated, balanceCheckStatus: 'fulfilled' } };
}

/**
 * The first date, from the transfer's own on, that is open and not missed. An open date whose former cut-off has passed stays
 * with its present cut-off: if that has passed too, the transfer missed it, which counts.
 */
function rescheduled(transfer: PendingTransfer, { schemes, now }: Surroundings) {
  const { transferDate, cutOffAt } = transfer;
  const isMissed = cutOffAt !== null && cutOffAt <= now && schemes.isOpen(transfer, transferDate);
  if (isMissed) return { transferDate, cutOffAt: schemes.cutOff(transfer, transferDate) };
  const schedule = schemes.roll(transfer, transferDate, now);
  return { transferDate: schedule.transferDate, cutOffAt: schedule.cutOff };
}

// How long after a wait should have ended, or began if it is open-ended, the sweep checks the transfer.
const CHECK_MARGIN_MS = 60_000;
const CHECK_WITHOUT_DEADLINE_MS = 3_600_000;
/** Among tens of thousands a release may have its turn that late. Later ones, and those closer to their cut-off, the sweep wakes, a few a second. */
const RELEASE_CHECK_MS = 3_600_000;

/** Of its workflow: a transfer has time that waits for its date, or will, once it has been reviewed or authorized. */
export function priorityOf(
  { waitingFor, transferDate }: { readonly waitingFor: OutgoingTransferWait | null; readonly transferDate: string },
  now: Date,
): Priority {
  return waitingFor === 'date' || transferDate > dateInUtc(now) ? PRIORITIES.later : PRIORITIES.usual;
}

/** When the sweep checks a transfer; null once it is final and no recall of it is open. */
export function nextCheckOf(
  transfer: {
    readonly status: OutgoingTransferStatus;
    readonly waitingFor: OutgoingTransferWait | null;
    readonly waitingUntil: Date | null;
    readonly cutOffAt: Date | null;
    readonly recallStatus: RecallStatus | null;
  },
  now: Date,
): Date | null {
  const { status, waitingFor, waitingUntil } = transfer;
  if (isFinalOutgoingTransferStatus(status) && !isRecallOpen(transfer)) return null;
  if (waitingUntil === null && waitingFor === 'compliance') return nextReviewCheck(now);
  if (waitingUntil === null) return new Date(now.getTime() + CHECK_WITHOUT_DEADLINE_MS + CHECK_MARGIN_MS);
  const isRelease = waitingFor === 'date' || (waitingFor === 'retry' && transfer.cutOffAt !== null);
  const marginMs = isRelease ? releaseCheckMs(waitingUntil, transfer.cutOffAt) : CHECK_MARGIN_MS;
  return new Date(waitingUntil.getTime() + marginMs);
}

function releaseCheckMs(opensAt: Date, cutOffAt: Date | null): number {
  if (cutOffAt === null) return RELEASE_CHECK_MS;
  return Math.max(CHECK_MARGIN_MS, Math.min(RELEASE_CHECK_MS, (cutOffAt.getTime() - opensAt.getTime()) / 2));
}

const LOOK_UP_DELAYS_MS = [10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000] as const;
const LOOK_UP_DELAY_MAX_MS = 3_600_000;

/** How long after the last report to look up a released transfer, given the number of look-ups so far. */
export function lookUpDelayMs(count: number): number {
  return LOOK_UP_DELAYS_MS[count] ?? LOOK_UP_DELAY_MAX_MS;
}

/** The event of a status; every status has one. */
export function outgoingTransferEventType(status: OutgoingTransferStatus): string {
  return status === 'pending' ? 'outgoing-transfer-created' : `outgoing-transfer-${status}`;
}

/** The beneficiary as a GET shows it (specification 2.8). */
export interface BeneficiaryShown {
  readonly fullName: string;
  readonly identity: Readonly<Record<string, unknown>> | null;
  readonly address: Readonly<Record<string, unknown>> | null;
  readonly account: PartyAccount | null;
  readonly title: string | null;
}

/** The beneficiary as stored with the transfer. */
export function presentBeneficiaryShown(beneficiary: BeneficiaryShown | null): BeneficiaryShown | null {
  if (beneficiary === null || beneficiary.account === null) return beneficiary;
  return { ...beneficiary, account: presentPartyAccount(beneficiary.account) };
}
