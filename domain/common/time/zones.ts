import { Temporal } from '@js-temporal/polyfill';
import { dateInUtc, type LocalDate } from './dates.ts';

/** Time of day on a wall clock, `hh:mm`. */
export type LocalTime = string;

const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;

export function isLocalTime(text: string): boolean {
  return TIME.test(text);
}

/** A known IANA name. Fixed offsets (`+01:00`) are rejected: they are wrong for half of the year. */
export function isZone(text: string): boolean {
  if (!/^[A-Za-z]/.test(text)) return false;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(text);
    return true;
  } catch {
    return false;
  }
}

// A cache, because calendar arithmetic is slow and callers repeat the same look-ups: today, its opening and its
// cut-off.
const datesOfSeconds = new Map<string, { readonly second: number; readonly date: LocalDate }>();
const instants = new Map<string, number>();
const INSTANTS_MAX = 1_000;

/** The calendar date in the zone at the instant. */
export function dateInZone(instant: Date, zone: string): LocalDate {
  if (zone === 'UTC') return dateInUtc(instant);
  // No zone has ever changed its clocks within a second.
  const second = Math.floor(instant.getTime() / 1000);
  const last = datesOfSeconds.get(zone);
  if (last?.second === second) return last.date;
  const date = readDate(instant, zone);
  datesOfSeconds.set(zone, { second, date });
  return date;
}

function readDate(instant: Date, zone: string): LocalDate {
  return Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(zone).toPlainDate().toString();
}

/** `YYYY-MM-DD hh:mm` as the zone's clocks show it. */
export function minuteInZone(instant: Date, zone: string): string {
  const local = Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(zone).toPlainDateTime();
  return local.toString({ smallestUnit: 'minute' }).replace('T', ' ');
}

/**
 * The instant at which the zone's clocks show this local time. A time that they skip in spring uses the offset before the
 * change, so it falls after the gap; for a time that occurs twice in autumn it is the first.
 */
export function instantInZone(local: { readonly date: LocalDate; readonly time: LocalTime }, zone: string): Date {
  const text = `${local.date}T${local.time}`;
  const key = `${text} ${zone}`;
  const known = instants.get(key);
  if (known !== undefined) return new Date(known);
  const { epochMilliseconds } = Temporal.PlainDateTime.from(text).toZonedDateTime(zone, {
    disambiguation: 'compatible',
  });
  if (instants.size >= INSTANTS_MAX) instants.clear();
  instants.set(key, epochMilliseconds);
  return new Date(epochMilliseconds);
}
