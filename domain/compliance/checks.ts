import { rejection } from '../common/errors.ts';
import { formatDateTime } from '../common/time/dates.ts';
import type { ProcedureResult } from './procedures.ts';
import type { ScreeningResult } from './rules.ts';

// How results change a compliance check (specification 2.10).

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
  /** The built-in rule that stopped the transfer; kept after a person's decision. */
  readonly complianceRule: ScreeningResult['rule'];
}

/** The columns of a transfer without a decision. */
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

// A review may last for years, and its decision wakes the workflow: the sweep is infrequent, which keeps the history short.
const REVIEW_CHECK_MS = 86_400_000;

/** When the sweep checks a transfer whose review has no deadline. */
export function nextReviewCheck(now: Date): Date {
  return new Date(now.getTime() + REVIEW_CHECK_MS);
}

/** The actor of decisions by the built-in rules. */
export const RULES_ACTOR = 'built-in-review';

/** Whether the built-in rules are to screen the transfer now: no decision is recorded yet. */
export function awaitsScreening(
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
  /**
   * Everybody who made, authorized or assigned the payment, whom four eyes exclude from its review: db/compliance/involved.ts finds them
   * for every door. No one for the service's own rules.
   */
  readonly involved: readonly string[];
  /** The built-in rule that stops the transfer. Absent in a person's decision, which a screening never changes. */
  readonly rule?: ScreeningResult['rule'];
  /** The present mode of review, at a door that lets the built-in rules screen first. Absent: commands and signals decide in every mode. */
  readonly mode?: Parameters<typeof awaitsScreening>[1] | undefined;
}

/**
 * The columns after a decision; null if it is already recorded. Throws for a decision by someone involved in the payment, once the
 * check is final, if the transfer has ended without a decision, and while it awaits the built-in rules, unless it rejects.
 */
export function decideCheck(
  transfer: CheckedTransfer & { readonly status: string },
  isFinal: boolean,
  { result, actor, involved, rule, mode }: ComplianceDecision,
  now: Date,
): CheckedTransfer | null {
  if (involved.includes(actor)) {
    const message = 'No one decides about a payment that they made, authorized or assigned: someone else has to.';
    throw rejection('common.security.access_denied', ['complianceCheck', 'result', result], message);
  }
  const isTooLate = isFinal || !isInReview(transfer) || transfer.complianceResult !== null;
  if (rule !== undefined && isTooLate) return null;
  if (isFinal || !isInReview(transfer)) {
    const check = SHOWN_STATUSES[transfer.complianceCheckStatus];
    const message = `The compliance check is ${check} and the transfer ${transfer.status}: nothing is left to decide.`;
    throw rejection('common.state.illegal_transition', ['complianceCheck', 'result', result], message);
  }
  // A recorded stop too would keep the rules from screening.
  if (mode !== undefined && awaitsScreening(transfer, mode) && result !== 'hard-stop-rejected') {
    const message = 'The built-in rules have not screened the transfer yet: until then it can only be rejected.';
    throw rejection('common.state.illegal_transition', ['complianceCheck', 'result', result], message);
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
