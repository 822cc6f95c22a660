import { addDays, dateInUtc, type LocalDate } from '../frame/time/dates.ts';
import type { PaymentKey } from './reconciliation.ts';

/**
 * How money moves on a provider's pooled position. `payment-out-undone` is a payment that failed after its release, or the
 * part of it that was returned.
 */
export const MOVEMENT_KINDS = [
  'payment-out',
  'payment-out-undone',
  'payment-in',
  'payment-in-sent-back',
  'opening-balance',
] as const;
export type MovementKind = (typeof MOVEMENT_KINDS)[number];

export function isCredit(movement: MovementKind): boolean {
  return movement !== 'payment-out' && movement !== 'payment-in-sent-back';
}

export type Side = 'provider' | 'ours';

/** One movement as one side has booked it. */
export interface Movement extends PaymentKey {
  readonly side: Side;
  readonly movement: MovementKind;
  readonly amountMinor: bigint;
  readonly bookedAt: Date;
  /** Whether that is on the compared day. The others only explain what seems to be missing at its ends. */
  readonly ofDay: boolean;
  /** Every name of the account, ours first; empty if that side does not say. */
  readonly accounts: readonly string[];
  /** Our transfer or account; null if none of ours has this reference. */
  readonly resourceId: string | null;
}

/** Two clocks: what is booked this close to midnight may have another date on the other side. */
export const BOUNDARY_MS = 5 * 60_000;

/** The compared day with what its ends need, in UTC. `from` is inclusive, `to` exclusive. */
export function windowOf(day: LocalDate): { readonly from: Date; readonly to: Date } {
  return { from: startOf(day), to: startOf(addDays(day, 1)) };
}

function startOf(day: LocalDate): Date {
  return new Date(`${day}T00:00:00.000Z`);
}

/** The last day that can be compared: it has ended, and what is booked in its last moments has arrived. */
export function lastComparableDay(now: Date): LocalDate {
  return addDays(dateInUtc(new Date(now.getTime() - 2 * BOUNDARY_MS)), -1);
}

/** How far back the first comparison of a position goes, and those that look again at days with open breaks. */
const DAYS_BACK = 7;

/** The days to compare, oldest first: those after the last compared one, each once; at first the last week's. */
export function daysToCompare(
  last: LocalDate | null,
  firstBooked: LocalDate | null,
  now: Date,
  limit: number,
): LocalDate[] {
  const until = lastComparableDay(now);
  const weekAgo = addDays(until, 1 - DAYS_BACK);
  const first = firstBooked === null || firstBooked < weekAgo ? weekAgo : firstBooked;
  const days: LocalDate[] = [];
  for (let day = last === null ? first : addDays(last, 1); day <= until && days.length < limit; day = addDays(day, 1)) {
    days.push(day);
  }
  return days;
}

/** A day with open breaks is compared again, once a day for a week, as a provider may correct its statement: the first such day. */
export function firstDayLookedAtAgain(now: Date): LocalDate {
  return addDays(lastComparableDay(now), 1 - DAYS_BACK);
}

export function isLookedAtAgain(comparedAt: Date, now: Date): boolean {
  return dateInUtc(comparedAt) < dateInUtc(now);
}

/** Movements in the order of their payments, as groups of one payment each. */
export async function* byPayment(pages: AsyncIterable<readonly Movement[]>): AsyncGenerator<readonly Movement[]> {
  let group: Movement[] = [];
  for await (const page of pages) {
    for (const movement of page) {
      const [first] = group;
      if (first !== undefined && (first.direction !== movement.direction || first.reference !== movement.reference)) {
        yield group;
        group = [];
      }
      group.push(movement);
    }
  }
  if (group.length > 0) yield group;
}
