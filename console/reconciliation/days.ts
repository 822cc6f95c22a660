import type { CalendarDay } from '../../db/reconciliation/calendar.ts';
import { addDays, type LocalDate } from '../../domain/common/time/dates.ts';
import { lastComparableDay } from '../../domain/reconciliation/movements.ts';

/** What is known of a day: whether the bank's statement and our books agree. */
export const DAY_STATES = ['agreed', 'differs', 'no-statement', 'not-compared', 'not-due', 'nothing'] as const;
export type DayState = (typeof DAY_STATES)[number];

export const DAY_STATE_TEXTS: Readonly<Record<DayState, string>> = {
  agreed: 'agreed',
  differs: 'differs: breaks are open',
  'no-statement': 'no statement: the bank’s has nothing of the day, and our books have something',
  'not-compared': 'not compared, and due',
  'not-due': 'not over yet',
  nothing: 'before our books had anything',
};

export function stateOf(
  compared: CalendarDay | undefined,
  day: LocalDate,
  { firstDay, now }: { readonly firstDay: LocalDate | null; readonly now: Date },
): DayState {
  if (compared !== undefined) {
    if (compared.openBreaks === 0) return 'agreed';
    return compared.isWithoutStatement ? 'no-statement' : 'differs';
  }
  if (day > lastComparableDay(now)) return 'not-due';
  return firstDay !== null && day >= firstDay ? 'not-compared' : 'nothing';
}

const MONTH = /^20\d{2}-(0[1-9]|1[0-2])$/;

export function isMonth(text: string): boolean {
  return MONTH.test(text);
}

export function monthOf(day: LocalDate): string {
  return day.slice(0, 7);
}

export function daysOfMonth(month: string): LocalDate[] {
  const days: LocalDate[] = [];
  for (let day = `${month}-01`; monthOf(day) === month; day = addDays(day, 1)) days.push(day);
  return days;
}

export function monthBefore(month: string): string {
  return monthOf(addDays(`${month}-01`, -1));
}

export function monthAfter(month: string): string {
  return monthOf(addDays(`${month}-28`, 4));
}
