import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadConfiguration } from '../../config/configuration.ts';
import { addDays, weekday } from '../common/time/dates.ts';
import { dateInZone, instantInZone } from '../common/time/zones.ts';

// The default configuration against cases that other software worked out from other tables (test/fixtures/calendars).

type Case = readonly [
  scheme: string,
  currency: string,
  asked: string,
  now: string,
  paid: string,
  cutOff: string | null,
];

const cases: readonly Case[] = JSON.parse(
  readFileSync(new URL('../../test/fixtures/calendars/schedules.json', import.meta.url), 'utf8'),
);
const { schemes } = loadConfiguration({});
const codeOf = (scheme: string) => (scheme === 'internal' ? null : scheme);

test(`${cases.length} schedules are those that other software works out from other tables`, () => {
  expect(cases.length).toBeGreaterThanOrEqual(300);
  for (const [scheme, currency, asked, now, paid, cutOff] of cases) {
    const given = schemes.roll({ scheme: codeOf(scheme), currency }, asked, new Date(now));
    expect({ scheme, currency, asked, now, ...given }).toEqual({
      ...{ scheme, currency, asked, now },
      transferDate: paid,
      cutOff: cutOff === null ? null : new Date(cutOff),
      rolls: paid === asked ? 0 : 1,
    });
  }
});

const SCHEMES = [...new Set(cases.map(([scheme, currency]) => `${scheme} ${currency}`))].map((name) => {
  const [scheme = '', currency = ''] = name.split(' ');
  return { scheme: codeOf(scheme), currency };
});
const anyScheme = fc.constantFrom(...SCHEMES);
/** Beyond every calendar's end too. */
const anyInstant = fc
  .integer({ min: 0, max: 6 * 365 * 24 * 60 })
  .map((minutes) => new Date(Date.UTC(2026, 0, 1) + minutes * 60_000));

describe('for any scheme and any instant', () => {
  test('a returned date is open and not missed, and no earlier day is', () => {
    fc.assert(
      fc.property(anyScheme, anyInstant, fc.integer({ min: -400, max: 800 }), (of, now, days) => {
        const asked = addDays(schemes.today(of, now), days);
        const { transferDate } = schemes.roll(of, asked, now);
        const isFree = (date: string) => schemes.isOpen(of, date) && schemes.rollsAt(of, date) > now;
        expect(isFree(transferDate)).toBe(true);
        for (let date = asked; date < transferDate; date = addDays(date, 1)) expect(isFree(date), date).toBe(false);
      }),
    );
  });

  test('a later request, or one for a later date, is never paid earlier; a returned date stays when requested again', () => {
    fc.assert(
      fc.property(anyScheme, anyInstant, anyInstant, fc.nat(800), fc.nat(800), (of, one, other, near, far) => {
        const [now, later] = one < other ? [one, other] : [other, one];
        const today = schemes.today(of, now);
        const { transferDate } = schemes.roll(of, addDays(today, near), now);
        expect(schemes.roll(of, addDays(today, near + far), now).transferDate >= transferDate).toBe(true);
        expect(schemes.roll(of, addDays(today, near), later).transferDate >= transferDate).toBe(true);
        expect(schemes.roll(of, transferDate, now).rolls).toBe(0);
      }),
    );
  });

  test('rolling at each cut-off continues day by day without end, at most two weeks at a time', () => {
    fc.assert(
      fc.property(anyScheme, anyInstant, (of, start) => {
        let { transferDate } = schemes.roll(of, schemes.today(of, start), start);
        for (let rolls = 0; rolls < 20; rolls += 1) {
          const missedAt = schemes.rollsAt(of, transferDate);
          const next = schemes.roll(of, transferDate, missedAt);
          expect(next.rolls).toBe(1);
          expect(next.transferDate > transferDate && next.transferDate <= addDays(transferDate, 14)).toBe(true);
          transferDate = next.transferDate;
        }
      }),
    );
  });

  test('a schedule answered is in force, and with another cut-off or on a closed date it is not', () => {
    fc.assert(
      fc.property(anyScheme, anyInstant, (of, now) => {
        const { transferDate, cutOff } = schemes.roll(of, schemes.today(of, now), now);
        expect(schemes.isInForce(of, { transferDate, cutOff })).toBe(true);
        const moved = new Date(schemes.rollsAt(of, transferDate).getTime() + 1);
        expect(schemes.isInForce(of, { transferDate, cutOff: moved })).toBe(false);
        const saturday = addDays(transferDate, 6 - weekday(transferDate));
        const closes = !schemes.neverCloses(of);
        if (closes)
          expect(schemes.isInForce(of, { transferDate: saturday, cutOff: schemes.cutOff(of, saturday) })).toBe(false);
      }),
    );
  });
});

test('any time of day that the clocks show is read back from its instant, in any zone', () => {
  const zones = ['UTC', 'Europe/London', 'Europe/Brussels', 'America/New_York', 'Asia/Shanghai', 'Asia/Tokyo'];
  const minuteOfDay = fc.integer({ min: 0, max: 24 * 60 - 1 });
  fc.assert(
    fc.property(fc.constantFrom(...zones), fc.nat(3_000), minuteOfDay, (zone, days, minutes) => {
      const date = addDays('2026-01-01', days);
      const time = `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
      const instant = instantInZone({ date, time }, zone);
      expect(dateInZone(instant, zone)).toBe(date);
      const shown = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeStyle: 'short' }).format(instant);
      // An hour that the clocks skip is read as the hour after it.
      if (shown !== time) expect(Number(shown.slice(0, 2)) - Number(time.slice(0, 2))).toBe(1);
    }),
  );
});
