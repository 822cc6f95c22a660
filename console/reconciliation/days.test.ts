import { expect, test } from 'vitest';
import type { CalendarDay } from '../../db/reconciliation/calendar.ts';
import { asId } from '../../domain/common/ids.ts';
import { daysOfMonth, isMonth, monthAfter, monthBefore, stateOf } from './days.ts';

const NOW = new Date('2026-11-26T10:00:00Z');
const AGREED: CalendarDay = {
  provider: 'sandbox-bank',
  currency: 'GBP',
  day: '2026-11-20',
  id: asId('019a9f3c-6b1d-7a02-8a55-0c1a1e5b9f30'),
  openBreaks: 0,
  isWithoutStatement: false,
  source: 'statement',
};

test.each([
  ['agreed', AGREED, '2026-11-20', '2026-11-01'],
  ['differs', { ...AGREED, openBreaks: 2 }, '2026-11-20', '2026-11-01'],
  ['no-statement', { ...AGREED, openBreaks: 2, isWithoutStatement: true }, '2026-11-20', '2026-11-01'],
  ['agreed', { ...AGREED, isWithoutStatement: true }, '2026-11-20', '2026-11-01'],
  ['not-compared', undefined, '2026-11-25', '2026-11-01'],
  ['not-compared', undefined, '2026-11-01', '2026-11-01'],
  ['not-due', undefined, '2026-11-26', '2026-11-01'],
  ['nothing', undefined, '2026-10-31', '2026-11-01'],
  ['nothing', undefined, '2026-11-20', null],
] as const)(
  'a day is %s by what was compared, when it ended, and since when there is money',
  (state, compared, day, firstDay) => {
    expect(stateOf(compared, day, { firstDay, now: NOW })).toBe(state);
  },
);

test('months follow one another across years, with all their days', () => {
  expect([monthBefore('2026-01'), monthAfter('2026-12'), monthAfter('2028-02')]).toEqual([
    '2025-12',
    '2027-01',
    '2028-03',
  ]);
  expect(daysOfMonth('2028-02')).toHaveLength(29);
  expect(['2026-11', '2026-13', '1999-01', '2026-1', ''].filter(isMonth)).toEqual(['2026-11']);
});
