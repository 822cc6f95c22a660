import { dateInUtc, type LocalDate } from '../common/time/dates.ts';
import { classifyLedgerOnly, classifyProviderOnly, compare, type DailyBreak } from './daily-reconciliation.ts';
import {
  byTime,
  counterMovements,
  matchAcrossDays,
  type OneSided,
  type Pair,
  pairDiffering,
  sameMovementKey,
} from './movement-matching.ts';
import type { Movement } from './movements.ts';
import type { Standing } from './reconciliation.ts';

/** A movement of our ledger on any day. */
export interface Booking extends Movement {
  /** Its day was compared, so the statement of that day had it, unless it is recorded as one-sided. */
  readonly isCompared: boolean;
}

/** A one-sided movement of a compared day. */
export interface CarriedOver extends Movement {
  /** The other side had it just beyond midnight. */
  readonly isPaired: boolean;
}

/** Movements that only one side has on a day, with the movements of their payments on other days. */
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
    /** Every movement of the payments in our ledger. */
    bookings: readonly Booking[],
  ) {
    const unpaired = carried.filter(({ isPaired }) => !isPaired);
    const elsewhere = bookings.filter(({ bookedAt }) => dateInUtc(bookedAt) !== day);
    this.#ofDay = movements.map(({ movement }) => movement);
    const notCompared = elsewhere.filter(({ isCompared }) => !isCompared);
    // Paired movements come first: they match no third one.
    const paired = carried.filter(({ isPaired }) => isPaired).sort(byTime);
    const all = [...paired, ...[...unpaired, ...this.#ofDay, ...notCompared].sort(byTime)];
    this.#elsewhere = matchAcrossDays(all);
    this.#counters = counterMovements(all);
    const unexplained = movements.filter(({ movement, repeats }) => repeats === null && !this.#elsewhere.has(movement));
    for (const pair of pairDiffering(unexplained.map(({ movement }) => movement))) {
      for (const movement of pair) this.#differing.set(movement, pair);
    }
    for (const one of elsewhere) if (one.isCompared) this.#count(one, 1);
    for (const one of unpaired) if (one.side === 'ours') this.#count(one, -1);
  }

  /** Movements to compare with the other side of other days. */
  get toCarryOver(): readonly Movement[] {
    return this.#ofDay.filter((movement) => !this.#differing.has(movement));
  }

  /** Whether the provider's answer may determine the break's kind. */
  needsAnswer({ movement, repeats }: OneSided, ourStanding: Standing | null): boolean {
    const isKnown = movement.side === 'ours' || ourStanding !== null;
    return isKnown && repeats === null && !this.#differing.has(movement) && !this.#elsewhere.has(movement);
  }

  classify(oneSided: OneSided, ourStanding: Standing | null, answer: Standing | null | undefined): DailyBreak[] {
    const { movement, repeats } = oneSided;
    // Reported once, with the statement's movement.
    const differing = this.#differing.get(movement);
    if (differing !== undefined) return movement.side === 'ours' ? [] : compare(...differing);
    const elsewhere = this.#elsewhere.get(movement) ?? null;
    const counter = this.#counters.get(movement) ?? null;
    if (movement.side === 'ours') {
      return classifyLedgerOnly(movement, { theirs: elsewhere, counter, ourStanding, answer });
    }
    // Our ledger had this movement on a compared day without a break: the statement of that day already had it.
    const isBookedBefore = (this.#bookedBefore.get(sameMovementKey(movement)) ?? 0) > 0;
    return classifyProviderOnly(movement, { ours: elsewhere, repeats, counter, ourStanding, answer, isBookedBefore });
  }

  #count(one: Movement, difference: number): void {
    const key = sameMovementKey(one);
    this.#bookedBefore.set(key, (this.#bookedBefore.get(key) ?? 0) + difference);
  }
}
