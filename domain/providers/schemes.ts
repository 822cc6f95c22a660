import { type Calendar, type CalendarName, type Calendars, combineCalendars } from '../frame/time/calendars.ts';
import { addDays, type LocalDate } from '../frame/time/dates.ts';
import { dateInZone, instantInZone, type LocalTime } from '../frame/time/zones.ts';

/** Transfers between accounts of the service: no scheme in the interface, one that never closes here, with days in UTC. */
export const INTERNAL_SCHEME = 'internal';

/** `unavailableDates` looks this many days ahead, today included. */
export const AVAILABILITY_DAYS = 365;

/** What an operator says of a payment scheme. All times are of the scheme's own zone. */
export interface SchemeRule {
  readonly zone: string;
  /** The currencies that it carries; null is every one. */
  readonly currencies: readonly string[] | null;
  /** The countries that it reaches; null is every one. */
  readonly destinationCountries: readonly string[] | null;
  /** Null where the scheme never closes; then it has no calendar, and its day ends at midnight. */
  readonly cutOff: LocalTime | null;
  /** What it finds a bank account by, and cannot do without; null where any account number will do. */
  readonly accountsNamedBy: 'iban' | 'bic' | null;
  readonly cutOffByCurrency: Readonly<Record<string, LocalTime>>;
  /** When a day's releases may begin; null is midnight. */
  readonly opensAt: LocalTime | null;
  /** `currency` is the calendar of the transfer's own currency. A day is open only where all are. */
  readonly calendars: readonly (CalendarName | 'currency')[];
  /** The largest amount of one transfer, in minor units by currency. */
  readonly amountLimitsMinor: Readonly<Record<string, bigint>>;
}

/** Cut-offs and days may differ by currency, so a scheme is always asked about together with one. */
export interface SchemeOf {
  /** A scheme code; null, as the interface writes internal transfers, is `internal`. */
  readonly scheme: string | null;
  readonly currency: string;
}

export interface Schedule {
  readonly transferDate: LocalDate;
  /** Null where the scheme never closes. */
  readonly cutOff: Date | null;
  /** How often the date was moved to get here: 0 or 1. */
  readonly rolls: number;
}

/**
 * The timetable of payment schemes, from configuration. `now` is always the caller's. The instant of a cut-off is already
 * past it. Unknown schemes throw: ask `knows` first.
 */
export class Schemes {
  readonly #rules: ReadonlyMap<string, SchemeRule>;
  readonly #calendars: Calendars;
  readonly #calendarByCurrency: Readonly<Record<string, CalendarName>>;

  constructor(configuration: {
    readonly rules: Readonly<Record<string, SchemeRule>>;
    readonly calendars: Calendars;
    readonly calendarByCurrency: Readonly<Record<string, CalendarName>>;
  }) {
    this.#rules = new Map(Object.entries(configuration.rules));
    this.#calendars = configuration.calendars;
    this.#calendarByCurrency = configuration.calendarByCurrency;
  }

  get codes(): readonly string[] {
    return [...this.#rules.keys()];
  }

  knows(scheme: string): boolean {
    return this.#rules.has(scheme);
  }

  /** Whether the scheme carries the currency to the country; a provider must offer it too. */
  reaches(of: SchemeOf, destinationCountry: string): boolean {
    const { currencies, destinationCountries } = this.#rule(of);
    return (
      (currencies === null || currencies.includes(of.currency)) &&
      (destinationCountries === null || destinationCountries.includes(destinationCountry))
    );
  }

  carries(of: SchemeOf): boolean {
    const { currencies } = this.#rule(of);
    return currencies === null || currencies.includes(of.currency);
  }

  /** What a bank account must have to be paid by the scheme: see `SchemeRule`. */
  accountsAreNamedBy(of: SchemeOf): SchemeRule['accountsNamedBy'] {
    return this.#rule(of).accountsNamedBy;
  }

  /** In minor units; null where the scheme has no limit. */
  amountLimitMinor(of: SchemeOf): bigint | null {
    const { amountLimitsMinor } = this.#rule(of);
    return Object.hasOwn(amountLimitsMinor, of.currency) ? (amountLimitsMinor[of.currency] ?? null) : null;
  }

  neverCloses(of: SchemeOf): boolean {
    return this.#cutOffTime(of) === null;
  }

  /** The date in the scheme's own zone: what "in the past" and "today" mean for a transfer date. */
  today(of: SchemeOf, now: Date): LocalDate {
    return dateInZone(now, this.#rule(of).zone);
  }

  isOpen(of: SchemeOf, date: LocalDate): boolean {
    return this.neverCloses(of) || this.#calendar(of).isOpen(date);
  }

  /** The instant at which a transfer of this date may first be released. */
  opensAt(of: SchemeOf, date: LocalDate): Date {
    const { zone, opensAt } = this.#rule(of);
    return instantInZone({ date, time: opensAt ?? '00:00' }, zone);
  }

  /** Null where the scheme never closes. */
  cutOff(of: SchemeOf, date: LocalDate): Date | null {
    const time = this.#cutOffTime(of);
    return time === null ? null : instantInZone({ date, time }, this.#rule(of).zone);
  }

  /** The instant from which a transfer of this date is too late for it: the cut-off, or the end of the day. */
  rollsAt(of: SchemeOf, date: LocalDate): Date {
    return this.cutOff(of, date) ?? instantInZone({ date: addDays(date, 1), time: '00:00' }, this.#rule(of).zone);
  }

  /** The first date that a transfer asked for now can still make. */
  nextAvailableDate(of: SchemeOf, now: Date): LocalDate {
    return this.roll(of, this.today(of, now), now).transferDate;
  }

  /** The cut-off of `nextAvailableDate`. */
  nextCutOff(of: SchemeOf, now: Date): Date | null {
    return this.cutOff(of, this.nextAvailableDate(of, now));
  }

  /** Every closed day of the next 365, today included, weekends too; of a scheme that never closes none. */
  unavailableDates(of: SchemeOf, now: Date): LocalDate[] {
    if (this.neverCloses(of)) return [];
    const today = this.today(of, now);
    const dates = Array.from({ length: AVAILABILITY_DAYS }, (_, days) => addDays(today, days));
    return dates.filter((date) => !this.isOpen(of, date));
  }

  /**
   * Keeps a date that is open and not too late; else moves it, in one roll, to the next such date. A service that was away
   * for days so rolls once, not once for each day on which it could do nothing.
   */
  roll(of: SchemeOf, transferDate: LocalDate, now: Date): Schedule {
    const today = this.today(of, now);
    let date = transferDate < today ? today : transferDate;
    if (this.neverCloses(of)) return { transferDate: date, cutOff: null, rolls: date === transferDate ? 0 : 1 };
    for (let days = 0; days < AVAILABILITY_DAYS; days += 1) {
      const cutOff = this.cutOff(of, date);
      if (cutOff !== null && cutOff > now && this.isOpen(of, date)) {
        return { transferDate: date, cutOff, rolls: date === transferDate ? 0 : 1 };
      }
      date = addDays(date, 1);
    }
    throw new RangeError(`scheme ${of.scheme} has no open day in the ${AVAILABILITY_DAYS} days after ${transferDate}`);
  }

  #rule(of: SchemeOf): SchemeRule {
    const rule = this.#rules.get(of.scheme ?? INTERNAL_SCHEME);
    if (rule === undefined) throw new RangeError(`unknown scheme ${of.scheme}`);
    return rule;
  }

  #cutOffTime(of: SchemeOf): LocalTime | null {
    const { cutOff, cutOffByCurrency } = this.#rule(of);
    return Object.hasOwn(cutOffByCurrency, of.currency) ? (cutOffByCurrency[of.currency] ?? null) : cutOff;
  }

  #calendar(of: SchemeOf): Calendar {
    const names = this.#rule(of).calendars.map((name) => (name === 'currency' ? this.#calendarOf(of.currency) : name));
    return combineCalendars(names.map((name) => this.#calendars[name]));
  }

  /** A currency without a calendar of its own follows the UK's, where the providers of such currencies sit. */
  #calendarOf(currency: string): CalendarName {
    const named = Object.hasOwn(this.#calendarByCurrency, currency) ? this.#calendarByCurrency[currency] : undefined;
    return named ?? 'gb';
  }
}
