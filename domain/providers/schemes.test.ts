import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadConfiguration } from '../../config/configuration.ts';
import { addDays } from '../common/time/dates.ts';
import { AVAILABILITY_DAYS, type SchemeRule, Schemes } from './schemes.ts';

const always: SchemeRule = {
  zone: 'UTC',
  currencies: null,
  destinationCountries: null,
  cutOff: null,
  accountsNamedBy: null,
  cutOffByCurrency: {},
  opensAt: null,
  calendars: [],
  amountLimitsMinor: {},
};

const { calendars } = loadConfiguration({});
const schemes = new Schemes({
  calendars: () => calendars.current,
  calendarByCurrency: { GBP: 'gb', EUR: 'target', USD: 'us-fed' },
  rules: {
    internal: always,
    'faster-payments': {
      ...always,
      zone: 'Europe/London',
      currencies: ['GBP'],
      amountLimitsMinor: { GBP: 100_000_000n },
    },
    chilean: { ...always, zone: 'America/Santiago' },
    'in-the-gap': { ...always, zone: 'Europe/London', cutOff: '01:30' },
    chaps: {
      ...always,
      zone: 'Europe/London',
      currencies: ['GBP'],
      destinationCountries: ['GB'],
      cutOff: '17:00',
      opensAt: '06:00',
      calendars: ['gb'],
    },
    sepa: { ...always, zone: 'Europe/Brussels', currencies: ['EUR'], cutOff: '16:00', calendars: ['target'] },
    swift: {
      ...always,
      zone: 'Europe/London',
      cutOff: '11:00',
      cutOffByCurrency: { USD: '17:00', EUR: '14:30' },
      calendars: ['gb', 'currency'],
    },
  },
});

const chaps = { scheme: 'chaps', currency: 'GBP' };
const sepa = { scheme: 'sepa', currency: 'EUR' };
const fasterPayments = { scheme: 'faster-payments', currency: 'GBP' };
const chilean = { scheme: 'chilean', currency: 'CLP' };
const internal = { scheme: null, currency: 'GBP' };
const at = (text: string) => new Date(text);

describe('cut-offs', () => {
  test('are of the scheme’s own zone, on days of the clock change too', () => {
    expect(schemes.cutOff(chaps, '2026-07-01')).toEqual(at('2026-07-01T16:00:00Z'));
    expect(schemes.cutOff(chaps, '2026-12-01')).toEqual(at('2026-12-01T17:00:00Z'));
    expect(schemes.cutOff(sepa, '2026-03-27')).toEqual(at('2026-03-27T15:00:00Z'));
    expect(schemes.cutOff(sepa, '2026-03-30')).toEqual(at('2026-03-30T14:00:00Z'));
    expect(schemes.cutOff(chaps, '2028-02-29')).toEqual(at('2028-02-29T17:00:00Z'));
  });

  test('in an hour that the clocks skip fall after the gap, in one that they repeat on its first pass', () => {
    const of = { scheme: 'in-the-gap', currency: 'GBP' };
    expect(schemes.cutOff(of, '2026-03-29')).toEqual(at('2026-03-29T01:30:00Z'));
    expect(schemes.cutOff(of, '2026-10-25')).toEqual(at('2026-10-25T00:30:00Z'));
    for (const [date, cutOff] of [
      ['2026-03-29', '2026-03-29T01:30:00Z'],
      ['2026-10-25', '2026-10-25T00:30:00Z'],
    ] as const) {
      const before = new Date(at(cutOff).getTime() - 1);
      expect(schemes.roll(of, date, before)).toMatchObject({ transferDate: date, rolls: 0 });
      expect(schemes.roll(of, date, at(cutOff))).toMatchObject({ transferDate: addDays(date, 1), rolls: 1 });
    }
  });

  test('differ by currency', () => {
    expect(schemes.cutOff({ scheme: 'swift', currency: 'USD' }, '2026-12-01')).toEqual(at('2026-12-01T17:00:00Z'));
    expect(schemes.cutOff({ scheme: 'swift', currency: 'EUR' }, '2026-12-01')).toEqual(at('2026-12-01T14:30:00Z'));
    expect(schemes.cutOff({ scheme: 'swift', currency: 'JPY' }, '2026-12-01')).toEqual(at('2026-12-01T11:00:00Z'));
  });

  test('one millisecond before is in time, the instant itself and after are not', () => {
    const date = '2026-12-01';
    for (const [now, transferDate, rolls] of [
      ['2026-12-01T16:59:59.999Z', '2026-12-01', 0],
      ['2026-12-01T17:00:00.000Z', '2026-12-02', 1],
      ['2026-12-01T17:00:00.001Z', '2026-12-02', 1],
    ] as const) {
      expect(schemes.roll(chaps, date, at(now))).toMatchObject({ transferDate, rolls });
      expect(schemes.nextAvailableDate(chaps, at(now))).toBe(transferDate);
    }
  });
});

describe('rolling', () => {
  test.each([
    // Friday after the cut-off, weekend.
    [chaps, '2026-11-20', '2026-11-20T17:00:00Z', '2026-11-23', '2026-11-23T17:00:00.000Z'],
    // Christmas Eve 2026 is a Thursday; Friday, weekend and the substitute Monday are closed.
    [chaps, '2026-12-24', '2026-12-24T18:00:00Z', '2026-12-29', '2026-12-29T17:00:00.000Z'],
    // T2 has no substitute day.
    [sepa, '2026-12-24', '2026-12-24T18:00:00Z', '2026-12-28', '2026-12-28T15:00:00.000Z'],
    // 1 May: T2 closed, London open.
    [sepa, '2026-05-01', '2026-04-30T09:00:00Z', '2026-05-04', '2026-05-04T14:00:00.000Z'],
    // A date long past rolls to today, once.
    [chaps, '2026-11-02', '2026-11-20T09:00:00Z', '2026-11-20', '2026-11-20T17:00:00.000Z'],
    [chaps, '2028-02-28', '2028-02-28T17:00:00Z', '2028-02-29', '2028-02-29T17:00:00.000Z'],
  ])('%j of %s seen at %s is paid on %s', (of, transferDate, now, rolled, cutOff) => {
    expect(schemes.roll(of, transferDate, at(now))).toEqual({ transferDate: rolled, cutOff: at(cutOff), rolls: 1 });
  });

  test('swift needs an open day in London and in the currency’s country', () => {
    const usd = { scheme: 'swift', currency: 'USD' };
    // Thanksgiving and a UK holiday.
    expect(schemes.roll(usd, '2026-11-26', at('2026-11-25T09:00:00Z')).transferDate).toBe('2026-11-27');
    expect(schemes.roll(usd, '2026-08-31', at('2026-08-28T09:00:00Z')).transferDate).toBe('2026-09-01');
    // A currency without a calendar follows only London.
    expect(schemes.isOpen({ scheme: 'swift', currency: 'PLN' }, '2026-11-11')).toBe(true);
  });

  test('a rolled date is open, has its cut-off ahead, and stays when asked again', () => {
    const of = fc.constantFrom(chaps, sepa, { scheme: 'swift', currency: 'USD' });
    const minute = fc.integer({ min: 0, max: 2 * 365 * 24 * 60 });
    fc.assert(
      fc.property(of, minute, fc.integer({ min: -10, max: 400 }), (scheme, minutes, days) => {
        const now = new Date(Date.UTC(2026, 0, 1) + minutes * 60_000);
        const asked = addDays(schemes.today(scheme, now), days);
        const { transferDate, cutOff, rolls } = schemes.roll(scheme, asked, now);
        expect(schemes.isOpen(scheme, transferDate)).toBe(true);
        expect(cutOff?.getTime()).toBeGreaterThan(now.getTime());
        expect(transferDate >= asked).toBe(true);
        expect(rolls).toBe(transferDate === asked ? 0 : 1);
        expect(schemes.roll(scheme, transferDate, now).rolls).toBe(0);
        for (let date = asked; date < transferDate; date = addDays(date, 1)) {
          const missed = schemes.cutOff(scheme, date);
          expect(!schemes.isOpen(scheme, date) || (missed !== null && missed <= now)).toBe(true);
        }
      }),
    );
  });
});

describe('a scheme that never closes', () => {
  test.each([
    [internal, '2026-07-01', '2026-07-02T00:00:00.000Z'],
    [fasterPayments, '2026-07-01', '2026-07-01T23:00:00.000Z'],
    [fasterPayments, '2026-12-01', '2026-12-02T00:00:00.000Z'],
    // The days on which London's clocks change have 23 and 25 hours.
    [fasterPayments, '2027-03-27', '2027-03-28T00:00:00.000Z'],
    [fasterPayments, '2027-03-28', '2027-03-28T23:00:00.000Z'],
    [fasterPayments, '2027-10-30', '2027-10-30T23:00:00.000Z'],
    [fasterPayments, '2027-10-31', '2027-11-01T00:00:00.000Z'],
    // In Chile this 8 September began at one o'clock.
    [chilean, '2024-09-07', '2024-09-08T04:00:00.000Z'],
    [fasterPayments, '2028-02-29', '2028-03-01T00:00:00.000Z'],
  ])('%j of %s rolls at %s to the next day', (of, transferDate, end) => {
    const rollsAt = at(end);
    expect(schemes.rollsAt(of, transferDate)).toEqual(rollsAt);
    const before = new Date(rollsAt.getTime() - 1);
    expect(schemes.roll(of, transferDate, before)).toEqual({ transferDate, cutOff: null, rolls: 0 });
    const next = { transferDate: addDays(transferDate, 1), cutOff: null, rolls: 1 };
    expect(schemes.roll(of, transferDate, rollsAt)).toEqual(next);
  });

  test('rolls once to today, however long ago its date was', () => {
    const now = at('2026-12-25T12:00:00Z');
    const today = { transferDate: '2026-12-25', cutOff: null, rolls: 1 };
    expect(schemes.roll(internal, '2026-12-01', now)).toEqual(today);
    expect(schemes.roll(fasterPayments, '2026-12-24', now)).toEqual(today);
  });

  test('any other rolls at its cut-off', () => {
    expect(schemes.rollsAt(chaps, '2026-12-01')).toEqual(schemes.cutOff(chaps, '2026-12-01'));
  });
});

describe('date metadata', () => {
  test('lists every closed day of the next 365, weekends included', () => {
    const dates = schemes.unavailableDates(chaps, at('2026-11-21T09:00:00Z'));
    expect(dates.slice(0, 4)).toEqual(['2026-11-21', '2026-11-22', '2026-11-28', '2026-11-29']);
    expect(dates).toContain('2026-12-28');
    expect(dates).not.toContain('2026-11-23');
    // 53 Saturdays, 52 Sundays and eight bank holidays.
    expect(dates).toHaveLength(113);
    expect((dates.at(-1) ?? '') < addDays('2026-11-21', AVAILABILITY_DAYS)).toBe(true);
    expect(schemes.nextAvailableDate(chaps, at('2026-11-21T09:00:00Z'))).toBe('2026-11-23');
    expect(schemes.nextCutOff(chaps, at('2026-11-21T09:00:00Z'))).toEqual(at('2026-11-23T17:00:00Z'));
  });

  test('schemes that never close have no closed day and no cut-off', () => {
    for (const of of [fasterPayments, internal]) {
      const now = at('2026-12-25T12:00:00Z');
      expect(schemes.neverCloses(of)).toBe(true);
      expect(schemes.unavailableDates(of, now)).toEqual([]);
      expect(schemes.nextAvailableDate(of, now)).toBe('2026-12-25');
      expect(schemes.nextCutOff(of, now)).toBeNull();
      expect(schemes.roll(of, '2026-12-26', now)).toEqual({ transferDate: '2026-12-26', cutOff: null, rolls: 0 });
    }
  });

  test('today is that of the scheme’s zone; internal transfers live in UTC', () => {
    const now = at('2026-07-01T23:30:00Z');
    expect(schemes.today(fasterPayments, now)).toBe('2026-07-02');
    expect(schemes.today(internal, now)).toBe('2026-07-01');
    expect(schemes.opensAt(chaps, '2026-07-02')).toEqual(at('2026-07-02T05:00:00Z'));
    expect(schemes.opensAt(fasterPayments, '2026-07-02')).toEqual(at('2026-07-01T23:00:00Z'));
  });
});

test('limits, currencies and countries are those of the rule', () => {
  expect(schemes.amountLimitMinor(fasterPayments)).toBe(100_000_000n);
  expect(schemes.amountLimitMinor(chaps)).toBeNull();
  expect(schemes.reaches(chaps, 'GB')).toBe(true);
  expect(schemes.reaches(chaps, 'DE')).toBe(false);
  expect(schemes.reaches({ scheme: 'chaps', currency: 'EUR' }, 'GB')).toBe(false);
  expect(schemes.carries({ scheme: 'swift', currency: 'JPY' })).toBe(true);
  expect(schemes.knows('sepa')).toBe(true);
  expect(schemes.knows('constructor')).toBe(false);
  expect(() => schemes.cutOff({ scheme: 'bacs', currency: 'GBP' }, '2026-12-01')).toThrow(RangeError);
});
