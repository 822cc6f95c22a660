import { expect, test } from 'vitest';
import { parseAuthorizationRule, requiresAuthorization, ruleFor } from './requirement-rules.ts';

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
