import { dateInUtc, type LocalDate } from '../frame/time/dates.ts';
import { classifyLedgerOnly, classifyProviderOnly, compare, type DailyBreak } from './daily-reconciliation.ts';
import {
  byTime,
  counterMovement,
  isSameMovement,
  movementElsewhere,
  type OneSided,
  type Pair,
  pairDiffering,
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
  readonly #carried: readonly Movement[];
  readonly #bookings: readonly Booking[];
  readonly #all: readonly Movement[];
  readonly #differing: readonly Pair[];

  constructor(
    day: LocalDate,
    movements: readonly OneSided[],
    carried: readonly CarriedOver[],
    /** All that our ledger has of the payments. */
    bookings: readonly Booking[],
  ) {
    this.#carried = carried.filter(({ isPaired }) => !isPaired);
    this.#bookings = bookings.filter(({ bookedAt }) => dateInUtc(bookedAt) !== day);
    this.#ofDay = movements.map(({ movement }) => movement);
    const notCompared = this.#bookings.filter(({ isCompared }) => !isCompared);
    // Those that have each other come first: they are for no third one.
    const paired = carried.filter(({ isPaired }) => isPaired).sort(byTime);
    this.#all = [...paired, ...[...this.#carried, ...this.#ofDay, ...notCompared].sort(byTime)];
    const isUnexplained = ({ movement, repeats }: OneSided) =>
      repeats === null && movementElsewhere(movement, this.#all) === null;
    this.#differing = pairDiffering(movements.filter(isUnexplained).map(({ movement }) => movement));
  }

  /** For the days whose other side has them. */
  get toCarryOver(): readonly Movement[] {
    return this.#ofDay.filter((movement) => !this.#isDiffering(movement));
  }

  /** The provider's answer may name the break's kind. */
  needsAnswer({ movement, repeats }: OneSided, ourStanding: Standing | null): boolean {
    const isKnown = movement.side === 'ours' || ourStanding !== null;
    return (
      isKnown && repeats === null && !this.#isDiffering(movement) && movementElsewhere(movement, this.#all) === null
    );
  }

  classify(oneSided: OneSided, ourStanding: Standing | null, answer: Standing | null | undefined): DailyBreak[] {
    const { movement, repeats } = oneSided;
    // Named once, with the statement's.
    const differing = this.#differing.find((pair) => pair.includes(movement));
    if (differing !== undefined) return movement.side === 'ours' ? [] : compare(...differing);
    const elsewhere = movementElsewhere(movement, this.#all);
    const counter = counterMovement(movement, this.#all);
    if (movement.side === 'ours') {
      return classifyLedgerOnly(movement, { theirs: elsewhere, counter, ourStanding, answer });
    }
    const isBookedBefore = this.#isBookedBefore(movement);
    return classifyProviderOnly(movement, { ours: elsewhere, repeats, counter, ourStanding, answer, isBookedBefore });
  }

  #isDiffering(movement: Movement): boolean {
    return this.#differing.some((pair) => pair.includes(movement));
  }

  /** Our books had this movement on a compared day that does not lack it: its statement had it already. */
  #isBookedBefore(their: Movement): boolean {
    const isOurs = (other: Movement) => other.side === 'ours' && isSameMovement(other, their);
    const booked = this.#bookings.filter((one) => one.isCompared && isOurs(one));
    return booked.length > this.#carried.filter(isOurs).length;
  }
}
