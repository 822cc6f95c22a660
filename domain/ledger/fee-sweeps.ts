import { addDays, dateInUtc, type LocalDate } from '../common/time/dates.ts';
import { instantInZone, type LocalTime } from '../common/time/zones.ts';

/** The last day whose sweep time (UTC) has passed. A late sweep still counts to that day. */
export function latestFeeSweepDay(now: Date, feeSweepTime: LocalTime): LocalDate {
  const today = dateInUtc(now);
  const due = instantInZone({ date: today, time: feeSweepTime }, 'UTC');
  return now.getTime() < due.getTime() ? addDays(today, -1) : today;
}
