import { dateInUtc, type LocalDate } from '../common/time/dates.ts';
import { minus, NOTHING, type Totals, totalsOf } from './day-balance.ts';
import { isUndoing, matchMovements, type OneSided, type Pair } from './movement-matching.ts';
import { BOUNDARY_MS, isCredit, MOVEMENT_KINDS, type Movement, type MovementKind, type Side } from './movements.ts';
import { type Difference, differenceOf, type PaymentKey, type Standing } from './reconciliation.ts';

/** One side's facts of a payment, or a figure of a statement. */
export interface Facts {
  readonly amountMinor: bigint;
  readonly account: string | null;
  /** Null if that side does not say. */
  readonly date: LocalDate | null;
  /** For a figure that counts entries; otherwise null or absent. */
  readonly count?: number | null;
}

/** The one-sided movement of a day that explains this difference, and no other. */
export interface Explanation {
  readonly day: LocalDate;
  readonly side: Side;
  readonly movement: MovementKind;
  readonly facts: Facts;
  readonly note: string;
}

/** A difference between the sides. */
export interface DailyBreak {
  readonly kind: Difference;
  /** Null, like `movement`, for a break that is about no payment: an unreadable entry, or a figure of a statement. */
  readonly direction: PaymentKey['direction'] | null;
  readonly reference: string;
  readonly movement: MovementKind | null;
  readonly expected: Facts | null;
  readonly actual: Facts | null;
  readonly resourceId: string | null;
  /** The part of the provider's movements of the day less ours that this break accounts for. */
  readonly effect: Totals;
  /** Why the difference needs no investigation; null if it does. */
  readonly explanation: Explanation | null;
}

/** A break that is about a statement, not a payment. */
export function statementBreak(
  found: Pick<DailyBreak, 'kind' | 'reference' | 'expected' | 'actual' | 'effect'>,
): DailyBreak {
  return { ...found, direction: null, movement: null, resourceId: null, explanation: null };
}

/** The result of comparing one payment on one day. */
export interface ClassifiedPayment {
  readonly breaks: readonly DailyBreak[];
  /** The day's movements that only one side has, for `classifyProviderOnly` and `classifyLedgerOnly`. */
  readonly oneSided: readonly OneSided[];
  /** The day's movements whose other side is just beyond midnight, or on an earlier day that was not compared. */
  readonly acrossMidnight: readonly Movement[];
}

/** Both sides' movements of one payment. */
export function classifyPayment(movements: readonly Movement[]): ClassifiedPayment {
  const breaks: DailyBreak[] = [];
  const oneSided: OneSided[] = [];
  const acrossMidnight: Movement[] = [];
  for (const kind of MOVEMENT_KINDS) {
    const of = (side: Side) => movements.filter((one) => one.movement === kind && one.side === side);
    const matched = matchMovements(of('provider'), of('ours'), kind === 'payment-out-undone');
    for (const [their, our] of matched.pairs) breaks.push(...compare(their, our));
    for (const pair of matched.acrossMidnight) {
      breaks.push(...differInDay(pair));
      acrossMidnight.push(...pair.filter(({ ofDay }) => ofDay));
    }
    for (const one of matched.oneSided) oneSided.push(one);
  }
  return { breaks, oneSided, acrossMidnight };
}

/** The difference is shown on the statement's day or, if that was not compared, on ours. */
function differInDay([their, our]: Pair): DailyBreak[] {
  if (their.ofDay) return [bookedOnAnotherDay(their, our), ...compare(their, our)];
  const wasCompared = our.bookedAt.getTime() - their.bookedAt.getTime() <= BOUNDARY_MS;
  const differing = wasCompared ? [] : compare(their, our).map((one) => ({ ...one, effect: NOTHING }));
  return [bookedOnAnotherDay(our, their), ...differing];
}

/** `here` is on the compared day, `there` the other side's movement on another day. The effect has our amount: `compare` adds the difference. */
function bookedOnAnotherDay(here: Movement, there: Movement): DailyBreak {
  const [their, our] = here.side === 'provider' ? [here, null] : [null, here];
  const day = dateInUtc(there.bookedAt);
  const note = `${here.side === 'provider' ? 'Our ledger has' : 'The statement has'} it on ${day}.`;
  const ours = here.side === 'provider' ? there : here;
  return {
    ...breakOf('statement-day-differs', their, our),
    effect: effectOf(here, ours.amountMinor),
    explanation: { day, side: there.side, movement: there.movement, facts: factsOf(there), note },
  };
}

/** The differences between both sides of one movement. */
export function compare(their: Movement, our: Movement): DailyBreak[] {
  const found: DailyBreak[] = [];
  if (their.amountMinor !== our.amountMinor) {
    const effect = totalsOf(isCredit(their.movement), 0n, their.amountMinor - our.amountMinor);
    found.push({ ...breakOf('statement-amount-differs', their, our), effect });
  }
  const [account] = their.accounts;
  const known = account !== undefined && our.accounts.length > 0;
  if (known && !their.accounts.some((name) => our.accounts.includes(name))) {
    found.push({ ...breakOf('statement-account-differs', their, our), effect: NOTHING });
  }
  return found;
}

function repeated(again: Movement, [their, our]: Pair): DailyBreak {
  const both = { ...their, amountMinor: their.amountMinor + again.amountMinor };
  return { ...breakOf('statement-payment-doubled', both, our), effect: effectOf(again, again.amountMinor) };
}

/** The effect of a movement that the other side does not have. */
function effectOf({ side, movement }: Movement, amountMinor: bigint): Totals {
  const totals = totalsOf(isCredit(movement), 1n, amountMinor);
  return side === 'provider' ? totals : minus(NOTHING, totals);
}

function breakOf(kind: Difference, their: Movement | null, our: Movement | null): DailyBreak {
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
    effect: effectOf(one, one.amountMinor),
    explanation: null,
  };
}

function factsOf({ amountMinor, accounts, bookedAt }: Movement): Facts {
  return { amountMinor, account: accounts[0] ?? null, date: dateInUtc(bookedAt) };
}

/**
 * The facts of our movement of an earlier day, if this day's statement has it: then it is not missing on its own day. A bank's file of
 * one day does not show movements just beyond midnight.
 */
export function foundOnLaterStatement({ kind, expected, actual, explanation }: DailyBreak): Facts | null {
  if (kind === 'statement-booked-late') return expected;
  const isOurs = kind === 'statement-day-differs' && actual !== null && explanation?.side === 'ours';
  return isOurs ? explanation.facts : null;
}

/** The movement on another day's statement that our ledger booked later with a different amount: the break on that day must be reopened. */
export function earlierProviderBooking({ kind, expected, actual, explanation }: DailyBreak): Explanation | null {
  const isTheirs = kind === 'statement-day-differs' && actual === null && explanation?.side === 'provider';
  return isTheirs && explanation.facts.amountMinor !== expected?.amountMinor ? explanation : null;
}

/** The context of a movement that only the provider's statement has on the day. */
export interface ProviderOnlyContext {
  /** Our movement of another day, which is not on that day's statement. */
  readonly ours: Movement | null;
  /** The payment in our ledger at present. */
  readonly ourStanding: Standing | null;
  /** The movement that both sides have on the day, and the statement has again. */
  readonly repeats: Pair | null;
  /** An earlier statement already had this movement. */
  readonly isBookedBefore: boolean;
  /** The statement's own movement that this one undoes, or that undoes it. */
  readonly counter: Movement | null;
  /** The provider's present answer: null if it does not know the payment, undefined if it was not asked or does not answer. */
  readonly answer: Standing | null | undefined;
}

/** Classifies a movement that only the statement has on the day. The provider's answer determines the kind, but never removes the break. */
export function classifyProviderOnly(their: Movement, context: ProviderOnlyContext): DailyBreak[] {
  const { ours, repeats, ourStanding, isBookedBefore, counter, answer } = context;
  if (ours !== null) {
    const lateMs = their.bookedAt.getTime() - ours.bookedAt.getTime();
    const late = lateMs > BOUNDARY_MS && dateInUtc(their.bookedAt) > dateInUtc(ours.bookedAt);
    const other = late
      ? { ...breakOf('statement-booked-late', their, ours), effect: effectOf(their, ours.amountMinor) }
      : bookedOnAnotherDay(their, ours);
    return [other, ...compare(their, ours)];
  }
  if (repeats !== null) return [repeated(their, repeats)];
  if (ourStanding === null) return [breakOf('statement-unknown-payment', their, null)];
  if (isBookedBefore) return [bookedTwice(their, ourStanding)];
  if (counter !== null && !ourStanding.moved) return [movedNothing(their, counter)];
  const kind = differenceOf(answer ?? standingOf(their), ourStanding) ?? 'statement-not-booked';
  const { amountMinor } = ourStanding;
  const booked =
    kind === 'statement-not-booked' || amountMinor === null ? null : { amountMinor, account: null, date: null };
  return [{ ...breakOf(kind, their, null), expected: booked }];
}

/** A movement that was already on an earlier statement. */
function bookedTwice(their: Movement, { amountMinor }: Standing): DailyBreak {
  const expected = factsOf({
    ...their,
    amountMinor: isUndoing(their) ? their.amountMinor : (amountMinor ?? their.amountMinor),
  });
  const actual = factsOf({ ...their, amountMinor: their.amountMinor * 2n });
  return { ...breakOf('statement-payment-doubled', their, null), expected, actual };
}

function movedNothing(here: Movement, counter: Movement): DailyBreak {
  const [their, our] = here.side === 'provider' ? [here, null] : [null, here];
  const day = dateInUtc(counter.bookedAt);
  const [undone, undoing] = isUndoing(here) ? ['It undoes', 'of'] : ['It is undone', 'on'];
  const note =
    here.side === 'provider'
      ? `${undone} the movement ${undoing} ${day}: only the provider moved the money, and moved it back.`
      : `${undone} the movement ${undoing} ${day}: the provider has neither, and moved nothing.`;
  return {
    ...breakOf('statement-moved-nothing', their, our),
    explanation: { day, side: counter.side, movement: counter.movement, facts: factsOf(counter), note },
  };
}

/** The context of a movement that only our ledger has on the day. */
export interface LedgerOnlyContext {
  /** The movement of another day's statement, which our ledger does not have on that day. */
  readonly theirs: Movement | null;
  /** Our own movement that this one undoes, or that undoes it. */
  readonly counter: Movement | null;
  readonly ourStanding: Standing | null;
  readonly answer: Standing | null | undefined;
}

/** Classifies a movement that only our ledger has on the day. */
export function classifyLedgerOnly(our: Movement, context: LedgerOnlyContext): DailyBreak[] {
  const { theirs, counter, ourStanding, answer } = context;
  if (theirs !== null) return [bookedOnAnotherDay(our, theirs)];
  // The provider does not know the payment, and we have fully undone it: nothing moved on either side.
  if (answer === null && counter !== null) return [movedNothing(our, counter)];
  // Without an answer the statement counts, which shows only that the movement is not on it.
  const kind = answer === undefined ? null : differenceOf(answer, ourStanding);
  return [breakOf(kind ?? 'statement-payment-missing', null, our)];
}

function standingOf(movement: Movement): Standing {
  const { amountMinor } = movement;
  return isUndoing(movement)
    ? { amountMinor: null, moved: false, undoneMinor: amountMinor }
    : { amountMinor, moved: true, undoneMinor: null };
}
