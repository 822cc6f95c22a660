import { refusal } from '../frame/errors.ts';
import { formatDateTime } from '../frame/time/dates.ts';
import type { ProcedureResult } from './procedures.ts';
import type { Judgement } from './rules.ts';

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
  /** The rule of the service's own review that stopped the transfer; it stays when a person has decided. */
  readonly complianceRule: Judgement['rule'];
}

/** The columns of a transfer about which nothing is decided yet. */
export const UNDECIDED = {
  complianceResult: null,
  complianceDecidedAt: null,
  complianceDecidedBy: null,
  complianceRule: null,
} as const;

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

/** The actor of what the service's own rules decide. */
export const RULES_ACTOR = 'built-in-review';

/** Whether the service's own rules are to judge the transfer now: no decision is recorded yet. */
export function awaitsJudgement(
  transfer: CheckedTransfer & { readonly status: string },
  mode: 'none' | 'external' | 'built-in',
): boolean {
  const isOpen = transfer.status === 'pending' || transfer.status === 'on-hold';
  return mode === 'built-in' && isOpen && isInReview(transfer) && transfer.complianceResult === null;
}

/** A result, and who decided it. */
export interface ComplianceDecision {
  readonly result: ProcedureResult;
  readonly actor: string;
  /** Of the service's own rules: the rule that stops. Absent in the decision of a person, which a judgement never changes. */
  readonly rule?: Judgement['rule'];
}

/**
 * The columns after a decision; null if it says what is recorded. Throws once the check is final, or the transfer has
 * ended without a decision.
 */
export function decideCheck(
  transfer: CheckedTransfer & { readonly status: string },
  isFinal: boolean,
  { result, actor, rule }: ComplianceDecision,
  now: Date,
): CheckedTransfer | null {
  const comesSecond = isFinal || !isInReview(transfer) || transfer.complianceResult !== null;
  if (rule !== undefined && comesSecond) return null;
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
    complianceRule: rule === undefined ? transfer.complianceRule : rule,
  };
}

/** A check as answers and events show it. */
export function presentComplianceCheck(transfer: CheckedTransfer) {
  const { complianceResult: result, complianceRule: rule, complianceDecidedAt, complianceDecidedBy } = transfer;
  const monitored = { result, ...(rule === null ? {} : { rule }) };
  const status = SHOWN_STATUSES[transfer.complianceCheckStatus];
  return {
    status,
    procedureResults: status === 'skipped' ? {} : { 'transaction-monitoring': monitored },
    ...(complianceDecidedAt === null || complianceDecidedBy === null
      ? {}
      : { decidedAt: formatDateTime(complianceDecidedAt), decidedBy: complianceDecidedBy }),
  };
}
