import { expect, test } from 'vitest';
import { classifyPayment, classifyProviderOnly } from './daily-reconciliation.ts';
import { NOTHING, plus, totalsOf } from './day-balance.ts';
import type { Movement } from './movements.ts';
import { combineRepeatedBreaks, REPEATED_BREAKS_MAX } from './repeated-breaks.ts';

const UNKNOWN: Movement = {
  side: 'provider',
  direction: 'out',
  reference: 'SALARY',
  movement: 'payment-out',
  amountMinor: 100n,
  bookedAt: new Date('2026-11-21T12:00:00Z'),
  ofDay: true,
  accounts: [],
  resourceId: null,
};
const CONTEXT = { ours: null, repeats: null, ourStanding: null, isBookedBefore: false, counter: null, answer: null };

test('hundreds of thousands of entries of one reference are each on one side only', () => {
  const movements = Array.from({ length: 200_000 }, () => UNKNOWN);
  expect(classifyPayment(movements).oneSided).toHaveLength(200_000);
});

test('of more breaks alike than a thousand, those beyond are one, of their number and sum, and nothing is lost', () => {
  const [unknown] = classifyProviderOnly(UNKNOWN, CONTEXT);
  if (unknown === undefined) throw new Error('no break');
  const breaks = Array.from({ length: REPEATED_BREAKS_MAX + 9 }, () => unknown);
  const other = { ...unknown, reference: 'OTHER' };
  const combined = combineRepeatedBreaks([...breaks, other]);
  expect(combined).toHaveLength(REPEATED_BREAKS_MAX + 1);
  expect(combined.at(-1)).toMatchObject({
    actual: { amountMinor: 1_000n, count: 10 },
    effect: totalsOf(false, 10n, 1_000n),
  });
  const effects = combined.map(({ effect }) => effect).reduce(plus, NOTHING);
  expect(effects).toEqual(totalsOf(false, BigInt(REPEATED_BREAKS_MAX + 10), 100n * BigInt(REPEATED_BREAKS_MAX + 10)));
  expect(combineRepeatedBreaks(breaks.slice(0, REPEATED_BREAKS_MAX))).toHaveLength(REPEATED_BREAKS_MAX);
  expect(combineRepeatedBreaks(breaks.slice(0, 5))).toEqual(breaks.slice(0, 5));
});
