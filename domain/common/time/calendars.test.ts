import { describe, expect, test } from 'vitest';
import { type Calendar, calendarProblems, compareClosedDates, daysLeft, endsSoon, isOpenIn } from './calendars.ts';

const calendar: Calendar = {
  source: 'a test',
  from: '2026-01-01',
  publishedUntil: '2027-12-31',
  until: '2028-12-31',
  warningMonths: 12,
  closedDates: new Set(['2026-12-25', '2027-12-27', '2028-01-03']),
};
const closed = [...calendar.closedDates].map((date) => ({ date, name: 'A holiday' }));

test('a day is open unless it is on a weekend or among the closed dates, outside of the years covered too', () => {
  for (const date of ['2026-11-21', '2026-11-22', '2026-12-25', '2028-01-03', '2031-11-22']) {
    expect(isOpenIn(calendar, date), date).toBe(false);
  }
  for (const date of ['2026-11-23', '2026-12-28', '2028-02-29', '2029-12-25', '2025-12-25']) {
    expect(isOpenIn(calendar, date), date).toBe(true);
  }
});

describe('the warning', () => {
  test('begins when the published dates end in less than the months that the calendar says', () => {
    expect(endsSoon(calendar, '2026-12-31')).toBe(false);
    expect(endsSoon(calendar, '2027-01-01')).toBe(true);
    expect(endsSoon({ ...calendar, warningMonths: 2 }, '2027-10-31')).toBe(false);
    expect(endsSoon({ ...calendar, warningMonths: 2 }, '2027-11-01')).toBe(true);
    expect(endsSoon(calendar, '2029-01-01')).toBe(true);
  });

  test('counts days to the end of what is published, not of what is expected', () => {
    expect(daysLeft(calendar, '2027-12-30')).toBe(1);
    expect(daysLeft(calendar, '2027-12-31')).toBe(0);
    expect(daysLeft(calendar, '2028-01-01')).toBe(-1);
    expect(daysLeft(calendar, '2026-12-31')).toBe(365);
  });
});

describe('a calendar is rejected', () => {
  test('unless it is sound', () => {
    expect(calendarProblems(calendar, closed)).toEqual([]);
  });

  test.each<[object, { date: string }[], string]>([
    [{ from: '2026-02-31' }, closed, 'from must be a date (is "2026-02-31")'],
    [{ from: '2026-01-02' }, closed, 'from must be a 1 January (is "2026-01-02")'],
    [{ until: '2028-12-30' }, closed, 'until must be a 31 December (is "2028-12-30")'],
    [{ publishedUntil: '2029-01-01' }, closed, 'publishedUntil must be between from and until (is "2029-01-01")'],
    [{ publishedUntil: '2025-12-31' }, closed, 'publishedUntil must be between from and until (is "2025-12-31")'],
    [{}, [{ date: '2026-02-30' }, ...closed], 'closedDates.0.date must be a date (is "2026-02-30")'],
    [{}, [{ date: '2025-12-26' }, ...closed], 'closedDates.0.date must be between from and until (is "2025-12-26")'],
    [{}, [...closed, { date: '2028-01-03' }], 'closedDates.3.date must be after the one before it (is "2028-01-03")'],
    [{}, [...closed, { date: '2027-01-01' }], 'closedDates.3.date must be after the one before it (is "2027-01-01")'],
    [{}, closed.slice(0, 2), 'closedDates has no date in 2028'],
    [{ until: '2029-12-31' }, closed, 'closedDates has no date in 2029'],
  ])('for %j with %j: %s', (change, dates, problem) => {
    const named = dates.map(({ date }) => ({ date, name: 'A holiday' }));
    expect(calendarProblems({ ...calendar, ...change }, named)).toContain(problem);
  });
});

test('two editions are compared by what the later one closes and opens', () => {
  const before = ['2026-12-25', '2027-12-27', '2028-01-03'];
  const after = ['2028-05-01', '2026-12-25', '2027-05-08', '2028-01-03'];
  expect(compareClosedDates(before, after)).toEqual({ closed: ['2027-05-08', '2028-05-01'], opened: ['2027-12-27'] });
  expect(compareClosedDates(before, before)).toEqual({ closed: [], opened: [] });
});
