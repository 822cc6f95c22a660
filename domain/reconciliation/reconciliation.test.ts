import { expect, test } from 'vitest';
import { type Difference, differenceOf, type Standing } from './reconciliation.ts';

const paid: Standing = { amountMinor: 1_000n, moved: true, undoneMinor: null };
const other: Standing = { ...paid, amountMinor: 1_001n };
const silent: Standing = { ...paid, amountMinor: null };
const undone: Standing = { amountMinor: 1_000n, moved: false, undoneMinor: 1_000n };
const partly: Standing = { ...undone, undoneMinor: 400n };
/** The statement shows a later return only; the payment itself was on an earlier statement. */
const undoneLater: Standing = { amountMinor: null, moved: false, undoneMinor: 400n };
const pending: Standing = { amountMinor: 1_000n, moved: false, undoneMinor: null };

const CASES: readonly [string, Standing | null, Standing | null, Difference | null][] = [
  ['both say the same', paid, paid, null],
  ['neither moved money', pending, pending, null],
  ['both undid the payment', undone, undone, null],
  ['both undid a part of it', partly, partly, null],
  ['the provider undid a payment that we never had', undone, null, null],
  ['the provider does not know one that moved nothing', null, undone, null],
  ['the provider paid what we do not know', paid, null, 'statement-unknown-payment'],
  ['the provider paid what we have not booked', paid, pending, 'statement-not-booked'],
  ['the provider paid what we have undone', paid, undone, 'statement-not-booked'],
  ['we booked what the provider does not know', null, paid, 'statement-not-at-provider'],
  ['we booked what the provider undid', undone, paid, 'statement-not-at-provider'],
  ['we booked what the provider undid in part', partly, paid, 'statement-not-at-provider'],
  ['the amounts differ', other, paid, 'statement-amount-differs'],
  ['the amounts of what is undone differ', partly, undone, 'statement-amount-differs'],
  [
    'the amounts of payments that were undone differ',
    { ...undone, amountMinor: 1_001n },
    undone,
    'statement-amount-differs',
  ],
  ['what a later statement says was undone differs', undoneLater, undone, 'statement-amount-differs'],
  ['what a later statement says was undone is the same', undoneLater, partly, null],
  ['one side says no amount', silent, paid, null],
];

test.each(CASES)('%s', (_, provider, ours, difference) => {
  expect(differenceOf(provider, ours)).toBe(difference);
});
