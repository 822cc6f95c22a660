import { minorUnits } from '../common/money.ts';
import { findTransferReason } from './requests/transfer-reasons.ts';
import type { Requirements } from './statuses.ts';

/** Whether transfers are reviewed: not at all, by the caller, or by the built-in rules. */
export const COMPLIANCE_MODES = ['none', 'external', 'built-in'] as const;
export type ComplianceMode = (typeof COMPLIANCE_MODES)[number];

/** A configured rule with its exceptions by currency. */
export interface RuleByCurrency<Rule> {
  readonly rule: Rule;
  readonly byCurrency: Readonly<Record<string, Rule>>;
}

export function ruleFor<Rule>(rules: RuleByCurrency<Rule>, currency: string): Rule {
  return Object.hasOwn(rules.byCurrency, currency) ? (rules.byCurrency[currency] ?? rules.rule) : rules.rule;
}

/** Outgoing transfers need an approver never, always, or from this amount on. */
export type AuthorizationRule = 'never' | 'always' | { readonly fromTenThousandths: bigint };

/** Ten-thousandths hold an amount in every currency, since none has more than four decimals. */
const RULE_DECIMALS = 4;
const RULE = /^(0|[1-9]\d{0,14})(?:\.(\d{1,4}))?$/;

/** `never`, `always`, or an amount as decimal text; null for anything else. */
export function parseAuthorizationRule(text: string): AuthorizationRule | null {
  if (text === 'never' || text === 'always') return text;
  const match = RULE.exec(text);
  if (match === null) return null;
  return { fromTenThousandths: BigInt(`${match[1]}${(match[2] ?? '').padEnd(RULE_DECIMALS, '0')}`) };
}

export function requiresAuthorization(
  rule: AuthorizationRule,
  transfer: { readonly amountMinor: bigint; readonly currency: string },
): boolean {
  if (rule === 'never' || rule === 'always') return rule === 'always';
  const tenThousandths = transfer.amountMinor * 10n ** BigInt(RULE_DECIMALS - minorUnits(transfer.currency));
  return tenThousandths >= rule.fromTenThousandths;
}

/** The configured requirements of transfers. */
export interface RequirementRules {
  readonly authorization: RuleByCurrency<AuthorizationRule>;
  readonly compliance: {
    readonly incoming: RuleByCurrency<ComplianceMode>;
    readonly outgoing: RuleByCurrency<ComplianceMode>;
  };
}

interface Amount {
  readonly currency: string;
  readonly amountMinor: bigint;
}

/** A new transfer's requirements, by configuration. */
export function startingRequirements(
  { authorization, compliance }: RequirementRules,
  { currency, amountMinor }: Amount,
): Requirements {
  const authorize = requiresAuthorization(ruleFor(authorization, currency), { amountMinor, currency });
  // The receiver's review is separate.
  const reviewed = ruleFor(compliance.outgoing, currency) !== 'none';
  return {
    authorizationStatus: authorize ? 'not-checked' : 'not-required',
    complianceCheckStatus: reviewed ? 'not-checked' : 'not-required',
    transferDateStatus: 'not-checked',
    balanceCheckStatus: 'not-checked',
  };
}

/**
 * The requirements of a dry run: each as it would result now. An authorization or a review that is
 * needed stays unchecked, and the balance is checked nevertheless. A later date leaves both unchecked.
 */
export function previewRequirements(
  starting: Requirements,
  transfer: { readonly immediate: boolean; readonly totalMinor: bigint; readonly availableMinor: bigint },
): Requirements {
  if (!transfer.immediate) return starting;
  const isCovered = transfer.availableMinor >= transfer.totalMinor;
  return {
    ...starting,
    transferDateStatus: 'fulfilled',
    balanceCheckStatus: isCovered ? 'fulfilled' : 'not-fulfilled',
  };
}

/** Whether an incoming transfer is reviewed before the receiver gets the money. */
export function isReviewedOnArrival({ compliance }: Pick<RequirementRules, 'compliance'>, currency: string): boolean {
  return ruleFor(compliance.incoming, currency) !== 'none';
}

/** An internal transfer without a date, a review or an authorization has nothing to wait for and nothing to look up. */
export function isStraightThrough(
  rules: RequirementRules,
  transfer: Amount & {
    readonly scope: 'internal' | 'external';
    readonly transferDate?: string | undefined;
    readonly transferReasonId?: string | undefined;
  },
): boolean {
  const { scope, transferDate, transferReasonId } = transfer;
  if (scope !== 'internal' || transferDate !== undefined) return false;
  if (transferReasonId !== undefined && findTransferReason(transferReasonId) === null) return false;
  const requirements = startingRequirements(rules, transfer);
  const isFree =
    requirements.authorizationStatus === 'not-required' && requirements.complianceCheckStatus === 'not-required';
  return isFree && !isReviewedOnArrival(rules, transfer.currency);
}
