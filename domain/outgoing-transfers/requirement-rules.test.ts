import { expect, test } from 'vitest';
import {
  isStraightThrough,
  parseAuthorizationRule,
  type RequirementRules,
  requiresAuthorization,
  ruleFor,
  startingRequirements,
} from './requirement-rules.ts';

test('an amount counts in every currency, whatever its minor unit', () => {
  const rule = parseAuthorizationRule('1000.5');
  if (rule === null) throw new Error('no rule');
  expect(requiresAuthorization(rule, { amountMinor: 100_050n, currency: 'EUR' })).toBe(true);
  expect(requiresAuthorization(rule, { amountMinor: 100_049n, currency: 'EUR' })).toBe(false);
  expect(requiresAuthorization(rule, { amountMinor: 1001n, currency: 'JPY' })).toBe(true);
  expect(requiresAuthorization(rule, { amountMinor: 1000n, currency: 'JPY' })).toBe(false);
  expect(requiresAuthorization(rule, { amountMinor: 1_000_500n, currency: 'KWD' })).toBe(true);
  expect(requiresAuthorization(rule, { amountMinor: 10_004_999n, currency: 'CLF' })).toBe(false);
});

test('never and always mean it', () => {
  expect(requiresAuthorization('never', { amountMinor: 10n ** 14n, currency: 'EUR' })).toBe(false);
  expect(requiresAuthorization('always', { amountMinor: 1n, currency: 'EUR' })).toBe(true);
});

test.each(['', 'sometimes', '-1', '1e3', '1.00001', 'NaN', '1,000', 'Always'])('%j is no rule', (text) => {
  expect(parseAuthorizationRule(text)).toBeNull();
});

test('a currency with a rule of its own does not follow the general one', () => {
  const rules = { rule: 'none', byCurrency: { USD: 'external' } };
  expect(ruleFor(rules, 'USD')).toBe('external');
  expect(ruleFor(rules, 'EUR')).toBe('none');
  expect(ruleFor(rules, 'constructor')).toBe('none');
});

const free: RequirementRules = {
  authorization: { rule: 'never', byCurrency: {} },
  compliance: { incoming: { rule: 'none', byCurrency: {} }, outgoing: { rule: 'none', byCurrency: {} } },
};
const authorized: RequirementRules = { ...free, authorization: { rule: 'never', byCurrency: { EUR: 'always' } } };
const reviewed = (side: 'incoming' | 'outgoing'): RequirementRules => ({
  ...free,
  compliance: { ...free.compliance, [side]: { rule: 'external', byCurrency: {} } },
});
const internal = { scope: 'internal', currency: 'EUR', amountMinor: 100n } as const;

test.each([
  ['need no check', free, 'not-required', 'not-required'],
  ['need an approver', authorized, 'not-checked', 'not-required'],
  ['are reviewed on leaving', reviewed('outgoing'), 'not-required', 'not-checked'],
  ['are reviewed on arrival', reviewed('incoming'), 'not-required', 'not-required'],
])(
  'transfers that %s start with only the requirements that apply',
  (_, rules, authorizationStatus, complianceCheckStatus) => {
    expect(startingRequirements(rules, internal)).toEqual({
      authorizationStatus,
      complianceCheckStatus,
      transferDateStatus: 'not-checked',
      balanceCheckStatus: 'not-checked',
    });
  },
);

test('only an internal transfer without a date, an unknown reason, authorization or review goes straight through', () => {
  expect(isStraightThrough(free, internal)).toBe(true);
  expect(isStraightThrough(authorized, { ...internal, currency: 'GBP' })).toBe(true);
  expect(isStraightThrough(free, { ...internal, scope: 'external' })).toBe(false);
  expect(isStraightThrough(free, { ...internal, transferDate: '2027-03-01' })).toBe(false);
  expect(isStraightThrough(free, { ...internal, transferReasonId: 'unknown' })).toBe(false);
  for (const rules of [authorized, reviewed('outgoing'), reviewed('incoming')]) {
    expect(isStraightThrough(rules, internal)).toBe(false);
  }
});
