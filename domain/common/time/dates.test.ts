import { expect, test } from 'vitest';
import { addDays, dateInUtc, formatDateTime, formatDateTimeMs, isDate, parseDateTime, weekday } from './dates.ts';

test('only dates of the calendar are dates', () => {
  for (const date of ['2026-02-28', '2028-02-29', '2000-02-29', '1900-01-01', '9999-12-31']) {
    expect(isDate(date), date).toBe(true);
  }
  for (const date of ['2026-02-29', '2026-02-31', '2100-02-29', '2026-13-01', '2026-00-10', '0000-01-01', '2026-1-1']) {
    expect(isDate(date), date).toBe(false);
  }
  for (const date of ['', '2026-01-01T00:00:00', '２０２６-01-01', '20260101', '+002026-01-01', '2026-01-01\n']) {
    expect(isDate(date), date).toBe(false);
  }
});

test('a date is as old as it is allowed to be', () => {
  expect(isDate('1899-12-31')).toBe(false);
  expect(isDate('1899-12-31', 1000)).toBe(true);
  expect(isDate('1700-02-29', 1000)).toBe(false);
  expect(isDate('0999-12-31', 1000)).toBe(false);
});

test('days are added across months, years and 29 February', () => {
  expect(addDays('2028-02-28', 1)).toBe('2028-02-29');
  expect(addDays('2028-02-29', 365)).toBe('2029-02-28');
  expect(addDays('2026-12-31', 1)).toBe('2027-01-01');
  expect(addDays('2026-03-01', -1)).toBe('2026-02-28');
  expect(() => addDays('2026-02-31', 1)).toThrow(RangeError);
});

test('weekdays count from Monday as 1 to Sunday as 7', () => {
  expect(weekday('2026-11-21')).toBe(6);
  expect(weekday('2026-11-22')).toBe(7);
  expect(weekday('2026-11-23')).toBe(1);
});

test('date-times are read and written in UTC without a zone', () => {
  const instant = new Date('2026-11-21T09:30:05.678Z');
  expect(formatDateTime(instant)).toBe('2026-11-21T09:30:05');
  expect(formatDateTimeMs(instant)).toBe('2026-11-21T09:30:05.678');
  expect(dateInUtc(instant)).toBe('2026-11-21');
  expect(parseDateTime('2026-11-21T09:30:05.678')).toEqual(instant);
  expect(parseDateTime('2026-11-21T09:30:05')).toEqual(new Date('2026-11-21T09:30:05.000Z'));
  expect(parseDateTime('2026-11-21T09:30:05.5')).toEqual(new Date('2026-11-21T09:30:05.500Z'));
  for (const text of [
    '2026-02-30T00:00:00',
    '2026-01-01T24:00:00',
    '2026-01-01T00:60:00',
    '2026-01-01',
    '2026-01-01T00:00:00Z',
  ]) {
    expect(parseDateTime(text), text).toBeNull();
  }
});
