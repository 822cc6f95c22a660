import { isDate, type LocalDate, weekday } from './dates.ts';

/**
 * The closing days of a country's banks or of a payment system, as published. Governments add and move days, so the service
 * computes none: config/ reads the dates as data, which change without a release. Every calendar closes on weekends.
 */
export interface Calendar {
  /** Who published the dates. */
  readonly source: string;
  /** The dates that the calendar covers; outside of them it knows weekends only. */
  readonly from: LocalDate;
  readonly until: LocalDate;
  /** The days up to here are published; those after it are expected, and may still change. */
  readonly publishedUntil: LocalDate;
  /** How many months before `publishedUntil` the next dates should have been published. */
  readonly warningMonths: number;
  readonly closedDates: ReadonlySet<LocalDate>;
}

export type Calendars = ReadonlyMap<string, Calendar>;

export function isOpenIn({ closedDates }: Calendar, date: LocalDate): boolean {
  return weekday(date) <= 5 && !closedDates.has(date);
}

export interface ClosedDate {
  readonly date: LocalDate;
  readonly name: string;
}

/** The rules that a calendar breaks, one line each. A year without a closed date must be an omission. */
export function calendarProblems(calendar: Omit<Calendar, 'closedDates'>, closed: readonly ClosedDate[]): string[] {
  const { from, publishedUntil, until } = calendar;
  const bounds = Object.entries({ from, publishedUntil, until });
  const notDates = bounds.filter(([, date]) => !isDate(date));
  if (notDates.length > 0) return notDates.map(([field, date]) => `${field} must be a date (is "${date}")`);
  const problems: string[] = [];
  if (!from.endsWith('-01-01')) problems.push(`from must be a 1 January (is "${from}")`);
  if (!until.endsWith('-12-31')) problems.push(`until must be a 31 December (is "${until}")`);
  if (publishedUntil < from || publishedUntil > until) {
    problems.push(`publishedUntil must be between from and until (is "${publishedUntil}")`);
  }
  for (const [index, { date }] of closed.entries()) {
    const before = closed[index - 1]?.date ?? '';
    const path = `closedDates.${index}.date`;
    if (!isDate(date)) problems.push(`${path} must be a date (is "${date}")`);
    else if (date < from || date > until) problems.push(`${path} must be between from and until (is "${date}")`);
    else if (date <= before) problems.push(`${path} must be after the one before it (is "${date}")`);
  }
  const years = new Set(closed.map(({ date }) => date.slice(0, 4)));
  for (let year = Number(from.slice(0, 4)); year <= Number(until.slice(0, 4)); year += 1) {
    if (!years.has(String(year))) problems.push(`closedDates has no date in ${year}`);
  }
  return problems;
}

const DAY_MS = 86_400_000;

/** How many days after today the published dates end; negative once they have ended. */
export function daysLeft({ publishedUntil }: Calendar, today: LocalDate): number {
  return Math.round((Date.parse(publishedUntil) - Date.parse(today)) / DAY_MS);
}

/** Whether the published dates end so soon that the next ones should already be published. */
export function endsSoon({ publishedUntil, warningMonths }: Calendar, today: LocalDate): boolean {
  const warned = new Date(publishedUntil);
  warned.setUTCMonth(warned.getUTCMonth() - warningMonths);
  return today > warned.toISOString().slice(0, 10);
}

/** The dates that a new edition closes, and those that it opens again. */
export function compareClosedDates(
  before: Iterable<LocalDate>,
  after: Iterable<LocalDate>,
): { readonly closed: readonly LocalDate[]; readonly opened: readonly LocalDate[] } {
  const [was, is] = [new Set(before), new Set(after)];
  return {
    closed: [...is].filter((date) => !was.has(date)).sort(),
    opened: [...was].filter((date) => !is.has(date)).sort(),
  };
}
