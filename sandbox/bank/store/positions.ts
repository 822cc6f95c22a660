import { randomUUID } from 'node:crypto';
import { type Entry, type EntryKind, isCredit } from '../books.ts';

/** The payment's part of an entry; the bank adds the rest. */
export type NewEntry = Omit<Entry, 'entryId' | 'sequence' | 'bookedAt' | 'positionMinor'>;

export interface Position {
  positionMinor: bigint;
  readonly totals: Map<EntryKind, { count: number; totalMinor: bigint }>;
}

/** The single pooled position per currency. It may go negative: the bank never rejects for lack of funds. */
export class Positions {
  readonly #byCurrency = new Map<string, Position>();
  #sequence = 0;

  get all(): ReadonlyMap<string, Position> {
    return this.#byCurrency;
  }

  get lastSequence(): number {
    return this.#sequence;
  }

  /** The entry to be booked; it counts only once it is passed to `add`. */
  entry(entry: NewEntry, now: Date): Entry {
    const before = this.#byCurrency.get(entry.currency)?.positionMinor ?? 0n;
    return {
      ...entry,
      entryId: randomUUID(),
      sequence: this.#sequence + 1,
      bookedAt: now.toISOString(),
      positionMinor: isCredit(entry.kind) ? before + entry.amountMinor : before - entry.amountMinor,
    };
  }

  add(entry: Entry): void {
    const position = this.#byCurrency.get(entry.currency) ?? { positionMinor: 0n, totals: new Map() };
    this.#byCurrency.set(entry.currency, position);
    this.#sequence = entry.sequence;
    position.positionMinor = entry.positionMinor;
    const total = position.totals.get(entry.kind) ?? { count: 0, totalMinor: 0n };
    position.totals.set(entry.kind, { count: total.count + 1, totalMinor: total.totalMinor + entry.amountMinor });
  }
}
