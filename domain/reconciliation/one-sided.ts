import { dateInUtc, type LocalDate } from '../frame/time/dates.ts';
import { classifyLedgerOnly, classifyProviderOnly, compare, type DailyBreak } from './daily-reconciliation.ts';
import {
  byTime,
  counterMovements,
  movementsElsewhere,
  type OneSided,
  type Pair,
  pairDiffering,
  sameMovementKey,
} from './movement-matching.ts';
import type { Movement } from './movements.ts';
import type { Standing } from './reconciliation.ts';

/** A movement of our ledger, whenever that was. */
export interface Booking extends Movement {
  /** Its day has been compared, so the statement of that day had it, unless the day has it as one-sided. */
  readonly isCompared: boolean;
}

/** What a compared day had on one side alone. */
export interface CarriedOver extends Movement {
  /** The other side had it just beyond midnight. */
  readonly isPaired: boolean;
}

/** Movements that one side alone has on a day, beside what other days have of their payments. */
export class OneSidedMovements {
  readonly #ofDay: readonly Movement[];
  readonly #elsewhere: ReadonlyMap<Movement, Movement>;
  readonly #counters: ReadonlyMap<Movement, Movement>;
  readonly #differing = new Map<Movement, Pair>();
  /** How many of our bookings of a movement the statements of other days had. */
  readonly #bookedBefore = new Map<string, number>();

  constructor(
    day: LocalDate,
    movements: readonly OneSided[],
    carried: readonly CarriedOver[],
    /** All that our ledger has of the payments. */
    bookings: readonly Booking[],
  ) {
    const alone = carried.filter(({ isPaired }) => !isPaired);
    const elsewhere = bookings.filter(({ bookedAt }) => dateInUtc(bookedAt) !== day);
    this.#ofDay = movements.map(({ movement }) => movement);
    const notCompared = elsewhere.filter(({ isCompared }) => !isCompared);
    // Those that have each other come first: they are for no third one.
    const paired = carried.filter(({ isPaired }) => isPaired).sort(byTime);
    const all = [...paired, ...[...alone, ...this.#ofDay, ...notCompared].sort(byTime)];
    this.#elsewhere = movementsElsewhere(all);
    this.#counters = counterMovements(all);
    const unexplained = movements.filter(({ movement, repeats }) => repeats === null && !this.#elsewhere.has(movement));
    for (const pair of pairDiffering(unexplained.map(({ movement }) => movement))) {
      for (const movement of pair) this.#differing.set(movement, pair);
    }
    for (const one of elsewhere) if (one.isCompared) this.#count(one, 1);
    for (const one of alone) if (one.side === 'ours') this.#count(one, -1);
  }

  /** For the days whose other side has them. */
  get toCarryOver(): readonly Movement[] {
    return this.#ofDay.filter((movement) => !this.#differing.has(movement));
  }

  /** The provider's answer may name the break's kind. */
  needsAnswer({ movement, repeats }: OneSided, ourStanding: Standing | null): boolean {
    const isKnown = movement.side === 'ours' || ourStanding !== null;
    return isKnown && repeats === null && !this.#differing.has(movement) && !this.#elsewhere.has(movement);
  }

  classify(oneSided: OneSided, ourStanding: Standing | null, answer: Standing | null | undefined): DailyBreak[] {
    const { movement, repeats } = oneSided;
    // Named once, with the statement's.
    const differing = this.#differing.get(movement);
    if (differing !== undefined) return movement.side === 'ours' ? [] : compare(...differing);
    const elsewhere = this.#elsewhere.get(movement) ?? null;
    const counter = this.#counters.get(movement) ?? null;
    if (movement.side === 'ours') {
      return classifyLedgerOnly(movement, { theirs: elsewhere, counter, ourStanding, answer });
    }
    // Our books had this movement on a compared day that does not lack it: its statement had it already.
    const isBookedBefore = (this.#bookedBefore.get(sameMovementKey(movement)) ?? 0) > 0;
    return classifyProviderOnly(movement, { ours: elsewhere, repeats, counter, ourStanding, answer, isBookedBefore });
  }

  #count(one: Movement, difference: number): void {
    const key = sameMovementKey(one);
    this.#bookedBefore.set(key, (this.#bookedBefore.get(key) ?? 0) + difference);
  }
}
