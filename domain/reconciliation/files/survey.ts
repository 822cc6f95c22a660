import { dateInUtc, type LocalDate } from '../../frame/time/dates.ts';
import type { StatementHeader, StatementItem } from '../bank-statements.ts';
import { movesMoney } from './statement-movements.ts';

/** What a file has of one currency. */
export interface SurveyedCurrency {
  readonly accounts: ReadonlySet<string>;
  /** An entry or a balance; a bank may list accounts that are empty. */
  readonly hasMoney: boolean;
  /** It has a booked entry of the day, or a statement that covers it: a quiet day has no entry. */
  readonly isOfDay: boolean;
}

type Found = { accounts: Set<string>; hasMoney: boolean; isOfDay: boolean };

/** Whose statements a file has, and of which currencies, before anything of it is recorded. */
export class FileSurvey {
  readonly #day: LocalDate;
  readonly #currencies = new Map<string, Found>();
  #account: string | null = null;

  constructor(day: LocalDate) {
    this.#day = day;
  }

  get currencies(): ReadonlyMap<string, SurveyedCurrency> {
    return this.#currencies;
  }

  add(item: StatementItem): void {
    if (item.item === 'statement') {
      this.#account = item.account;
      const currency = item.currency ?? item.balances[0]?.currency;
      if (currency === undefined) return;
      const found = this.#of(currency);
      found.hasMoney ||= item.balances.some(({ amountMinor }) => amountMinor !== 0n);
      found.isOfDay ||= covers(item, this.#day);
    } else if (item.item === 'entry' && movesMoney(item) && item.bookedAt !== null) {
      const found = this.#of(item.currency);
      found.hasMoney = true;
      found.isOfDay ||= dateInUtc(item.bookedAt) === this.#day;
    }
  }

  #of(currency: string): Found {
    const found = this.#currencies.get(currency) ?? { accounts: new Set(), hasMoney: false, isOfDay: false };
    if (this.#account !== null) found.accounts.add(this.#account);
    this.#currencies.set(currency, found);
    return found;
  }
}

const NOON_MS = 12 * 3_600_000;

/** By its period, in whatever zone, or by the dates of its balances. */
function covers({ period, balances }: StatementHeader, day: LocalDate): boolean {
  const { from, to } = period;
  if (from !== null && to !== null) {
    const noon = Date.parse(day) + NOON_MS;
    const isThatDay = dateInUtc(from) === day && dateInUtc(to) === day;
    return isThatDay || (from.getTime() <= noon && noon <= to.getTime());
  }
  const datesOf = (...codes: string[]) =>
    balances.flatMap(({ code, date }) => (date !== null && codes.includes(code) ? [date] : [])).sort();
  const closing = datesOf('CLBD').at(-1);
  const [opening = closing] = datesOf('OPBD', 'PRCD');
  if (closing === undefined || opening === undefined) return false;
  // An opening balance may have the date of the day before, whose closing balance it is.
  return day === closing || (opening < day && day < closing);
}
