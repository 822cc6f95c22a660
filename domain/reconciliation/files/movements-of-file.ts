import { dateInUtc } from '../../frame/time/dates.ts';
import type { StatementEntry, StatementItem } from '../bank-statements.ts';
import { aboutStatement, type DailyBreak } from '../daily-reconciliation.ts';
import { NOTHING, type Totals, totalsOf } from '../day-balance.ts';
import type { Movement } from '../movements.ts';
import { type FigureMismatch, StatementFigures } from './control-figures.ts';
import { amountWithoutCharges, movementOf, type NamedPayment, recognise, unknownName } from './named-payments.ts';
import { EntryInParts, entryName, movesMoney, type StatedPart } from './statement-movements.ts';

/** Something of the statement itself: null `bookedAt` is about all of it, otherwise about the day of an entry. */
export interface StatedBreak {
  readonly bookedAt: Date | null;
  readonly found: DailyBreak;
}

/** What a statement says that it moved at an instant. */
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

/** Takes the items of a file, and gives the movements of one currency and period, with what in the file does not agree. */
export class MovementsOfFile {
  readonly #currency: string;
  readonly #range: { readonly from: Date; readonly to: Date };
  readonly #figures = new StatementFigures();
  #open: { readonly entry: StatementEntry; readonly bookedAt: Date; readonly inParts: EntryInParts } | null = null;
  #parts: PartOfEntry[] = [];
  #breaks: StatedBreak[] = [];
  #totals: StatedTotals[] = [];

  constructor(currency: string, range: { readonly from: Date; readonly to: Date }) {
    this.#currency = currency;
    this.#range = range;
  }

  /** How much there is to take. */
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
        this.#mismatched(mismatches, bookedAt);
        this.#totals.push({ bookedAt, totals: stated });
        this.#open = null;
        break;
      }
      case 'statement-end': {
        const { currency, mismatches } = this.#figures.end();
        if (currency === this.#currency) this.#mismatched(mismatches, null);
      }
    }
  }

  #begin(entry: StatementEntry): void {
    const { currency, bookedAt } = entry;
    const { from, to } = this.#range;
    const isWanted = movesMoney(entry) && currency === this.#currency && bookedAt !== null;
    this.#open =
      isWanted && bookedAt >= from && bookedAt < to ? { entry, bookedAt, inParts: new EntryInParts(entry) } : null;
  }

  #add(parts: readonly StatedPart[]): void {
    if (this.#open === null) return;
    const { entry, bookedAt } = this.#open;
    for (const part of parts) this.#parts.push({ entry, bookedAt, part });
  }

  #mismatched(mismatches: readonly FigureMismatch[], bookedAt: Date | null): void {
    for (const mismatch of mismatches) this.#breaks.push({ bookedAt, found: breakOfFigure(mismatch, bookedAt) });
  }
}

function breakOfFigure(mismatch: FigureMismatch, bookedAt: Date | null): DailyBreak {
  const { kind, reference, expected, actual, effect } = mismatch;
  const date = bookedAt && dateInUtc(bookedAt);
  const facts = ({ amountMinor, count }: FigureMismatch['expected']) => ({ amountMinor, account: null, date, count });
  return aboutStatement({ kind, reference, expected: facts(expected), actual: facts(actual), effect });
}

/** An entry of a statement; whether it is of the compared day is for the comparison to say. */
export type StatedMovement = Omit<Movement, 'ofDay' | 'side' | 'resourceId'> & { readonly entryId: string };

/** The movement, with what is the file's own matter: a name of several payments, and charges. */
export function statedMovement(
  { entry, bookedAt, part }: PartOfEntry,
  named: ReadonlyMap<string, readonly NamedPayment[]>,
): { readonly movement: StatedMovement; readonly breaks: readonly StatedBreak[] } {
  const { payment, isAmbiguous } = recognise(part, named);
  const movement = movementOf(part, payment);
  const isIn = movement === 'payment-in' || movement === 'payment-in-sent-back';
  const partName = part.number > 1 ? `${entryName(entry)}-${part.number}` : entryName(entry);
  const reference = payment?.reference ?? (isAmbiguous ? null : unknownName(part, isIn)) ?? partName;
  const facts = (amountMinor: bigint) => ({ amountMinor, account: null, date: dateInUtc(bookedAt) });
  const breaks: DailyBreak[] = [];
  if (isAmbiguous) {
    const ambiguous = { reference: partName, expected: null, actual: facts(part.amountMinor), effect: NOTHING };
    breaks.push(aboutStatement({ kind: 'statement-reference-ambiguous', ...ambiguous }));
  }
  const withoutCharges = amountWithoutCharges(part, payment);
  if (withoutCharges !== null) {
    const effect = totalsOf(part.direction === 'credit', 0n, part.chargesMinor);
    const charged = { reference, expected: facts(part.amountMinor), actual: facts(withoutCharges), effect };
    breaks.push(aboutStatement({ kind: 'statement-charges', ...charged }));
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
