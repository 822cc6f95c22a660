import { dateInUtc } from '../common/time/dates.ts';
import { PRIORITIES, type Priority } from '../common/waits.ts';
import { nextReviewCheck } from '../compliance/checks.ts';
import { type PartyAccount, presentPartyAccount } from '../incoming-transfers/incoming-transfers.ts';
import type { SchemeOf, Schemes } from '../providers/schemes.ts';
import type { SubmissionStatus } from './outcomes/progress.ts';
import {
  isDateWait,
  isFinalOutgoingTransferStatus,
  isRecallOpen,
  type OutgoingTransferStatus,
  type OutgoingTransferWait,
  type RecallStatus,
  type Requirements,
} from './statuses.ts';

export interface PendingTransfer extends Requirements, SchemeOf {
  readonly transferDate: string;
  readonly cutOffAt: Date | null;
  readonly rollCount: number;
  readonly totalMinor: bigint;
}

export interface PendingContext {
  readonly now: Date;
  readonly schemes: Schemes;
  /** How often the date may roll before the transfer fails. */
  readonly rollLimit: number;
  /** As in TransferSituation: until that is known, the date rolls on. */
  readonly mayBeAtBank: boolean;
  /** The source account and its client are active; for an internal transfer, also the receiving account and its client. */
  readonly accountsActive: boolean;
  /** The receiving account of an internal transfer is closed or declined, so it can never be paid. */
  readonly destinationGone: boolean;
  readonly availableMinor: bigint;
}

export type PendingDecision =
  | { readonly decision: 'fail'; readonly failureCode: string; readonly requirements: Requirements }
  | {
      /** `reschedule`: a calendar or a cut-off has changed. Unlike a missed cut-off, this does not count as a roll. */
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

/**
 * The decision on a pending transfer, in the order authorization, compliance, date and, last, balance. After a roll or a new
 * schedule, the caller decides again.
 */
export function decidePendingTransfer(transfer: PendingTransfer, context: PendingContext): PendingDecision {
  const { now, schemes } = context;
  const requirements: Requirements = {
    authorizationStatus: transfer.authorizationStatus,
    complianceCheckStatus: transfer.complianceCheckStatus,
    transferDateStatus: transfer.transferDateStatus,
    balanceCheckStatus: transfer.balanceCheckStatus,
  };
  if (requirements.complianceCheckStatus === 'not-fulfilled') {
    return { decision: 'fail', failureCode: 'compliance.rejected', requirements };
  }
  if (context.destinationGone) return { decision: 'fail', failureCode: 'account.closed', requirements };

  if (!schemes.isInForce(transfer, { transferDate: transfer.transferDate, cutOff: transfer.cutOffAt })) {
    return { decision: 'reschedule', ...rescheduled(transfer, context) };
  }
  const schedule = schemes.roll(transfer, transfer.transferDate, now);
  if (schedule.rolls > 0) {
    if (transfer.rollCount >= context.rollLimit && !context.mayBeAtBank) {
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
    return { decision: 'wait', for: transfer.rollCount > 0 ? 'next-window' : 'date', until: opensAt, requirements };
  }
  const dated: Requirements = { ...requirements, transferDateStatus: 'fulfilled' };
  if (!context.accountsActive) return { decision: 'wait', for: 'account', until: rollsAt(), requirements: dated };
  if (context.availableMinor < transfer.totalMinor) {
    const short: Requirements = { ...dated, balanceCheckStatus: 'not-fulfilled' };
    return { decision: 'wait', for: 'balance', until: rollsAt(), requirements: short };
  }
  return { decision: 'process', requirements: { ...dated, balanceCheckStatus: 'fulfilled' } };
}

/**
 * The first date, from the transfer's own on, that is open and not missed. An open date whose former cut-off has passed stays
 * with its present cut-off: if that has passed too, the transfer missed it, which counts.
 */
function rescheduled(transfer: PendingTransfer, { schemes, now }: PendingContext) {
  const { transferDate, cutOffAt } = transfer;
  const isMissed = cutOffAt !== null && cutOffAt <= now && schemes.isOpen(transfer, transferDate);
  if (isMissed) return { transferDate, cutOffAt: schemes.cutOff(transfer, transferDate) };
  const schedule = schemes.roll(transfer, transferDate, now);
  return { transferDate: schedule.transferDate, cutOffAt: schedule.cutOff };
}

// How long after a wait should have ended, or began if it is open-ended, the sweep checks the transfer.
const CHECK_MARGIN_MS = 60_000;
const CHECK_WITHOUT_DEADLINE_MS = 3_600_000;
/** Among tens of thousands a release may come this late. The sweep wakes later ones, and those near their cut-off, a few per second. */
const RELEASE_CHECK_MS = 3_600_000;

/** The priority of its workflow: lower for a transfer that waits for its date, or will after review and authorization. */
export function priorityOf(
  { waitingFor, transferDate }: { readonly waitingFor: OutgoingTransferWait | null; readonly transferDate: string },
  now: Date,
): Priority {
  return isDateWait(waitingFor) || transferDate > dateInUtc(now) ? PRIORITIES.later : PRIORITIES.usual;
}

/** The columns that decide what a transfer waits for. */
interface Waiting {
  readonly status: OutgoingTransferStatus;
  readonly scope: 'internal' | 'external';
  readonly method: 'built-in' | 'plug-in';
  readonly recallStatus: RecallStatus | null;
  readonly submissionStatus: SubmissionStatus;
  readonly submissionAttempt: number;
  readonly retryAt: Date | null;
  readonly waitingFor: OutgoingTransferWait | null;
  readonly waitingSince: Date | null;
  readonly waitingUntil: Date | null;
}

interface Checked {
  readonly cutOffAt: Date | null;
  readonly nextCheckAt: Date | null;
  readonly updatedAt: Date;
}

/** A transfer after a change, with what it now waits for and when the sweep checks it. `isDecided`: the change has decided its wait. */
export function afterChange<Transfer extends Waiting & Checked>(
  before: Waiting | null,
  transfer: Transfer,
  isDecided: boolean,
  now: Date,
): Transfer {
  const waiting = isDecided ? transfer : withPresentWait(before, transfer, now);
  return { ...waiting, nextCheckAt: nextCheckOf(waiting, now), updatedAt: now };
}

/**
 * A report or a recall leaves the next step to the workflow; until that takes it, the row already says whose answer comes next. A
 * change of anything else leaves the wait as it is.
 */
function withPresentWait<Transfer extends Waiting>(before: Waiting | null, transfer: Transfer, now: Date): Transfer {
  if (before !== null && WAIT_DECIDERS.every((column) => before[column] === transfer[column])) return transfer;
  const waitingFor = presentWait(transfer);
  const waitingUntil = waitingFor === 'retry' ? transfer.retryAt : null;
  if (waitingFor === transfer.waitingFor) return waitingFor === 'retry' ? { ...transfer, waitingUntil } : transfer;
  return { ...transfer, waitingFor, waitingSince: waitingFor === null ? null : now, waitingUntil };
}

const WAIT_DECIDERS = ['status', 'submissionStatus', 'submissionAttempt', 'recallStatus'] as const;

function waitOfSubmission(status: SubmissionStatus): OutgoingTransferWait {
  if (status === 'queued') return 'provider-decision';
  return status === 'rejected' ? 'retry' : 'provider';
}

function presentWait(transfer: Waiting): OutgoingTransferWait | null {
  const { status, scope, method, submissionStatus, waitingFor } = transfer;
  if (isRecallOpen(transfer)) return 'recall';
  if (isFinalOutgoingTransferStatus(status)) return null;
  if (status === 'pending' || scope === 'internal') return waitingFor;
  if (method === 'plug-in') return 'caller';
  return status === 'processing' ? waitOfSubmission(submissionStatus) : 'provider';
}

/** When the sweep checks a transfer; null once it is final and no recall of it is open. */
function nextCheckOf(
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
  const isRelease = isDateWait(waitingFor) || (waitingFor === 'retry' && transfer.cutOffAt !== null);
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
