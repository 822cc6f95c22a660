import { refusal } from '../frame/errors.ts';
import { formatDateTime } from '../frame/time/dates.ts';
import type { ProcedureResult } from './procedures.ts';

// What results make of a compliance check (specification 2.10).

export const COMPLIANCE_CHECK_STATUSES = ['in-review', 'approved', 'rejected', 'skipped'] as const;
export type ComplianceCheckStatus = (typeof COMPLIANCE_CHECK_STATUSES)[number];

/** A transfer's columns about its check. */
export interface CheckedTransfer {
  readonly complianceCheckStatus: 'not-checked' | 'fulfilled' | 'not-fulfilled' | 'not-required';
  /** The latest result; a stop leaves the check in review. */
  readonly complianceResult: ProcedureResult | null;
  /** When and by whom the check became final. */
  readonly complianceDecidedAt: Date | null;
  readonly complianceDecidedBy: string | null;
}

/** The columns of a transfer about which nothing is decided yet. */
export const UNDECIDED = { complianceResult: null, complianceDecidedAt: null, complianceDecidedBy: null } as const;

const SHOWN_STATUSES: Readonly<Record<CheckedTransfer['complianceCheckStatus'], ComplianceCheckStatus>> = {
  'not-checked': 'in-review',
  fulfilled: 'approved',
  'not-fulfilled': 'rejected',
  'not-required': 'skipped',
};

const STATUS_OF_RESULT: Readonly<Record<ProcedureResult, CheckedTransfer['complianceCheckStatus']>> = {
  'soft-stop': 'not-checked',
  'hard-stop': 'not-checked',
  'all-passed': 'fulfilled',
  'hard-stop-accepted': 'fulfilled',
  'hard-stop-rejected': 'not-fulfilled',
};

export function isInReview({ complianceCheckStatus }: Pick<CheckedTransfer, 'complianceCheckStatus'>): boolean {
  return complianceCheckStatus === 'not-checked';
}

// A review may last for years, and its decision wakes the workflow: the sweep looks seldom, which keeps the history short.
const REVIEW_CHECK_MS = 86_400_000;

/** When the sweep checks a transfer whose review has no deadline. */
export function nextReviewCheck(now: Date): Date {
  return new Date(now.getTime() + REVIEW_CHECK_MS);
}

/** A result, and who decided it. */
export interface ComplianceDecision {
  readonly result: ProcedureResult;
  readonly actor: string;
}

/**
 * The columns after a decision; null if it says what is recorded. Throws once the check is final, or the transfer has
 * ended without a decision.
 */
export function decideCheck(
  transfer: CheckedTransfer & { readonly status: string },
  isFinal: boolean,
  { result, actor }: ComplianceDecision,
  now: Date,
): CheckedTransfer | null {
  if (isFinal || !isInReview(transfer)) {
    const check = SHOWN_STATUSES[transfer.complianceCheckStatus];
    const message = `The compliance check is ${check} and the transfer ${transfer.status}: nothing is left to decide.`;
    throw refusal('common.state.illegal_transition', ['complianceCheck', 'result', result], message);
  }
  if (transfer.complianceResult === result) return null;
  const complianceCheckStatus = STATUS_OF_RESULT[result];
  const decided = complianceCheckStatus !== 'not-checked';
  return {
    complianceCheckStatus,
    complianceResult: result,
    complianceDecidedAt: decided ? now : null,
    complianceDecidedBy: decided ? actor : null,
  };
}

/** A check as answers and events show it. */
export function presentComplianceCheck(transfer: CheckedTransfer) {
  const { complianceResult: result, complianceDecidedAt, complianceDecidedBy } = transfer;
  const status = SHOWN_STATUSES[transfer.complianceCheckStatus];
  return {
    status,
    procedureResults: status === 'skipped' ? {} : { 'transaction-monitoring': { result } },
    ...(complianceDecidedAt === null || complianceDecidedBy === null
      ? {}
      : { decidedAt: formatDateTime(complianceDecidedAt), decidedBy: complianceDecidedBy }),
  };
}
