import { addDays, dateInUtc, type LocalDate } from '../frame/time/dates.ts';
import { byTime, isOfDay, matchParts, matchWhole } from './payment-parts.ts';
import { type DailyDifference, differenceOf, type PaymentKey, type Standing } from './reconciliation.ts';

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

/** What one side says of a payment. */
export interface Facts {
  readonly amountMinor: bigint;
  readonly account: string | null;
  /** Null if that side does not say. */
  readonly date: LocalDate | null;
}

export interface DailyBreak extends PaymentKey {
  readonly kind: DailyDifference;
  readonly movement: MovementKind;
  readonly expected: Facts | null;
  readonly actual: Facts | null;
  readonly resourceId: string | null;
}

/** What a comparison of one day finds of a payment. `oneSided`: the day's movements that only one side has. */
export interface Judged {
  readonly breaks: readonly DailyBreak[];
  readonly oneSided: readonly Movement[];
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

/** Both sides' movements of one payment. Which of them moved nothing on the other side is looked into by `judgeOneSided…`. */
export function judgePayment(movements: readonly Movement[]): Judged {
  const breaks: DailyBreak[] = [];
  const oneSided: Movement[] = [];
  for (const kind of MOVEMENT_KINDS) {
    const of = (side: Side) => movements.filter((one) => one.movement === kind && one.side === side).sort(byTime);
    const theirs = of('provider');
    const ours = of('ours').filter((our) => our.ofDay || isNearOne(our, theirs));
    const match = kind === 'payment-out-undone' ? matchParts : matchWhole;
    const { pairs, repeated, alone } = match(theirs, ours);
    for (const [their, our] of pairs) if (their.ofDay || our.ofDay) breaks.push(...compare(their, our));
    for (const again of repeated) if (again.theirs.some(isOfDay)) breaks.push(doubled(again.theirs, again.our));
    oneSided.push(...alone);
  }
  return { breaks, oneSided };
}

/** Ours of a neighbouring day stand for a movement of this one only if two clocks explain the date; else it was booked late. */
function isNearOne(our: Movement, theirs: readonly Movement[]): boolean {
  return theirs.some((their) => Math.abs(their.bookedAt.getTime() - our.bookedAt.getTime()) <= BOUNDARY_MS);
}

function compare(their: Movement, our: Movement): DailyBreak[] {
  const found: DailyBreak[] = [];
  if (their.amountMinor !== our.amountMinor) found.push(breakOf('statement-amount-differs', their, our));
  const [account] = their.accounts;
  const known = account !== undefined && our.accounts.length > 0;
  if (known && !their.accounts.some((name) => our.accounts.includes(name))) {
    found.push(breakOf('statement-account-differs', their, our));
  }
  return found;
}

function doubled(theirs: readonly Movement[], our: Movement | undefined): DailyBreak {
  const [their] = theirs;
  if (their === undefined) throw new RangeError('nothing is doubled');
  const amountMinor = theirs.reduce((sum, one) => sum + one.amountMinor, 0n);
  const expected = factsOf(our ?? their);
  return { ...breakOf('statement-payment-doubled', { ...their, amountMinor }, our ?? their), expected };
}

function breakOf(kind: DailyDifference, their: Movement | null, our: Movement | null): DailyBreak {
  const one = our ?? their;
  if (one === null) throw new RangeError('a break is about a movement');
  return {
    kind,
    movement: one.movement,
    direction: one.direction,
    reference: one.reference,
    expected: our && factsOf(our),
    actual: their && factsOf(their),
    resourceId: our?.resourceId ?? their?.resourceId ?? null,
  };
}

function factsOf({ amountMinor, accounts, bookedAt }: Movement): Facts {
  return { amountMinor, account: accounts[0] ?? null, date: dateInUtc(bookedAt) };
}

/** What is known of a movement that only the provider's statement has on the day. */
export interface TheirCircumstances {
  /** Our movement of another day, which that day's statement lacked. */
  readonly ours: Movement | null;
  /** The payment according to our ledger as it is now. */
  readonly ourStanding: Standing | null;
  /** Our ledger had booked this movement before the day. */
  readonly bookedBefore: boolean;
  /** The provider's answer now: null if it does not know the payment, undefined if it was not asked or does not answer. */
  readonly answer: Standing | null | undefined;
}

/** A movement that the statement has on the day, and our books have not. */
export function judgeOnlyTheirs(their: Movement, circumstances: TheirCircumstances): DailyBreak[] {
  const { ours, ourStanding, bookedBefore, answer } = circumstances;
  if (ours !== null) {
    const lateMs = their.bookedAt.getTime() - ours.bookedAt.getTime();
    const late = lateMs > BOUNDARY_MS && dateInUtc(their.bookedAt) > dateInUtc(ours.bookedAt);
    return [...(late ? [breakOf('statement-booked-late', their, ours)] : []), ...compare(their, ours)];
  }
  if (ourStanding === null) {
    const undoneThere = isUndoing(their) && answer?.moved === false;
    return undoneThere ? [] : [breakOf('statement-unknown-payment', their, null)];
  }
  if (bookedBefore && ourStanding.moved !== isUndoing(their)) return [bookedTwice(their, ourStanding)];
  const kind = differenceOf(answer ?? standingOf(their), ourStanding);
  // Both sides agree on what has become of the payment since; the statement still has it once too often.
  if (kind === null) return bookedBefore && !isUndoing(their) ? [bookedTwice(their, ourStanding)] : [];
  const { amountMinor } = ourStanding;
  const booked =
    kind === 'statement-not-booked' || amountMinor === null ? null : { amountMinor, account: null, date: null };
  return [{ ...breakOf(kind, their, null), expected: booked }];
}

/** A movement that an earlier statement had already. */
function bookedTwice(their: Movement, { amountMinor }: Standing): DailyBreak {
  return doubled([their, their], { ...their, amountMinor: amountMinor ?? their.amountMinor });
}

/** What is known of a movement that only our books have on the day. */
export interface OurCircumstances {
  /** The statement of another day has it. */
  readonly isOnOtherStatement: boolean;
  readonly ourStanding: Standing | null;
  readonly answer: Standing | null | undefined;
}

/** A movement that our books have on the day, and the statement has not. */
export function judgeOnlyOurs(our: Movement, circumstances: OurCircumstances): DailyBreak[] {
  const { isOnOtherStatement, ourStanding, answer } = circumstances;
  if (isOnOtherStatement) return [];
  // Without an answer the statement counts, which only says that the movement is not on it.
  const kind = answer === undefined ? null : differenceOf(answer, ourStanding);
  // The provider does not know the payment, and we have undone it: nothing moved on either side.
  if (kind === null && answer === null) return [];
  return [breakOf(kind ?? 'statement-payment-missing', null, our)];
}

export function isUndoing({ movement }: Movement): boolean {
  return movement === 'payment-out-undone' || movement === 'payment-in-sent-back';
}

function standingOf(movement: Movement): Standing {
  const { amountMinor } = movement;
  return isUndoing(movement)
    ? { amountMinor: null, moved: false, undoneMinor: amountMinor }
    : { amountMinor, moved: true, undoneMinor: null };
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
