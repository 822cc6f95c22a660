import { type Calendar, type Calendars, isOpenIn } from '../common/time/calendars.ts';
import { addDays, type LocalDate } from '../common/time/dates.ts';
import { dateInZone, instantInZone, type LocalTime } from '../common/time/zones.ts';
import { ClosedDays } from './closed-days.ts';

/** The scheme of transfers between our accounts. It has no name in the interface, never closes, and uses UTC days. */
export const INTERNAL_SCHEME = 'internal';

/** The horizon of `unavailableDates`, today included. */
export const AVAILABILITY_DAYS = 365;

/** `sort-code`: a sort code with an account number, or a British IBAN, which contains both. */
export const BANK_ACCOUNT_IDENTIFIERS = ['iban', 'bic', 'sort-code'] as const;
export type BankAccountIdentifier = (typeof BANK_ACCOUNT_IDENTIFIERS)[number];

/** An operator's configuration of a payment scheme. Times are in the scheme's own zone. */
export interface SchemeRule {
  readonly zone: string;
  /** The supported currencies; null: all. */
  readonly currencies: readonly string[] | null;
  /** The destination countries; null: all. */
  readonly destinationCountries: readonly string[] | null;
  /** Null if the scheme never closes; it then has no calendar, and its day ends at midnight. */
  readonly cutOff: LocalTime | null;
  /** The identifier that the scheme requires of a bank account; null if any account number will do. */
  readonly accountsNamedBy: BankAccountIdentifier | null;
  readonly cutOffByCurrency: Readonly<Record<string, LocalTime>>;
  /** When a day's releases may start; null is midnight. */
  readonly opensAt: LocalTime | null;
  /**
   * The names of the calendars that the scheme follows; `currency` means the calendar of the transfer's currency, if it
   * has one. A payment in another currency needs banks at both ends, so a day is open only if it is open in all of them.
   */
  readonly calendars: readonly string[];
  /** The maximum amount of one transfer, in minor units by currency. */
  readonly amountLimitsMinor: Readonly<Record<string, bigint>>;
}

/** Cut-offs and days may differ by currency, so every method takes both. */
export interface SchemeOf {
  /** A scheme code. Null means `internal`, as in the interface. */
  readonly scheme: string | null;
  readonly currency: string;
}

/** The entry of `calendars` that means the calendar of the transfer's currency. */
export const CURRENCY_CALENDAR = 'currency';

export interface Schedule {
  readonly transferDate: LocalDate;
  /** Null if the scheme never closes. */
  readonly cutOff: Date | null;
  /** How often the date rolled: 0 or 1. */
  readonly rolls: number;
}

/**
 * The configured timetable of payment schemes. Callers pass `now`. A cut-off's instant itself is too late. Unknown schemes
 * throw: check `knows` first.
 */
export class Schemes {
  readonly #rules: ReadonlyMap<string, SchemeRule>;
  readonly #calendars: () => Calendars;
  readonly #calendarByCurrency: Readonly<Record<string, string>>;
  readonly #closedDays = new ClosedDays();

  constructor(configuration: {
    readonly rules: Readonly<Record<string, SchemeRule>>;
    /** The current calendars, which change while the service runs. */
    readonly calendars: () => Calendars;
    readonly calendarByCurrency: Readonly<Record<string, string>>;
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

  /** Whether the scheme carries the currency to the country. The provider must offer the scheme as well. */
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

  /** The identifier that the scheme requires of a bank account: see `SchemeRule`. */
  accountsAreNamedBy(of: SchemeOf): SchemeRule['accountsNamedBy'] {
    return this.#rule(of).accountsNamedBy;
  }

  /** In minor units; null if the scheme has no limit. */
  amountLimitMinor(of: SchemeOf): bigint | null {
    const { amountLimitsMinor } = this.#rule(of);
    return Object.hasOwn(amountLimitsMinor, of.currency) ? (amountLimitsMinor[of.currency] ?? null) : null;
  }

  neverCloses(of: SchemeOf): boolean {
    return this.#cutOffTime(of) === null;
  }

  zone(of: SchemeOf): string {
    return this.#rule(of).zone;
  }

  /** Today in the scheme's own zone, by which transfer dates are compared. */
  today(of: SchemeOf, now: Date): LocalDate {
    return dateInZone(now, this.#rule(of).zone);
  }

  isOpen(of: SchemeOf, date: LocalDate): boolean {
    return this.neverCloses(of) || this.#calendarNames(of).every((name) => isOpenIn(this.#calendar(name), date));
  }

  /** The earliest instant of release for this date. */
  opensAt(of: SchemeOf, date: LocalDate): Date {
    const { zone, opensAt } = this.#rule(of);
    return instantInZone({ date, time: opensAt ?? '00:00' }, zone);
  }

  /** Null if the scheme never closes. */
  cutOff(of: SchemeOf, date: LocalDate): Date | null {
    const time = this.#cutOffTime(of);
    return time === null ? null : instantInZone({ date, time }, this.#rule(of).zone);
  }

  /** From this instant on the date is missed: its cut-off, or the end of the day. */
  rollsAt(of: SchemeOf, date: LocalDate): Date {
    return this.cutOff(of, date) ?? instantInZone({ date: addDays(date, 1), time: '00:00' }, this.#rule(of).zone);
  }

  /** The first date that a transfer requested now can meet. */
  nextAvailableDate(of: SchemeOf, now: Date): LocalDate {
    return this.roll(of, this.today(of, now), now).transferDate;
  }

  /** The first open date, from `from` on, whose window opens after `now`. */
  nextOpening(of: SchemeOf, from: LocalDate, now: Date): LocalDate {
    let date = from;
    for (let days = 0; days < AVAILABILITY_DAYS; days += 1) {
      if (this.opensAt(of, date) > now && this.isOpen(of, date)) return date;
      date = addDays(date, 1);
    }
    throw new RangeError(`scheme ${of.scheme} has no open day in the ${AVAILABILITY_DAYS} days after ${from}`);
  }

  /** The cut-off of `nextAvailableDate`. */
  nextCutOff(of: SchemeOf, now: Date): Date | null {
    return this.cutOff(of, this.nextAvailableDate(of, now));
  }

  /** The closed days of the next 365, including today and weekends; none if the scheme never closes. */
  unavailableDates(of: SchemeOf, now: Date): readonly LocalDate[] {
    if (this.neverCloses(of)) return [];
    const names = this.#calendarNames(of);
    const calendars = names.map((name) => this.#calendar(name));
    // By zone too: two zones seldom have the same day, and each would displace the other's.
    const kept = `${names.join(' ')} ${this.zone(of)}`;
    return this.#closedDays.of(kept, calendars, this.today(of, now), AVAILABILITY_DAYS);
  }

  /**
   * Keeps an open date that is not missed; otherwise moves it, in one roll, to the next such date. After days of downtime a
   * transfer thus rolls once, not once per missed day.
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

  /**
   * Whether the calendars and cut-offs in force would still give the date and cut-off. They gave both, so if not, a calendar
   * or a cut-off has changed since.
   */
  isInForce(of: SchemeOf, { transferDate, cutOff }: Pick<Schedule, 'transferDate' | 'cutOff'>): boolean {
    return this.isOpen(of, transferDate) && this.cutOff(of, transferDate)?.getTime() === cutOff?.getTime();
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

  #calendarNames(of: SchemeOf): readonly string[] {
    return this.#rule(of).calendars.flatMap((name) =>
      name === CURRENCY_CALENDAR ? this.#calendarOf(of.currency) : name,
    );
  }

  /** A currency without a calendar follows the scheme's other ones. */
  #calendarOf(currency: string): readonly string[] {
    const name = Object.hasOwn(this.#calendarByCurrency, currency) ? this.#calendarByCurrency[currency] : undefined;
    return name === undefined ? [] : [name];
  }

  #calendar(name: string): Calendar {
    const calendar = this.#calendars().get(name);
    if (calendar === undefined) throw new RangeError(`unknown calendar ${name}`);
    return calendar;
  }
}
