import { dateInUtc, type LocalDate } from '../frame/time/dates.ts';
import { classifyLedgerOnly, classifyProviderOnly, type DailyBreak } from './daily-reconciliation.ts';
import { counterMovement, isSameMovement, movementElsewhere, type OneSided } from './movement-matching.ts';
import type { Movement } from './movements.ts';
import type { Standing } from './reconciliation.ts';

/** A movement of our ledger, whenever that was. */
export interface Booking extends Movement {
  /** Its day has been compared, so the statement of that day had it, unless the day has it as one-sided. */
  readonly isCompared: boolean;
}

/** Movements that one side alone has on a day, beside what other days have of their payments. */
export class OneSidedMovements {
  readonly #carried: readonly Movement[];
  readonly #bookings: readonly Booking[];
  readonly #all: readonly Movement[];

  constructor(
    day: LocalDate,
    movements: readonly OneSided[],
    /** What compared days had on one side alone. */
    carried: readonly Movement[],
    /** All that our ledger has of the payments. */
    bookings: readonly Booking[],
  ) {
    this.#carried = carried;
    this.#bookings = bookings.filter(({ bookedAt }) => dateInUtc(bookedAt) !== day);
    const ofDay = movements.map(({ movement }) => movement);
    this.#all = [...carried, ...ofDay, ...this.#bookings.filter(({ isCompared }) => !isCompared)];
  }

  /** The provider's answer may name the break's kind. */
  needsAnswer({ movement, repeats }: OneSided, ourStanding: Standing | null): boolean {
    const isKnown = movement.side === 'ours' || ourStanding !== null;
    return isKnown && repeats === null && movementElsewhere(movement, this.#all) === null;
  }

  classify(oneSided: OneSided, ourStanding: Standing | null, answer: Standing | null | undefined): DailyBreak[] {
    const { movement, repeats } = oneSided;
    const elsewhere = movementElsewhere(movement, this.#all);
    const counter = counterMovement(movement, this.#all);
    if (movement.side === 'ours') {
      return classifyLedgerOnly(movement, { theirs: elsewhere, counter, ourStanding, answer });
    }
    const isBookedBefore = this.#isBookedBefore(movement);
    return classifyProviderOnly(movement, { ours: elsewhere, repeats, counter, ourStanding, answer, isBookedBefore });
  }

  /** Our books had this movement on a compared day that does not lack it: its statement had it already. */
  #isBookedBefore(their: Movement): boolean {
    const isOurs = (other: Movement) => other.side === 'ours' && isSameMovement(other, their);
    const booked = this.#bookings.filter((one) => one.isCompared && isOurs(one));
    return booked.length > this.#carried.filter(isOurs).length;
  }
}
