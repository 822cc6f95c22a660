import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Calendar, Calendars } from '../common/time/calendars.ts';
import { addDays, weekday } from '../common/time/dates.ts';
import { dateInZone } from '../common/time/zones.ts';
import { AVAILABILITY_DAYS, type SchemeOf, Schemes } from './schemes.ts';

/** How often a day was looked up: what is kept is not looked up again. */
let lookUps = 0;

class CountedDates extends Set<string> {
  override has(date: string): boolean {
    lookUps += 1;
    return super.has(date);
  }
}

function calendar(...closed: readonly string[]): Calendar {
  const dates = { from: '2026-01-01', until: '2030-12-31', publishedUntil: '2029-12-31', warningMonths: 6 };
  return { source: 'test', ...dates, closedDates: new CountedDates(closed) };
}

const rule = {
  ...{ currencies: null, destinationCountries: null, accountsNamedBy: null, opensAt: null, amountLimitsMinor: {} },
  ...{ zone: 'Europe/London', cutOff: '17:00', cutOffByCurrency: {}, calendars: ['gb'] },
};
const rules = {
  london: rule,
  // The same calendars in other zones: their days begin and end at other instants.
  auckland: { ...rule, zone: 'Pacific/Auckland' },
  honolulu: { ...rule, zone: 'Pacific/Honolulu' },
  early: { ...rule, cutOff: '09:00' },
  both: { ...rule, calendars: ['gb', 'currency'] },
  // It closes for one currency only.
  partly: { ...rule, cutOff: null, cutOffByCurrency: { GBP: '12:00' } },
};
type Scheme = keyof typeof rules;

let current: Map<string, Calendar>;
let schemes: Schemes;

beforeEach(() => {
  current = new Map([
    ['gb', calendar('2026-12-25', '2026-12-28', '2027-03-26')],
    ['eu', calendar('2026-12-25', '2027-05-06')],
  ]);
  schemes = new Schemes({
    rules,
    calendars: (): Calendars => current,
    calendarByCurrency: { EUR: 'eu', GBP: 'gb' },
  });
  lookUps = 0;
});

const gbp = (scheme: Scheme): SchemeOf => ({ scheme, currency: 'GBP' });

/** The definition, day by day, without anything kept. */
function byDefinition(scheme: Scheme, currency: string, now: Date): string[] {
  if (scheme === 'partly' && currency !== 'GBP') return [];
  const ofCurrency = currency === 'EUR' ? 'eu' : currency === 'GBP' ? 'gb' : null;
  const names = scheme === 'both' && ofCurrency !== null ? ['gb', ofCurrency] : ['gb'];
  const today = dateInZone(now, rules[scheme].zone);
  const days = Array.from({ length: AVAILABILITY_DAYS }, (_, index) => addDays(today, index));
  const closed = names.map((name) => new Set(current.get(name)?.closedDates));
  return days.filter((date) => weekday(date) > 5 || closed.some((dates) => dates.has(date)));
}

test('a year of days is worked out once for all requests of a day', () => {
  const first = schemes.unavailableDates(gbp('london'), new Date('2026-11-26T00:00:00Z'));
  expect(lookUps).toBeGreaterThan(200);
  lookUps = 0;
  for (const time of ['00:00:01', '09:00:00', '16:59:59', '17:00:00', '23:59:59']) {
    expect(schemes.unavailableDates(gbp('london'), new Date(`2026-11-26T${time}Z`))).toEqual(first);
    // Another scheme and another cut-off, of the same days.
    expect(schemes.unavailableDates(gbp('early'), new Date(`2026-11-26T${time}Z`))).toEqual(first);
  }
  expect(lookUps).toBe(0);
});

describe('what is kept is never stale', () => {
  const now = new Date('2026-11-26T12:00:00Z');

  test('after an import of calendars', () => {
    expect(schemes.unavailableDates(gbp('london'), now)).not.toContain('2027-06-01');
    current = new Map([...current, ['gb', calendar('2027-06-01')]]);
    expect(schemes.unavailableDates(gbp('london'), now)).toContain('2027-06-01');
    expect(schemes.unavailableDates(gbp('london'), now)).not.toContain('2026-12-25');
  });

  test('after an import into the same map, of the second calendar only', () => {
    const inEuro = { scheme: 'both', currency: 'EUR' };
    expect(schemes.unavailableDates(inEuro, now)).toContain('2027-05-06');
    current.set('eu', calendar('2027-05-07'));
    const closed = schemes.unavailableDates(inEuro, now);
    expect([closed.includes('2027-05-06'), closed.includes('2027-05-07')]).toEqual([false, true]);
  });

  test('at midnight of the scheme’s zone, not of another', () => {
    const summer = (time: string) => new Date(`2027-06-04T${time}Z`);
    // 5 June is a Saturday; London is an hour ahead.
    expect(schemes.unavailableDates(gbp('london'), summer('22:59:59'))[0]).toBe('2027-06-05');
    expect(schemes.unavailableDates(gbp('london'), summer('23:00:00'))).toHaveLength(
      byDefinition('london', 'GBP', summer('23:00:00')).length,
    );
    const dayAfter = new Date('2027-06-06T23:00:00Z');
    expect(schemes.unavailableDates(gbp('london'), dayAfter)[0]).toBe('2027-06-12');
    expect(schemes.unavailableDates(gbp('honolulu'), dayAfter)[0]).toBe('2027-06-06');
    expect(schemes.unavailableDates(gbp('london'), dayAfter)[0]).toBe('2027-06-12');
  });

  test('when the sandbox’s clock moves forward, and for a request that is older than the last', () => {
    const later = new Date('2027-03-01T12:00:00Z');
    const [before, after] = [byDefinition('london', 'GBP', now), byDefinition('london', 'GBP', later)];
    for (const [instant, expected] of [
      [now, before],
      [later, after],
      [now, before],
      [later, after],
    ] as const) {
      expect(schemes.unavailableDates(gbp('london'), instant)).toEqual(expected);
    }
  });

  test('where only one currency closes, and where the currency has a calendar of its own', () => {
    for (const currency of ['GBP', 'EUR', 'USD', 'GBP', 'EUR']) {
      for (const scheme of ['partly', 'both', 'london'] as const) {
        expect(schemes.unavailableDates({ scheme, currency }, now)).toEqual(byDefinition(scheme, currency, now));
      }
    }
  });

  test('for any instants, schemes and imports, one after the other', () => {
    const scheme = fc.constantFrom(...(Object.keys(rules) as Scheme[]));
    const step = fc.record({
      scheme,
      currency: fc.constantFrom('GBP', 'EUR', 'USD'),
      now: fc.integer({ min: 0, max: 3 * 365 * 48 }).map((half) => new Date(Date.UTC(2026, 0, 1) + half * 1_800_000)),
      // Now and then an import closes a day that is looked at.
      closes: fc.option(fc.record({ name: fc.constantFrom('gb', 'eu'), days: fc.nat(1_000) }), { freq: 4 }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 12 }), (steps) => {
        for (const { scheme: code, currency, now: instant, closes } of steps) {
          if (closes !== null) {
            current = new Map([...current, [closes.name, calendar(addDays('2026-01-01', closes.days))]]);
          }
          const closed = schemes.unavailableDates({ scheme: code, currency }, instant);
          expect(closed).toEqual(byDefinition(code, currency, instant));
        }
      }),
      { numRuns: 100 },
    );
  });

  test('by a caller that changes the list it was given', () => {
    const given: readonly string[] = schemes.unavailableDates(gbp('london'), now);
    expect(Object.isFrozen(given)).toBe(true);
  });
});
