import { expect, test } from 'vitest';
import { type Difference, differenceOf, type Standing } from './reconciliation.ts';

const paid: Standing = { amountMinor: 1_000n, moved: true };
const other: Standing = { amountMinor: 1_001n, moved: true };
const silent: Standing = { amountMinor: null, moved: true };
const undone: Standing = { amountMinor: 1_000n, moved: false };

const CASES: readonly [string, Standing | null, Standing | null, Difference | null][] = [
  ['both say the same', paid, paid, null],
  ['neither moved money', undone, undone, null],
  ['the provider undid a payment that we never had', undone, null, null],
  ['the provider never heard of one that moved nothing', null, undone, null],
  ['the provider paid what we do not know', paid, null, 'statement-unknown-payment'],
  ['the provider paid what we have not booked', paid, undone, 'statement-not-booked'],
  ['we booked what the provider does not know', null, paid, 'statement-not-at-provider'],
  ['we booked what the provider undid', undone, paid, 'statement-not-at-provider'],
  ['the amounts differ', other, paid, 'statement-amount-differs'],
  ['one side tells no amount', silent, paid, null],
];

test.each(CASES)('%s', (_, provider, ours, difference) => {
  expect(differenceOf(provider, ours)).toBe(difference);
});
