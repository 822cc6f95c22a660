import type { Reader } from '../../db/driver/client.ts';
import { findNamedPayments } from '../../db/reconciliation/references.ts';
import type { Position } from '../../db/reconciliation/statements.ts';
import { dateInUtc } from '../../domain/frame/time/dates.ts';
import type { StatementEntry, StatementItem } from '../../domain/reconciliation/bank-statements.ts';
import type { DailyBreak } from '../../domain/reconciliation/daily-reconciliation.ts';
import { NOTHING, totalsOf } from '../../domain/reconciliation/day-balance.ts';
import { type FigureMismatch, StatementFigures } from '../../domain/reconciliation/files/control-figures.ts';
import {
  amountWithoutCharges,
  movementOf,
  type NamedPayment,
  namesIn,
  recognise,
  unknownName,
} from '../../domain/reconciliation/files/named-payments.ts';
import {
  EntryInParts,
  entryName,
  movesMoney,
  type StatedPart,
} from '../../domain/reconciliation/files/statement-movements.ts';
import {
  aboutStatement,
  type StatedBreak,
  type StatedMovement,
  type StatedPage,
  type StatedTotals,
  type StatementSource,
} from './statement-sources.ts';

/** Parts whose references are looked for together. */
const BATCH = 200;

/** The entries of a bank's file that are of this position, as the statement of a day. */
export function statementOfFile(
  reader: Reader,
  position: Position,
  items: () => AsyncIterable<readonly StatementItem[]>,
): StatementSource {
  return {
    kind: 'camt.053',
    async *pages(range) {
      const pages = new FilePages(reader, position, range);
      for await (const page of items()) {
        for (const item of page) {
          pages.add(item);
          if (pages.isFull) yield await pages.take();
        }
      }
      yield await pages.take();
    },
  };
}

/** A movement, with the entry and its instant. */
interface PartOfEntry {
  readonly entry: StatementEntry;
  readonly bookedAt: Date;
  readonly part: StatedPart;
}

interface OpenEntry {
  readonly entry: StatementEntry;
  readonly bookedAt: Date;
  readonly inParts: EntryInParts;
}

class FilePages {
  readonly #reader: Reader;
  readonly #position: Position;
  readonly #range: { readonly from: Date; readonly to: Date };
  readonly #figures = new StatementFigures();
  #open: OpenEntry | null = null;
  #parts: PartOfEntry[] = [];
  #breaks: StatedBreak[] = [];
  #totals: StatedTotals[] = [];

  constructor(reader: Reader, position: Position, range: { readonly from: Date; readonly to: Date }) {
    this.#reader = reader;
    this.#position = position;
    this.#range = range;
  }

  get isFull(): boolean {
    return this.#parts.length >= BATCH || this.#breaks.length >= BATCH || this.#totals.length >= BATCH;
  }

  add(item: StatementItem): void {
    switch (item.item) {
      case 'statement':
        this.#figures.begin(item);
        return;
      case 'entry':
        this.#figures.add(item);
        this.#open = this.#opened(item);
        return;
      case 'transaction':
        this.#take(this.#open?.inParts.add(item) ?? []);
        return;
      case 'entry-end': {
        const open = this.#open;
        if (open === null) return;
        const { parts, mismatches, stated } = open.inParts.end(item);
        this.#take(parts);
        this.#mismatched(mismatches, open.bookedAt);
        this.#totals.push({ bookedAt: open.bookedAt, totals: stated });
        this.#open = null;
        return;
      }
      case 'statement-end': {
        const { currency, mismatches } = this.#figures.end();
        if (currency === this.#position.currency) this.#mismatched(mismatches, null);
        return;
      }
    }
  }

  async take(): Promise<StatedPage> {
    const [parts, breaks, totals] = [this.#parts, this.#breaks, this.#totals];
    [this.#parts, this.#breaks, this.#totals] = [[], [], []];
    const names = [...new Set(parts.flatMap(({ part }) => namesIn(part)))];
    const named = new Map<string, NamedPayment[]>();
    for (const payment of names.length === 0 ? [] : await findNamedPayments(this.#reader, this.#position, names)) {
      named.set(payment.name, [...(named.get(payment.name) ?? []), payment]);
    }
    const movements = parts.map((part) => statedMovement(part, named, breaks));
    return { movements, breaks, totals };
  }

  #opened(entry: StatementEntry): OpenEntry | null {
    const { currency, bookedAt } = entry;
    const { from, to } = this.#range;
    if (!movesMoney(entry) || currency !== this.#position.currency || bookedAt === null) return null;
    return bookedAt >= from && bookedAt < to ? { entry, bookedAt, inParts: new EntryInParts(entry) } : null;
  }

  #take(parts: readonly StatedPart[]): void {
    const open = this.#open;
    if (open === null) return;
    for (const part of parts) this.#parts.push({ entry: open.entry, bookedAt: open.bookedAt, part });
  }

  #mismatched(mismatches: readonly FigureMismatch[], bookedAt: Date | null): void {
    for (const mismatch of mismatches) this.#breaks.push({ bookedAt, found: breakOfFigure(mismatch, bookedAt) });
  }
}

function breakOfFigure(
  { kind, reference, expected, actual, effect }: FigureMismatch,
  bookedAt: Date | null,
): DailyBreak {
  const facts = ({ amountMinor, count }: FigureMismatch['expected']) => ({
    amountMinor,
    account: null,
    date: bookedAt && dateInUtc(bookedAt),
    count,
  });
  return aboutStatement({ kind, reference, expected: facts(expected), actual: facts(actual), effect });
}

/** Adds to `breaks` what is the file's own matter: a name of several payments, and charges. */
function statedMovement(
  { entry, bookedAt, part }: PartOfEntry,
  named: ReadonlyMap<string, readonly NamedPayment[]>,
  breaks: StatedBreak[],
): StatedMovement {
  const { payment, isAmbiguous } = recognise(part, named);
  const movement = movementOf(part, payment);
  const isIn = movement === 'payment-in' || movement === 'payment-in-sent-back';
  const partName = part.number > 1 ? `${entryName(entry)}-${part.number}` : entryName(entry);
  const name = isAmbiguous ? null : unknownName(part, isIn);
  const reference = payment?.reference ?? name ?? partName;
  const facts = (amountMinor: bigint) => ({ amountMinor, account: null, date: dateInUtc(bookedAt) });
  if (isAmbiguous) {
    const ambiguous = { reference: partName, expected: null, actual: facts(part.amountMinor), effect: NOTHING };
    breaks.push({ bookedAt, found: aboutStatement({ kind: 'statement-reference-ambiguous', ...ambiguous }) });
  }
  const amountMinor = amountWithoutCharges(part, payment) ?? part.amountMinor;
  if (amountMinor !== part.amountMinor) {
    const effect = totalsOf(part.direction === 'credit', 0n, part.chargesMinor);
    const charged = { reference, expected: facts(part.amountMinor), actual: facts(amountMinor), effect };
    breaks.push({ bookedAt, found: aboutStatement({ kind: 'statement-charges', ...charged }) });
  }
  return {
    entryId: `${entry.number}-${part.number}`,
    movement,
    direction: isIn ? 'in' : 'out',
    reference,
    amountMinor,
    bookedAt,
    accounts: [],
  };
}
