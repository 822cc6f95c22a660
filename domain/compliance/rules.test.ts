import { describe, expect, test } from 'vitest';
import { type ComplianceRule, type Findings, parseWindow, type ReviewedTransfer, screen } from './rules.ts';

const BOTH = ['incoming', 'outgoing'] as const;
const TRANSFER: ReviewedTransfer = {
  direction: 'outgoing',
  currency: 'EUR',
  amountMinor: 100_00n,
  counterpartyCountries: ['DE'],
  counterpartyNames: ['Viktor Sorokin'],
};

const amount: ComplianceRule = {
  name: 'large',
  kind: 'amount',
  directions: BOTH,
  stop: 'soft-stop',
  fromMinor: { EUR: 10_000_00n, JPY: 1_500_000n, KWD: 3_000_000n },
};
const velocity: ComplianceRule = {
  name: 'busy',
  kind: 'velocity',
  directions: BOTH,
  stop: 'soft-stop',
  windowMs: 86_400_000,
  fromCount: 3,
  fromSumMinor: { EUR: 500_00n, KWD: 1_000n },
};
const country: ComplianceRule = {
  name: 'embargo',
  kind: 'country',
  directions: BOTH,
  stop: 'hard-stop',
  countries: new Set(['KP', 'IR']),
};
const name: ComplianceRule = {
  name: 'sanctions',
  kind: 'name',
  directions: BOTH,
  stop: 'hard-stop',
  file: 'sanctions.csv',
  threshold: 0.85,
};

function findings(found: { count?: number; sumMinor?: bigint; isListed?: boolean } = {}): Findings {
  return {
    activity: new Map([['busy', { count: found.count ?? 1, sumMinor: found.sumMinor ?? 100_00n }]]),
    isListed: new Map([['sanctions', found.isListed ?? false]]),
  };
}

function stopOf(rule: ComplianceRule, transfer: Partial<ReviewedTransfer>, found: Parameters<typeof findings>[0] = {}) {
  return screen([rule], { ...TRANSFER, ...transfer }, findings(found)).rule?.name ?? null;
}

describe('an amount stops from the limit of its currency on', () => {
  test.each([
    ['EUR', 999_999n, null],
    ['EUR', 1_000_000n, 'large'],
    ['EUR', 1_000_001n, 'large'],
    ['JPY', 1_499_999n, null],
    ['JPY', 1_500_000n, 'large'],
    ['KWD', 2_999_999n, null],
    ['KWD', 3_000_000n, 'large'],
    ['USD', 999_999_999_999_999n, null],
  ] as const)('%s %s: %s', (currency, amountMinor, expected) => {
    expect(stopOf(amount, { currency, amountMinor })).toBe(expected);
  });
});

describe('velocity stops the transfer that reaches the number or the sum', () => {
  test.each([
    ['EUR', 2, 499_99n, null],
    ['EUR', 3, 1n, 'busy'],
    ['EUR', 4, 1n, 'busy'],
    ['EUR', 1, 500_00n, 'busy'],
    ['KWD', 1, 999n, null],
    ['KWD', 1, 1_000n, 'busy'],
    ['JPY', 2, 9_000_000n, null],
    ['JPY', 3, 1n, 'busy'],
  ] as const)('%s, %i transfers of %s in all: %s', (currency, count, sumMinor, expected) => {
    expect(stopOf(velocity, { currency }, { count, sumMinor })).toBe(expected);
  });

  test('a rule without a number limits only the sum', () => {
    const sumOnly = { ...velocity, fromCount: null } as const;
    expect(stopOf(sumOnly, {}, { count: 1_000, sumMinor: 499_99n })).toBeNull();
    expect(stopOf(sumOnly, {}, { count: 1, sumMinor: 500_00n })).toBe('busy');
  });
});

describe('a country stops if the other party has it', () => {
  test.each([
    [[], null],
    [['DE'], null],
    [['KP'], 'embargo'],
    [['DE', 'IR'], 'embargo'],
    [['kp'], null],
  ] as const)('%j: %s', (counterpartyCountries, expected) => {
    expect(stopOf(country, { counterpartyCountries })).toBe(expected);
  });
});

test.each([
  [true, 'sanctions'],
  [false, null],
])('a name that is listed (%s) stops: %s', (isListed, expected) => {
  expect(stopOf(name, {}, { isListed })).toBe(expected);
});

describe('of several rules', () => {
  const everything = { ...TRANSFER, amountMinor: 20_000_00n, counterpartyCountries: ['IR'] };

  test('the severest stop wins, and of equal ones the first', () => {
    const found = findings({ count: 5, isListed: true });
    expect(screen([amount, velocity, country, name], everything, found)).toEqual({
      result: 'hard-stop',
      rule: { name: 'embargo', kind: 'country' },
    });
    expect(screen([name, country, amount], everything, found).rule?.name).toBe('sanctions');
    expect(screen([velocity, amount], everything, found)).toEqual({
      result: 'soft-stop',
      rule: { name: 'busy', kind: 'velocity' },
    });
  });

  test('none that stops, and none at all, is all-passed', () => {
    const passed = { result: 'all-passed', rule: null };
    expect(screen([amount, velocity, country, name], TRANSFER, findings())).toEqual(passed);
    expect(screen([], everything, findings())).toEqual(passed);
  });

  test.each(['incoming', 'outgoing'] as const)('a rule for the other direction does not count: %s', (direction) => {
    const other = direction === 'incoming' ? 'outgoing' : 'incoming';
    const rules = [{ ...country, directions: [other] } as const];
    expect(screen(rules, { ...everything, direction }, findings()).result).toBe('all-passed');
    expect(screen(rules, { ...everything, direction: other }, findings()).result).toBe('hard-stop');
  });

  test('a rule that was not looked up leaves no screening result', () => {
    const nothing: Findings = { activity: new Map(), isListed: new Map() };
    expect(() => screen([velocity], TRANSFER, nothing)).toThrow('the rule busy has not been looked up');
    expect(() => screen([name], TRANSFER, nothing)).toThrow('the rule sanctions has not been looked up');
  });
});

describe('a window', () => {
  test.each([
    ['P1D', 86_400_000],
    ['PT24H', 86_400_000],
    ['P1W', 7 * 86_400_000],
    ['P1DT12H30M', 131_400_000],
    ['PT1M', 60_000],
    ['P366D', 366 * 86_400_000],
    ['P367D', null],
    ['PT0M', null],
    ['P0D', null],
    ['P', null],
    ['PT', null],
    ['P1DT', null],
    ['P1M', null],
    ['P1Y', null],
    ['PT30S', null],
    ['1D', null],
    ['-P1D', null],
    ['p1d', null],
  ])('%s is %s milliseconds', (text, expected) => {
    expect(parseWindow(text)).toBe(expected);
  });
});
