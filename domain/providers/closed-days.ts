import { type Calendar, isOpenIn } from '../common/time/calendars.ts';
import { addDays, type LocalDate } from '../common/time/dates.ts';

interface CachedDays {
  readonly from: LocalDate;
  readonly days: number;
  readonly calendars: readonly Calendar[];
  readonly closed: readonly LocalDate[];
}

/**
 * The closed days of a period, with a cache of the last answer per name. It depends only on the calendars and the first
 * day: another day or another edition of a calendar, which is another object, is computed again. There are as many names
 * as combinations of calendars and zones in the configuration.
 */
export class ClosedDays {
  readonly #cached = new Map<string, CachedDays>();

  of(name: string, calendars: readonly Calendar[], from: LocalDate, days: number): readonly LocalDate[] {
    const cached = this.#cached.get(name);
    if (cached?.from === from && cached.days === days && areSame(cached.calendars, calendars)) return cached.closed;
    const dates = Array.from({ length: days }, (_, index) => addDays(from, index));
    const closed = dates.filter((date) => !calendars.every((calendar) => isOpenIn(calendar, date)));
    // Every caller has the same list.
    this.#cached.set(name, { from, days, calendars, closed: Object.freeze(closed) });
    return closed;
  }
}

function areSame(some: readonly Calendar[], others: readonly Calendar[]): boolean {
  return some.length === others.length && some.every((calendar, index) => calendar === others[index]);
}
