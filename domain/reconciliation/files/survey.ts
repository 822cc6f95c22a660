import { addDays, dateInUtc, type LocalDate } from '../../common/time/dates.ts';
import type { StatementHeader, StatementItem } from '../bank-statements.ts';
import { movesMoney } from './statement-movements.ts';

/** The contents of a file in one currency. */
export interface SurveyedCurrency {
  readonly accounts: ReadonlySet<string>;
  /** An entry or a balance; a bank may list accounts that are empty. */
  readonly hasMoney: boolean;
  /** The file has a booked entry of the day, or a statement that covers it: a day may have no entry. */
  readonly isOfDay: boolean;
}

type Found = { accounts: Set<string>; hasMoney: boolean; isOfDay: boolean };

/** The accounts and currencies in a file, determined before anything is recorded. */
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
    } else if (item.item === 'entry' && movesMoney(item) && item.amountMinor !== 0n && item.bookedAt !== null) {
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

/** More than a year: no bank states that at once. */
const DAYS_MAX = 400;

/** The days that a statement covers, also those on which nothing was booked. */
export function coveredDays(header: StatementHeader): readonly LocalDate[] {
  const { period, balances } = header;
  const named = [period.from, period.to].flatMap((one) => (one === null ? [] : [dateInUtc(one)]));
  const dates = [...named, ...balances.flatMap(({ date }) => (date === null ? [] : [date]))].sort();
  const [first] = dates;
  const last = dates.at(-1);
  const days: LocalDate[] = [];
  if (first === undefined || last === undefined) return days;
  for (let day = first, at = 0; day <= last && at < DAYS_MAX; day = addDays(day, 1), at += 1) {
    if (covers(header, day)) days.push(day);
  }
  return days;
}

const NOON_MS = 12 * 3_600_000;

/** Whether the statement covers the day, by its period, in any zone, or by the dates of its balances. */
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
  // An opening balance may have the date of the previous day, of which it is the closing balance.
  return day === closing || (opening < day && day < closing);
}
