import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dateInZone, instantInZone, isLocalTime, isZone } from './zones.ts';

test('17:00 in London is 16:00 UTC in summer and 17:00 UTC in winter', () => {
  expect(instantInZone({ date: '2026-07-01', time: '17:00' }, 'Europe/London').toISOString()).toBe(
    '2026-07-01T16:00:00.000Z',
  );
  expect(instantInZone({ date: '2026-12-01', time: '17:00' }, 'Europe/London').toISOString()).toBe(
    '2026-12-01T17:00:00.000Z',
  );
});

test('on the days of the change the offset is that of the time of day, not of midnight', () => {
  // 2026-03-29 and 2026-10-25, at 01:00 UTC.
  expect(instantInZone({ date: '2026-03-29', time: '00:30' }, 'Europe/London').toISOString()).toBe(
    '2026-03-29T00:30:00.000Z',
  );
  expect(instantInZone({ date: '2026-03-29', time: '17:00' }, 'Europe/London').toISOString()).toBe(
    '2026-03-29T16:00:00.000Z',
  );
  expect(instantInZone({ date: '2026-10-25', time: '16:00' }, 'Europe/Brussels').toISOString()).toBe(
    '2026-10-25T15:00:00.000Z',
  );
});

test('a skipped time falls after the gap, a doubled one is the first', () => {
  expect(instantInZone({ date: '2026-03-29', time: '01:30' }, 'Europe/London').toISOString()).toBe(
    '2026-03-29T01:30:00.000Z',
  );
  expect(instantInZone({ date: '2026-10-25', time: '01:30' }, 'Europe/London').toISOString()).toBe(
    '2026-10-25T00:30:00.000Z',
  );
});

test('the local date is that of the zone', () => {
  const instant = new Date('2026-07-01T23:30:00.000Z');
  expect(dateInZone(instant, 'UTC')).toBe('2026-07-01');
  expect(dateInZone(instant, 'Europe/London')).toBe('2026-07-02');
  expect(dateInZone(instant, 'America/New_York')).toBe('2026-07-01');
  expect(dateInZone(new Date('2028-02-29T23:59:59.999Z'), 'Europe/London')).toBe('2028-02-29');
});

test('zones are IANA names, never offsets', () => {
  for (const zone of ['UTC', 'Europe/London', 'Asia/Kolkata']) expect(isZone(zone), zone).toBe(true);
  for (const zone of ['', '+01:00', '-05', 'Europe/Atlantis', 'constructor']) expect(isZone(zone), zone).toBe(false);
  expect(isLocalTime('17:00')).toBe(true);
  for (const time of ['24:00', '17:60', '7:00', '17:00:00']) expect(isLocalTime(time), time).toBe(false);
});

test('noon of any date in any zone is on that date', () => {
  const zone = fc.constantFrom('UTC', 'Europe/London', 'Europe/Brussels', 'America/New_York', 'Pacific/Auckland');
  const day = fc.integer({ min: 0, max: 20_000 });
  fc.assert(
    fc.property(zone, day, (name, dayNumber) => {
      const date = new Date(dayNumber * 86_400_000).toISOString().slice(0, 10);
      expect(dateInZone(instantInZone({ date, time: '12:00' }, name), name)).toBe(date);
    }),
  );
});
