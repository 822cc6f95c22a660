import { parseAmountMinor } from '../../frame/money.ts';
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

/** A figure of a bank's file that is not what its parts come to. */
export interface FigureMismatch {
  readonly kind: FigureDifference;
  /** Of the file: which figure of which entry or statement. */
  readonly reference: string;
  /** The file's figure. */
  readonly expected: Figure;
  /** What its parts come to. */
  readonly actual: Figure;
  /** What the mismatch does to the day's sums. */
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
 * opening balance against the closing balance of the one before. Holds sums alone.
 */
export class StatementFigures {
  readonly #closings = new Map<string, bigint>();
  #header: StatementHeader | null = null;
  #currency: string | null = null;
  #sums: Readonly<Record<SumName, Sum>> = noSums();

  begin(header: StatementHeader): void {
    this.#header = header;
    this.#currency = header.currency ?? header.balances[0]?.currency ?? null;
    this.#sums = noSums();
  }

  add(entry: StatementEntry): void {
    this.#currency ??= entry.currency;
    // A statement is of one currency: what it has of another is not in its figures.
    if (entry.currency !== this.#currency) return;
    const isCredit = entry.direction === 'credit';
    this.#add(isCredit ? 'credits' : 'debits', entry.amountMinor);
    if (entry.status === 'BOOK') this.#add(isCredit ? 'bookedCredits' : 'bookedDebits', entry.amountMinor);
  }

  /** The currency and what does not agree of the statement that ends. */
  end(): { readonly currency: string | null; readonly mismatches: readonly FigureMismatch[] } {
    const header = this.#header;
    const currency = this.#currency;
    if (header === null || currency === null) return { currency, mismatches: [] };
    const mismatches = [...this.#ofSummary(header, currency), ...this.#ofBalances(header, currency)];
    return { currency, mismatches };
  }

  #add(name: SumName, amountMinor: bigint): void {
    const { count, amountMinor: sum } = this.#sums[name];
    this.#sums = { ...this.#sums, [name]: { count: count + 1, amountMinor: sum + amountMinor } };
  }

  /** Some banks count pending entries and some do not: a figure agrees if either does. */
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
    const own = balances.filter((balance) => balance.currency === currency);
    const opening = firstOf(own, ['OPBD', 'PRCD']);
    const closing = lastOf(own, 'CLBD');
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

function noSums(): Readonly<Record<SumName, Sum>> {
  return { credits: EMPTY, debits: EMPTY, bookedCredits: EMPTY, bookedDebits: EMPTY };
}

function both(one: Sum, other: Sum): Sum {
  return { count: one.count + other.count, amountMinor: one.amountMinor + other.amountMinor };
}

function netOf(credits: Sum, debits: Sum, sign: bigint): Sum {
  return { count: 0, amountMinor: (credits.amountMinor - debits.amountMinor) * sign };
}

/** A net amount without an indicator may be either way. */
function isNetEitherWay(name: string, direction: EntryDirection | null, statedMinor: bigint | null, sum: Sum): boolean {
  return name === 'net' && direction === null && statedMinor === -sum.amountMinor;
}

/** Null agrees with nothing. XML's decimals may begin with a plus or zeros, which JSON's may not. */
function minorOf(text: string, currency: string): bigint | null {
  const digits = text.replace(/^\+/, '').replace(/^(-?)0+(?=\d)/, '$1');
  const minor = parseAmountMinor(digits, currency, { positive: false });
  return typeof minor === 'bigint' ? minor : null;
}

function signedMinor({ direction, amountMinor }: StatedBalance): bigint {
  return direction === 'credit' ? amountMinor : -amountMinor;
}

/** Of several days, the earliest. */
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
