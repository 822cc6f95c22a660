import { addDays, type LocalDate, weekday } from './dates.ts';

/** Whether banks work on a date. All calendars close on weekends. */
export interface Calendar {
  isOpen(date: LocalDate): boolean;
}

/**
 * Published UK holidays (England and Wales). Governments add and move days, so rules are not enough; config/ reads the table
 * as data, which changes without a release.
 */
export interface HolidayTable {
  readonly holidays: ReadonlySet<LocalDate>;
  /** The dates that the table covers, in whole years. The rules cover the rest. */
  readonly from: LocalDate;
  readonly horizon: LocalDate;
}

/** Builds a table that covers the whole years from the first to the last date. */
export function createHolidayTable(dates: readonly LocalDate[]): HolidayTable {
  const sorted = [...dates].sort();
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (first === undefined || last === undefined) throw new RangeError('a table of holidays without a holiday');
  return { holidays: new Set(sorted), from: `${first.slice(0, 4)}-01-01`, horizon: `${last.slice(0, 4)}-12-31` };
}

/** Holidays are published about two years ahead, so a table with less than a year left needs a refresh. */
export function needsRefresh(table: HolidayTable, today: LocalDate): boolean {
  return table.horizon < addDays(today, 365);
}

export const CALENDAR_NAMES = ['gb', 'target', 'us-fed'] as const;
export type CalendarName = (typeof CALENDAR_NAMES)[number];

export type Calendars = Readonly<Record<CalendarName, Calendar>>;

export function createCalendars(gb: HolidayTable): Calendars {
  return {
    gb: weekdaysExcept((date) => {
      const covered = date >= gb.from && date <= gb.horizon;
      return covered ? gb.holidays.has(date) : ukHolidays(yearOf(date)).has(date);
    }),
    target: weekdaysExcept((date) => targetClosingDays(yearOf(date)).has(date)),
    'us-fed': weekdaysExcept((date) => federalReserveClosingDays(yearOf(date)).has(date)),
  };
}

/**
 * Open only if all calendars are open: a payment in another currency needs banks at both ends. Without calendars,
 * always open.
 */
export function combineCalendars(calendars: readonly Calendar[]): Calendar {
  return { isOpen: (date) => calendars.every((calendar) => calendar.isOpen(date)) };
}

function weekdaysExcept(isHoliday: (date: LocalDate) => boolean): Calendar {
  return { isOpen: (date) => weekday(date) <= 5 && !isHoliday(date) };
}

/** Easter Sunday by the Gregorian computus (Meeus, Jones and Butcher). */
export function easterSunday(year: number): LocalDate {
  const a = year % 19;
  const b = Math.floor(year / 100);
  const c = year % 100;
  const epact = (19 * a + b - Math.floor(b / 4) - Math.floor((b - Math.floor((b + 8) / 25) + 1) / 3) + 15) % 30;
  const days = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - epact - (c % 4)) % 7;
  const shift = Math.floor((a + 11 * epact + 22 * days) / 451);
  const ordinal = epact + days - 7 * shift + 114;
  return dateOf(year, Math.floor(ordinal / 31), (ordinal % 31) + 1);
}

/** T2 closes on six days besides weekends and has no substitute days (European Central Bank, 14 December 2000). */
const targetClosingDays = perYear((year) => {
  const easter = easterSunday(year);
  const fixed = [dateOf(year, 1, 1), dateOf(year, 5, 1), dateOf(year, 12, 25), dateOf(year, 12, 26)];
  return [...fixed, addDays(easter, -2), addDays(easter, 1)];
});

/** The rule of England and Wales for years not published yet. A substitute day is the next free weekday. */
const ukHolidays = perYear((year) => {
  const easter = easterSunday(year);
  const days = new Set([
    addDays(easter, -2),
    addDays(easter, 1),
    nthWeekday(year, 5, 1, 1),
    lastMonday(year, 5),
    lastMonday(year, 8),
  ]);
  for (const fixed of [dateOf(year, 1, 1), dateOf(year, 12, 25), dateOf(year, 12, 26)]) {
    let date = fixed;
    while (weekday(date) > 5 || days.has(date)) date = addDays(date, 1);
    days.add(date);
  }
  return [...days];
});

/** The twelve Federal Reserve Banks: a Sunday holiday moves to Monday, a Saturday one does not move. */
const federalReserveClosingDays = perYear((year) => {
  const fixed = [
    dateOf(year, 1, 1),
    dateOf(year, 6, 19),
    dateOf(year, 7, 4),
    dateOf(year, 11, 11),
    dateOf(year, 12, 25),
  ];
  return [
    ...fixed.map((date) => (weekday(date) === 7 ? addDays(date, 1) : date)),
    nthWeekday(year, 1, 1, 3),
    nthWeekday(year, 2, 1, 3),
    lastMonday(year, 5),
    nthWeekday(year, 9, 1, 1),
    nthWeekday(year, 10, 1, 2),
    nthWeekday(year, 11, 4, 4),
  ];
});

function perYear(compute: (year: number) => readonly LocalDate[]): (year: number) => ReadonlySet<LocalDate> {
  const known = new Map<number, ReadonlySet<LocalDate>>();
  return (year) => {
    const days = known.get(year) ?? new Set(compute(year));
    known.set(year, days);
    return days;
  };
}

/** `day` is 1 for Monday to 7; `ordinal` 1 is the first of the month. */
function nthWeekday(year: number, month: number, day: number, ordinal: number): LocalDate {
  const first = dateOf(year, month, 1);
  return addDays(first, ((day - weekday(first) + 7) % 7) + (ordinal - 1) * 7);
}

function lastMonday(year: number, month: number): LocalDate {
  const last = addDays(dateOf(month === 12 ? year + 1 : year, month === 12 ? 1 : month + 1, 1), -1);
  return addDays(last, 1 - weekday(last));
}

function dateOf(year: number, month: number, day: number): LocalDate {
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

function yearOf(date: LocalDate): number {
  return Number(date.slice(0, 4));
}
