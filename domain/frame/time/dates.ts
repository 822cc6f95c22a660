/** Calendar dates as `YYYY-MM-DD` text, and instants as the interface writes them. No zones here: see zones.ts. */
export type LocalDate = string;

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,3}))?$/;
const DAY_MS = 86_400_000;

/** A date of the calendar, from year 1900 on unless told otherwise: 2026-02-31 and 0000-01-01 are not. */
export function isDate(text: string, yearMin = 1900): boolean {
  const match = DATE.exec(text);
  if (match === null || Number(match[1]) < yearMin) return false;
  const instant = new Date(`${text}T00:00:00.000Z`);
  return !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(text);
}

/** Midnight UTC of the date, as milliseconds. Throws on text that `isDate` refuses. */
function epochMs(date: LocalDate): number {
  if (!isDate(date)) throw new RangeError(`${date} is not a date`);
  return Date.parse(`${date}T00:00:00.000Z`);
}

export function addDays(date: LocalDate, days: number): LocalDate {
  return new Date(epochMs(date) + days * DAY_MS).toISOString().slice(0, 10);
}

/** The same day so many years later, for comparing dates: the years after 29 February may have no such day. */
export function yearsLater(date: LocalDate, years: number): LocalDate {
  return `${String(Number(date.slice(0, 4)) + years).padStart(4, '0')}${date.slice(4)}`;
}

/** 1 is Monday, 7 is Sunday. */
export function weekday(date: LocalDate): number {
  return new Date(epochMs(date)).getUTCDay() || 7;
}

export function dateInUtc(instant: Date): LocalDate {
  return instant.toISOString().slice(0, 10);
}

/** `YYYY-MM-DDThh:mm:ss` in UTC without a zone, as the interface writes date-times. */
export function formatDateTime(instant: Date): string {
  return instant.toISOString().slice(0, 19);
}

/** The same with milliseconds, as account statement entries write it. */
export function formatDateTimeMs(instant: Date): string {
  return instant.toISOString().slice(0, 23);
}

/** Reads `YYYY-MM-DDThh:mm:ss` with up to three decimals as UTC; null where it is not one of the calendar. */
export function parseDateTime(text: string): Date | null {
  const match = DATE_TIME.exec(text);
  if (match === null || !isDate(match[1] ?? '')) return null;
  return new Date(`${match[1]}T${match[2]}:${match[3]}:${match[4]}.${(match[5] ?? '').padEnd(3, '0')}Z`);
}
