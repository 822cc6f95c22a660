import { minorUnits } from '../frame/money.ts';

/** Who decides whether a transfer may go: nobody asks, the caller, or the service's own rules. */
export const COMPLIANCE_MODES = ['none', 'external', 'built-in'] as const;
export type ComplianceMode = (typeof COMPLIANCE_MODES)[number];

/** A configured rule, and the currencies that have one of their own. */
export interface RuleByCurrency<Rule> {
  readonly rule: Rule;
  readonly byCurrency: Readonly<Record<string, Rule>>;
}

export function ruleFor<Rule>(rules: RuleByCurrency<Rule>, currency: string): Rule {
  return Object.hasOwn(rules.byCurrency, currency) ? (rules.byCurrency[currency] ?? rules.rule) : rules.rule;
}

/** Outgoing transfers need an approver never, always, or from an amount on. */
export type AuthorizationRule = 'never' | 'always' | { readonly fromTenThousandths: bigint };

/** No currency has more than four decimals, so an amount for every currency is held in ten-thousandths. */
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
