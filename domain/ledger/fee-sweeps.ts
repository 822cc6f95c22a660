import { addDays, dateInUtc, type LocalDate } from '../frame/time/dates.ts';
import { instantInZone, type LocalTime } from '../frame/time/zones.ts';

/** The latest day whose time of the fee sweep, in UTC, has come. A sweep counts to it, however late it is. */
export function latestFeeSweepDay(now: Date, feeSweepTime: LocalTime): LocalDate {
  const today = dateInUtc(now);
  const due = instantInZone({ date: today, time: feeSweepTime }, 'UTC');
  return now.getTime() < due.getTime() ? addDays(today, -1) : today;
}
