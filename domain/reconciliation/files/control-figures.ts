import { parseAmountMinor } from '../../common/money.ts';
import { dateInUtc, type LocalDate } from '../../common/time/dates.ts';
import type {
  EntryDirection,
  StatedBalance,
  StatedTotal,
  StatementEntry,
  StatementHeader,
} from '../bank-statements.ts';
import { NOTHING, type Totals } from '../day-balance.ts';
import type { FigureDifference } from '../reconciliation.ts';

interface Figure {
  readonly amountMinor: bigint;
  readonly count: number | null;
}

/** A figure of a bank's file that differs from the sum of its parts. */
export interface FigureMismatch {
  readonly kind: FigureDifference;
  /** Identifies the figure and its entry or statement. */
  readonly reference: string;
  /** The file's figure. */
  readonly expected: Figure;
  /** The sum of its parts. */
  readonly actual: Figure;
  /** The effect of the mismatch on the day's sums. */
  readonly effect: Totals;
}

interface Sum {
  readonly count: number;
  readonly amountMinor: bigint;
}

const EMPTY: Sum = { count: 0, amountMinor: 0n };
type SumName = 'credits' | 'debits' | 'bookedCredits' | 'bookedDebits';

/**
 * The control figures of the statements of a file, in its order: each statement's summary and balances against its entries, and its
 * opening balance against the closing balance of the one before. Keeps only sums.
 */
export class StatementFigures {
  readonly #closings = new Map<string, bigint>();
  #header: StatementHeader | null = null;
  #currency: string | null = null;
  #sums: Readonly<Record<SumName, Sum>> = noSums();
  #lastBooked: Date | null = null;

  begin(header: StatementHeader): void {
    this.#header = header;
    this.#currency = header.currency ?? header.balances[0]?.currency ?? null;
    this.#sums = noSums();
    this.#lastBooked = null;
  }

  add(entry: StatementEntry): void {
    this.#currency ??= entry.currency;
    // A statement has one currency: entries in another one are not in its figures.
    if (entry.currency !== this.#currency) return;
    const isCredit = entry.direction === 'credit';
    this.#add(isCredit ? 'credits' : 'debits', entry.amountMinor);
    if (entry.bookedAt !== null && (this.#lastBooked === null || entry.bookedAt > this.#lastBooked)) {
      this.#lastBooked = entry.bookedAt;
    }
    if (entry.status === 'BOOK') this.#add(isCredit ? 'bookedCredits' : 'bookedDebits', entry.amountMinor);
  }

  /**
   * The currency, date and mismatches of the statement that ends. The date distinguishes the same mismatch on another statement, even
   * if the bank gives its statements no ids.
   */
  end(): {
    readonly currency: string | null;
    readonly date: LocalDate | null;
    readonly mismatches: readonly FigureMismatch[];
    /** Null if the statement does not say. */
    readonly opening: bigint | null;
    readonly closing: bigint | null;
  } {
    const header = this.#header;
    const currency = this.#currency;
    if (header === null || currency === null) {
      return { currency, date: null, mismatches: [], opening: null, closing: null };
    }
    const closings = header.balances.flatMap(({ code, date }) => (code === 'CLBD' && date !== null ? [date] : []));
    const last = this.#lastBooked ?? header.period.to;
    const date = closings.sort().at(-1) ?? (last && dateInUtc(last));
    const mismatches = [...this.#ofSummary(header, currency), ...this.#ofBalances(header, currency)];
    return { currency, date, mismatches, ...balancesOf(header, currency) };
  }

  #add(name: SumName, amountMinor: bigint): void {
    const { count, amountMinor: sum } = this.#sums[name];
    this.#sums = { ...this.#sums, [name]: { count: count + 1, amountMinor: sum + amountMinor } };
  }

  /** Some banks count pending entries and some do not: a figure agrees if it matches either sum. */
  #ofSummary({ number, id, summary }: StatementHeader, currency: string): FigureMismatch[] {
    const { credits, debits, bookedCredits, bookedDebits } = this.#sums;
    const { all } = summary;
    const net = all.net === null ? null : { count: null, sum: all.net };
    const sign = all.direction === 'debit' ? -1n : 1n;
    const figures: readonly (readonly [string, StatedTotal | null, readonly Sum[]])[] = [
      ['entries', { count: all.count, sum: all.sum }, [both(bookedCredits, bookedDebits), both(credits, debits)]],
      ['net', net, [netOf(bookedCredits, bookedDebits, sign), netOf(credits, debits, sign)]],
      ['credits', summary.credits, [bookedCredits, credits]],
      ['debits', summary.debits, [bookedDebits, debits]],
    ];
    return figures.flatMap(([name, stated, sums]): FigureMismatch[] => {
      const [booked = EMPTY] = sums;
      if (stated === null) return [];
      const statedMinor = stated.sum === null ? null : minorOf(stated.sum, currency);
      const agrees = (sum: Sum) =>
        (stated.count === null || stated.count === sum.count) &&
        (stated.sum === null ||
          statedMinor === sum.amountMinor ||
          isNetEitherWay(name, all.direction, statedMinor, sum));
      if (sums.some(agrees)) return [];
      return [
        {
          kind: 'statement-summary-differs',
          reference: `statement-${id ?? number}-${name}`,
          expected: { amountMinor: statedMinor ?? booked.amountMinor, count: stated.count },
          actual: { amountMinor: booked.amountMinor, count: stated.count === null ? null : booked.count },
          effect: NOTHING,
        },
      ];
    });
  }

  #ofBalances({ number, id, account, balances }: StatementHeader, currency: string): FigureMismatch[] {
    const { opening, closing } = balancesOf({ balances }, currency);
    const key = `${account ?? ''} ${currency}`;
    const before = this.#closings.get(key);
    if (closing !== null) this.#closings.set(key, closing);
    const { bookedCredits, bookedDebits } = this.#sums;
    const found: FigureMismatch[] = [];
    if (opening !== null && closing !== null) {
      const booked = opening + bookedCredits.amountMinor - bookedDebits.amountMinor;
      if (booked !== closing) found.push(balanceMismatch(`statement-${id ?? number}-closing-balance`, closing, booked));
    }
    if (opening !== null && before !== undefined && before !== opening) {
      found.push(balanceMismatch(`statement-${id ?? number}-opening-balance`, opening, before));
    }
    return found;
  }
}

function balancesOf({ balances }: Pick<StatementHeader, 'balances'>, currency: string) {
  const own = balances.filter((balance) => balance.currency === currency);
  return { opening: firstOf(own, ['OPBD', 'PRCD']), closing: lastOf(own, 'CLBD') };
}

function noSums(): Readonly<Record<SumName, Sum>> {
  return { credits: EMPTY, debits: EMPTY, bookedCredits: EMPTY, bookedDebits: EMPTY };
}

function both(one: Sum, other: Sum): Sum {
  return { count: one.count + other.count, amountMinor: one.amountMinor + other.amountMinor };
}

function netOf(credits: Sum, debits: Sum, sign: bigint): Sum {
  return { count: 0, amountMinor: (credits.amountMinor - debits.amountMinor) * sign };
}

/** A net amount without an indicator may have either sign. */
function isNetEitherWay(name: string, direction: EntryDirection | null, statedMinor: bigint | null, sum: Sum): boolean {
  return name === 'net' && direction === null && statedMinor === -sum.amountMinor;
}

/** Null agrees with nothing. Decimals in XML may begin with a plus sign or zeros; those in JSON may not. */
function minorOf(text: string, currency: string): bigint | null {
  const digits = text.replace(/^\+/, '').replace(/^(-?)0+(?=\d)/, '$1');
  const minor = parseAmountMinor(digits, currency, { positive: false });
  return typeof minor === 'bigint' ? minor : null;
}

function signedMinor({ direction, amountMinor }: StatedBalance): bigint {
  return direction === 'credit' ? amountMinor : -amountMinor;
}

/** The earliest of several balances. */
function firstOf(balances: readonly StatedBalance[], codes: readonly string[]): bigint | null {
  for (const code of codes) {
    const [first] = balances.filter((one) => one.code === code).sort(byDate);
    if (first !== undefined) return signedMinor(first);
  }
  return null;
}

function lastOf(balances: readonly StatedBalance[], code: string): bigint | null {
  const last = balances
    .filter((one) => one.code === code)
    .sort(byDate)
    .at(-1);
  return last === undefined ? null : signedMinor(last);
}

function byDate({ date: one }: StatedBalance, { date: other }: StatedBalance): number {
  if (one === null || other === null || one === other) return 0;
  return one < other ? -1 : 1;
}

function balanceMismatch(reference: string, statedMinor: bigint, actualMinor: bigint): FigureMismatch {
  const figure = (amountMinor: bigint) => ({ amountMinor, count: null });
  return {
    kind: 'statement-balance-differs',
    reference,
    expected: figure(statedMinor),
    actual: figure(actualMinor),
    effect: NOTHING,
  };
}
