import { type Calendar, isOpenIn } from '../frame/time/calendars.ts';
import { addDays, type LocalDate } from '../frame/time/dates.ts';

interface Kept {
  readonly from: LocalDate;
  readonly days: number;
  readonly calendars: readonly Calendar[];
  readonly closed: readonly LocalDate[];
}

/**
 * The closed days of a period, the last answer for each name kept. It depends on nothing but the calendars and the first
 * day: another day or another edition of a calendar, which is another object, is computed again. There are as many names
 * as combinations of calendars and zones in the configuration.
 */
export class ClosedDays {
  readonly #kept = new Map<string, Kept>();

  of(name: string, calendars: readonly Calendar[], from: LocalDate, days: number): readonly LocalDate[] {
    const kept = this.#kept.get(name);
    if (kept?.from === from && kept.days === days && areSame(kept.calendars, calendars)) return kept.closed;
    const dates = Array.from({ length: days }, (_, index) => addDays(from, index));
    const closed = dates.filter((date) => !calendars.every((calendar) => isOpenIn(calendar, date)));
    // Every caller has the same list.
    this.#kept.set(name, { from, days, calendars, closed: Object.freeze(closed) });
    return closed;
  }
}

function areSame(some: readonly Calendar[], others: readonly Calendar[]): boolean {
  return some.length === others.length && some.every((calendar, index) => calendar === others[index]);
}
