import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OwnCalendar, ownCalendar } from '../../test/harness/transfers/calendar-world.ts';
import { type Configuration, loadConfiguration } from '../configuration.ts';
import { type CalendarWatch, calendarStates, watchCalendars } from './calendar-watch.ts';

const CHAPS = { scheme: 'chaps', currency: 'GBP' };
const JUBILEE = '2027-06-21';

let own: OwnCalendar;
let configuration: Configuration;
let registry: Registry;
let watch: CalendarWatch;
let logged: { level: number; msg: string; calendar: string }[];
let now: Date;

beforeEach(() => {
  own = ownCalendar();
  configuration = loadConfiguration({ CONFIG_FILE: own.configFile });
  registry = new Registry();
  logged = [];
  now = new Date('2027-06-16T12:00:00Z');
  const logger = pino({ level: 'info' }, { write: (line: string) => logged.push(JSON.parse(line)) });
  watch = watchCalendars({
    calendars: configuration.calendars,
    logger,
    registry,
    now: () => now,
    intervalMs: 86_400_000,
  });
});

afterEach(() => {
  watch.stop();
  own.remove();
});

const messages = () => logged.map(({ calendar, msg }) => `${calendar}: ${msg}`);
const isOpen = () => configuration.schemes.isOpen(CHAPS, JUBILEE);

describe('a calendar file', () => {
  test('takes effect at the next look, without a restart, and the change is logged', () => {
    expect(isOpen()).toBe(true);
    own.close(JUBILEE);
    expect(isOpen()).toBe(true);
    watch.look();
    expect(isOpen()).toBe(false);
    expect(configuration.schemes.nextAvailableDate(CHAPS, new Date('2027-06-21T09:00:00Z'))).toBe('2027-06-22');
    expect(messages()).toContain('gb: calendar changed');
    logged.length = 0;
    watch.look();
    expect(logged).toEqual([]);
  });

  test.each([
    ['no JSON', '{"closedDates": ['],
    ['no calendar', '{}'],
    ['a date that does not exist', JSON.stringify({ closedDates: [{ date: '2027-02-30', name: 'x' }] })],
    ['empty', ''],
  ])('that becomes %s leaves the calendar as it was, and is logged and counted once', async (_, text) => {
    own.close(JUBILEE);
    watch.look();
    own.write(text);
    for (let looks = 0; looks < 3; looks += 1) watch.look();
    expect(isOpen()).toBe(false);
    const rejected = 'gb: the calendar file cannot be used: the calendar stays as it was';
    expect(messages().filter((line) => line === rejected)).toHaveLength(1);
    expect(await registry.metrics()).toContain('calendar_files_rejected_total{calendar="gb"} 1');
    expect(await registry.metrics()).toContain('calendar_files_rejected_total{calendar="target"} 0');
    expect(calendarStates(configuration.calendars, '2027-06-16').gb?.warning).toBe('file-rejected');
    own.close();
    watch.look();
    expect(isOpen()).toBe(true);
    expect(calendarStates(configuration.calendars, '2027-06-16').gb?.warning).toBeNull();
  });

  test('that is broken keeps a process from starting, with one line for each problem', () => {
    own.write(JSON.stringify({ source: 'a test', from: '2026-01-01', until: '2026-12-31', closedDates: [] }));
    expect(() => loadConfiguration({ CONFIG_FILE: own.configFile })).toThrow('gb.json: publishedUntil is missing');
  });
});

describe('the end of the published dates', () => {
  test('is a metric, and from twelve months before on a warning each day and a detail of readiness', async () => {
    expect(await registry.metrics()).toContain('calendar_days_left{calendar="gb"} 564');
    expect(messages().filter((line) => line.startsWith('gb:'))).toEqual([]);
    now = new Date('2028-01-01T00:00:00Z');
    for (let looks = 0; looks < 3; looks += 1) watch.look();
    now = new Date('2028-01-02T00:00:00Z');
    watch.look();
    const warning = 'gb: the published dates of a calendar end soon: update its file';
    expect(messages().filter((line) => line === warning)).toHaveLength(2);
    expect(calendarStates(configuration.calendars, '2028-01-02').gb).toEqual({
      publishedUntil: '2028-12-31',
      daysLeft: 364,
      warning: 'ends-soon',
    });
  });
});

describe('the calendars that come with the service', () => {
  const { calendars, schemes } = loadConfiguration({});

  test.each([
    ['gb', '2028-12-31'],
    ['target', '2030-12-31'],
    ['us-fed', '2030-12-31'],
    ['cn', '2026-12-31'],
    ['kr', '2027-12-31'],
    ['jp', '2027-12-31'],
  ])('%s is published until %s, and reaches two years ahead', (name, publishedUntil) => {
    expect(calendars.current.get(name)).toMatchObject({ publishedUntil });
    expect((calendars.current.get(name)?.until ?? '') >= '2028-12-31').toBe(true);
  });

  test('are followed by the schemes of their currencies', () => {
    for (const [currency, date] of [
      ['CNY', '2026-10-06'],
      ['KRW', '2027-09-14'],
      ['JPY', '2026-12-31'],
      ['USD', '2026-11-26'],
      ['EUR', '2026-05-01'],
    ] as const) {
      expect(schemes.isOpen({ scheme: 'swift', currency }, date), currency).toBe(false);
      expect(schemes.isOpen({ scheme: 'swift', currency: 'GBP' }, date), date).toBe(true);
    }
    // China's working weekends stay closed.
    expect(schemes.isOpen({ scheme: 'swift', currency: 'CNY' }, '2026-10-10')).toBe(false);
  });
});
