import { dateInUtc, type LocalDate } from '../../common/time/dates.ts';
import type { StatementEntry, StatementItem } from '../bank-statements.ts';
import { type DailyBreak, statementBreak } from '../daily-reconciliation.ts';
import { NOTHING, type Totals, totalsOf } from '../day-balance.ts';
import type { Movement } from '../movements.ts';
import { type FigureMismatch, StatementFigures } from './control-figures.ts';
import { amountWithoutCharges, identifyPayment, movementOf, type NamedPayment, unknownName } from './named-payments.ts';
import { EntrySplitter, entryName, movesMoney, type StatedPart } from './statement-movements.ts';

/** A break within the statement itself: about the day of an entry or, if `bookedAt` is null, about the whole statement. */
export interface StatedBreak {
  readonly bookedAt: Date | null;
  readonly found: DailyBreak;
}

/** The totals that a statement moved at an instant. */
export interface StatedTotals {
  readonly bookedAt: Date;
  readonly totals: Totals;
}

/** A movement of a file, before its payment is known. */
export interface PartOfEntry {
  readonly entry: StatementEntry;
  readonly bookedAt: Date;
  readonly part: StatedPart;
}

export interface FilePage {
  readonly parts: readonly PartOfEntry[];
  readonly breaks: readonly StatedBreak[];
  readonly totals: readonly StatedTotals[];
}

/** Turns the items of a file into the movements of one currency and period, with the contradictions in the file. */
export class FileMovements {
  readonly #currency: string;
  readonly #range: { readonly from: Date; readonly to: Date };
  readonly #figures = new StatementFigures();
  #open: { readonly entry: StatementEntry; readonly bookedAt: Date; readonly inParts: EntrySplitter } | null = null;
  #parts: PartOfEntry[] = [];
  #breaks: StatedBreak[] = [];
  #totals: StatedTotals[] = [];

  constructor(currency: string, range: { readonly from: Date; readonly to: Date }) {
    this.#currency = currency;
    this.#range = range;
  }

  /** The size of the next page. */
  get size(): number {
    return Math.max(this.#parts.length, this.#breaks.length, this.#totals.length);
  }

  take(): FilePage {
    const page = { parts: this.#parts, breaks: this.#breaks, totals: this.#totals };
    [this.#parts, this.#breaks, this.#totals] = [[], [], []];
    return page;
  }

  add(item: StatementItem): void {
    switch (item.item) {
      case 'statement':
        this.#figures.begin(item);
        break;
      case 'entry':
        this.#figures.add(item);
        this.#begin(item);
        break;
      case 'transaction':
        this.#add(this.#open?.inParts.add(item) ?? []);
        break;
      case 'entry-end': {
        if (this.#open === null) break;
        const { bookedAt, inParts } = this.#open;
        const { parts, mismatches, stated } = inParts.end(item);
        this.#add(parts);
        this.#mismatched(mismatches, bookedAt, dateInUtc(bookedAt));
        this.#totals.push({ bookedAt, totals: stated });
        this.#open = null;
        break;
      }
      case 'statement-end': {
        const { currency, date, mismatches } = this.#figures.end();
        if (currency === this.#currency) this.#mismatched(mismatches, null, date);
      }
    }
  }

  #begin(entry: StatementEntry): void {
    const { currency, bookedAt } = entry;
    const { from, to } = this.#range;
    const isWanted = movesMoney(entry) && currency === this.#currency && bookedAt !== null;
    this.#open =
      isWanted && bookedAt >= from && bookedAt < to ? { entry, bookedAt, inParts: new EntrySplitter(entry) } : null;
  }

  #add(parts: readonly StatedPart[]): void {
    if (this.#open === null) return;
    const { entry, bookedAt } = this.#open;
    for (const part of parts) this.#parts.push({ entry, bookedAt, part });
  }

  #mismatched(mismatches: readonly FigureMismatch[], bookedAt: Date | null, date: LocalDate | null): void {
    for (const mismatch of mismatches) this.#breaks.push({ bookedAt, found: breakOfFigure(mismatch, date) });
  }
}

function breakOfFigure(mismatch: FigureMismatch, date: LocalDate | null): DailyBreak {
  const { kind, reference, expected, actual, effect } = mismatch;
  const facts = ({ amountMinor, count }: FigureMismatch['expected']) => ({ amountMinor, account: null, date, count });
  return statementBreak({ kind, reference, expected: facts(expected), actual: facts(actual), effect });
}

/** A movement of a statement; the comparison determines whether it is on the compared day. */
export type StatedMovement = Omit<Movement, 'ofDay' | 'side' | 'resourceId'> & { readonly entryId: string };

/** The movement, with the breaks within the file: an ambiguous reference, and charges. */
export function statedMovement(
  { entry, bookedAt, part }: PartOfEntry,
  named: ReadonlyMap<string, readonly NamedPayment[]>,
): { readonly movement: StatedMovement; readonly breaks: readonly StatedBreak[] } {
  const { payment, isAmbiguous } = identifyPayment(part, named);
  const movement = movementOf(part, payment);
  const isIn = movement === 'payment-in' || movement === 'payment-in-sent-back';
  const partName = part.number > 1 ? `${entryName(entry)}-${part.number}` : entryName(entry);
  const reference = payment?.reference ?? (isAmbiguous ? null : unknownName(part, isIn)) ?? partName;
  const facts = (amountMinor: bigint) => ({ amountMinor, account: null, date: dateInUtc(bookedAt) });
  const breaks: DailyBreak[] = [];
  if (isAmbiguous) {
    const ambiguous = { reference: partName, expected: null, actual: facts(part.amountMinor), effect: NOTHING };
    breaks.push(statementBreak({ kind: 'statement-reference-ambiguous', ...ambiguous }));
  }
  const withoutCharges = amountWithoutCharges(part, payment);
  if (withoutCharges !== null) {
    const effect = totalsOf(part.direction === 'credit', 0n, part.chargesMinor);
    const charged = { reference, expected: facts(part.amountMinor), actual: facts(withoutCharges), effect };
    breaks.push(statementBreak({ kind: 'statement-charges', ...charged }));
  }
  return {
    movement: {
      entryId: `${entry.number}-${part.number}`,
      movement,
      direction: isIn ? 'in' : 'out',
      reference,
      amountMinor: withoutCharges ?? part.amountMinor,
      bookedAt,
      accounts: [],
    },
    breaks: breaks.map((found) => ({ bookedAt, found })),
  };
}
