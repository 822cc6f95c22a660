/** Calendar dates as `YYYY-MM-DD` text, and instants as the interface writes them. For time zones see zones.ts. */
export type LocalDate = string;

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,3}))?$/;
const DAY_MS = 86_400_000;

/** Whether the text is a calendar date, by default from year 1900 on; 2026-02-31 and 0000-01-01 are not. */
export function isDate(text: string, yearMin = 1900): boolean {
  const match = DATE.exec(text);
  if (match === null || Number(match[1]) < yearMin) return false;
  const instant = new Date(`${text}T00:00:00.000Z`);
  return !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(text);
}

/** Midnight UTC in milliseconds. Throws on text that `isDate` rejects. */
function epochMs(date: LocalDate): number {
  if (!isDate(date)) throw new RangeError(`${date} is not a date`);
  return Date.parse(`${date}T00:00:00.000Z`);
}

export function addDays(date: LocalDate, days: number): LocalDate {
  return new Date(epochMs(date) + days * DAY_MS).toISOString().slice(0, 10);
}

/** The same day a number of years later. For comparisons only: 29 February may not exist in that year. */
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

/** The same with milliseconds, for account statements. */
export function formatDateTimeMs(instant: Date): string {
  return instant.toISOString().slice(0, 23);
}

/** Parses `YYYY-MM-DDThh:mm:ss` with up to three decimals as UTC; null if it is not a valid date-time. */
export function parseDateTime(text: string): Date | null {
  const match = DATE_TIME.exec(text);
  if (match === null || !isDate(match[1] ?? '')) return null;
  return new Date(`${match[1]}T${match[2]}:${match[3]}:${match[4]}.${(match[5] ?? '').padEnd(3, '0')}Z`);
}
