import { describe, expect, test } from 'vitest';
import { combineCalendars, createCalendars, createHolidayTable, easterSunday, needsRefresh } from './calendars.ts';
import { addDays, weekday } from './dates.ts';

const PUBLISHED = `2025-01-01 2025-04-18 2025-04-21 2025-05-05 2025-05-26 2025-08-25 2025-12-25 2025-12-26
  2026-01-01 2026-04-03 2026-04-06 2026-05-04 2026-05-25 2026-08-31 2026-12-25 2026-12-28
  2027-01-01 2027-03-26 2027-03-29 2027-05-03 2027-05-31 2027-08-30 2027-12-27 2027-12-28
  2028-01-03 2028-04-14 2028-04-17 2028-05-01 2028-05-29 2028-08-28 2028-12-25 2028-12-26`.split(/\s+/);

const table = createHolidayTable(PUBLISHED);
const { gb, target, 'us-fed': usFed } = createCalendars(table);

test('Easter is where the churches put it', () => {
  const easters = ['2024-03-31', '2025-04-20', '2026-04-05', '2027-03-28', '2028-04-16', '2029-04-01', '2038-04-25'];
  for (const easter of easters) expect(easterSunday(Number(easter.slice(0, 4)))).toBe(easter);
});

test('weekends are closed everywhere', () => {
  for (const calendar of [gb, target, usFed]) {
    expect(calendar.isOpen('2026-11-21')).toBe(false);
    expect(calendar.isOpen('2026-11-22')).toBe(false);
    expect(calendar.isOpen('2026-11-23')).toBe(true);
  }
});

test.each([
  ['2026-05-01', true, false],
  ['2026-05-04', false, true],
  ['2026-05-25', false, true],
  ['2026-08-31', false, true],
  ['2026-12-28', false, true],
  ['2027-12-27', false, true],
  ['2027-12-28', false, true],
  ['2028-01-03', false, true],
  ['2028-05-01', false, false],
  ['2026-04-03', false, false],
  ['2027-03-29', false, false],
  ['2028-02-29', true, true],
])('%s: UK open %s, T2 open %s', (date, ukOpen, t2Open) => {
  expect(gb.isOpen(date)).toBe(ukOpen);
  expect(target.isOpen(date)).toBe(t2Open);
  expect(combineCalendars([gb, target]).isOpen(date)).toBe(ukOpen && t2Open);
});

test('T2 Easter days', () => {
  for (const date of ['2026-04-03', '2026-04-06', '2028-04-14', '2028-04-17', '2029-03-30', '2029-04-02']) {
    expect(target.isOpen(date), date).toBe(false);
  }
});

test('the Federal Reserve closes eleven days, moved from Sunday but not from Saturday', () => {
  expect(closedWeekdays(usFed, 2026)).toEqual(
    `2026-01-01 2026-01-19 2026-02-16 2026-05-25 2026-06-19 2026-09-07 2026-10-12 2026-11-11 2026-11-26
     2026-12-25`.split(/\s+/),
  );
  // 4 July 2026 is a Saturday: Friday the 3rd is open. 4 July 2027 is a Sunday: Monday the 5th is closed.
  expect(usFed.isOpen('2026-07-03')).toBe(true);
  expect(usFed.isOpen('2027-07-05')).toBe(false);
  expect(usFed.isOpen('2023-01-02')).toBe(false);
});

describe('the UK table', () => {
  test('speaks for whole years, and its horizon can be watched', () => {
    expect(table).toMatchObject({ from: '2025-01-01', horizon: '2028-12-31' });
    expect(() => createHolidayTable([])).toThrow(RangeError);
    expect(needsRefresh(table, '2027-12-31')).toBe(false);
    expect(needsRefresh(table, '2028-01-02')).toBe(true);
  });

  test('wins over the rule where a day was moved or added', () => {
    const moved = createCalendars(createHolidayTable(['2020-01-01', '2020-05-08', '2020-12-25', '2020-12-28'])).gb;
    expect(moved.isOpen('2020-05-08')).toBe(false);
    expect(moved.isOpen('2020-05-04')).toBe(true);
  });

  test('beyond the horizon the rule stands in, and the rule gives the published years', () => {
    const ruleOnly = createCalendars(createHolidayTable(['1999-01-01'])).gb;
    for (const year of [2025, 2026, 2027, 2028]) {
      expect(closedWeekdays(ruleOnly, year)).toEqual(PUBLISHED.filter((date) => date.startsWith(String(year))));
    }
    expect(gb.isOpen('2029-12-25')).toBe(false);
    expect(gb.isOpen('2032-12-27')).toBe(false);
    expect(gb.isOpen('2032-12-28')).toBe(false);
  });
});

test('no calendars combined is open every day', () => {
  expect(combineCalendars([]).isOpen('2026-12-25')).toBe(true);
});

function closedWeekdays(calendar: { isOpen(date: string): boolean }, year: number): string[] {
  const closed: string[] = [];
  for (let date = `${year}-01-01`; date <= `${year}-12-31`; date = addDays(date, 1)) {
    if (weekday(date) <= 5 && !calendar.isOpen(date)) closed.push(date);
  }
  return closed;
}
