import { addDays, dateInUtc, type LocalDate } from '../common/time/dates.ts';
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
  /** Whether that is on the compared day. Other movements only explain apparent gaps at its ends. */
  readonly ofDay: boolean;
  /** Every identifier of the account, ours first; empty if that side does not say. */
  readonly accounts: readonly string[];
  /** Our transfer or account; null if none has this reference. */
  readonly resourceId: string | null;
}

/** Clock differences: a movement booked this close to midnight may have another date on the other side. */
export const BOUNDARY_MS = 5 * 60_000;

/** The compared day in UTC. `from` is inclusive, `to` exclusive. */
export function windowOf(day: LocalDate): { readonly from: Date; readonly to: Date } {
  return { from: startOf(day), to: startOf(addDays(day, 1)) };
}

function startOf(day: LocalDate): Date {
  return new Date(`${day}T00:00:00.000Z`);
}

/** The last day that can be compared: it has ended, and its last bookings have arrived. */
export function lastComparableDay(now: Date): LocalDate {
  return addDays(dateInUtc(new Date(now.getTime() - 2 * BOUNDARY_MS)), -1);
}

/** How far back the first comparison of a position goes, and the rechecks of days with open breaks. */
const DAYS_BACK = 7;

/** The days to compare, oldest first: each day after the last compared one; at first those of the last week. */
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

/** The first day to recheck: a day with open breaks is compared again once a day for a week, as a provider may correct its statement. */
export function oldestDayToRecheck(now: Date): LocalDate {
  return addDays(lastComparableDay(now), 1 - DAYS_BACK);
}

export function isRecheckDue(comparedAt: Date, now: Date): boolean {
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
