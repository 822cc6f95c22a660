import { dateInUtc, type LocalDate } from '../frame/time/dates.ts';
import { minus, NOTHING, type Totals, totalsOf } from './day-balance.ts';
import { isUndoing, matchMovements, type OneSided, type Pair } from './movement-matching.ts';
import { BOUNDARY_MS, isCredit, MOVEMENT_KINDS, type Movement, type MovementKind, type Side } from './movements.ts';
import { type Difference, differenceOf, type PaymentKey, type Standing } from './reconciliation.ts';

/** What one side says of a payment, or a statement's figure. */
export interface Facts {
  readonly amountMinor: bigint;
  readonly account: string | null;
  /** Null if that side does not say. */
  readonly date: LocalDate | null;
  /** Of a figure that counts; otherwise null or absent. */
  readonly count?: number | null;
}

/** The one-sided movement of a day that explains a difference, and none but this one. */
export interface Explanation {
  readonly day: LocalDate;
  readonly side: Side;
  readonly movement: MovementKind;
  readonly facts: Facts;
  readonly note: string;
}

/** Something that is not alike on both sides. */
export interface DailyBreak {
  readonly kind: Difference;
  /** Null, as `movement`, for what is about no payment: an entry that cannot be read, or a figure of a statement. */
  readonly direction: PaymentKey['direction'] | null;
  readonly reference: string;
  readonly movement: MovementKind | null;
  readonly expected: Facts | null;
  readonly actual: Facts | null;
  readonly resourceId: string | null;
  /** The provider's movements of the day less ours, as far as this break accounts for them. */
  readonly effect: Totals;
  /** Of a difference that needs nobody. */
  readonly explanation: Explanation | null;
}

/** A break that is about a statement and no payment. */
export function aboutStatement(
  found: Pick<DailyBreak, 'kind' | 'reference' | 'expected' | 'actual' | 'effect'>,
): DailyBreak {
  return { ...found, direction: null, movement: null, resourceId: null, explanation: null };
}

/** What a comparison of one day finds of a payment. */
export interface ClassifiedPayment {
  readonly breaks: readonly DailyBreak[];
  /** The day's movements that only one side has: `classifyProviderOnly` and `classifyLedgerOnly` say why. */
  readonly oneSided: readonly OneSided[];
  /** The day's movements whose other side is just beyond midnight, or on a day before that nobody compared. */
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
    oneSided.push(...matched.oneSided);
  }
  return { breaks, oneSided, acrossMidnight };
}

/** The statement's day shows how the sides differ; of a day that nobody compared, ours does. */
function differInDay([their, our]: Pair): DailyBreak[] {
  if (their.ofDay) return [bookedOnAnotherDay(their, our), ...compare(their, our)];
  const wasCompared = our.bookedAt.getTime() - their.bookedAt.getTime() <= BOUNDARY_MS;
  const differing = wasCompared ? [] : compare(their, our).map((one) => ({ ...one, effect: NOTHING }));
  return [bookedOnAnotherDay(our, their), ...differing];
}

/** `here` is of the day, `there` is the other side's of another one. The effect has our amount: `compare` has what differs. */
function bookedOnAnotherDay(here: Movement, there: Movement): DailyBreak {
  const [their, our] = here.side === 'provider' ? [here, null] : [null, here];
  const day = dateInUtc(there.bookedAt);
  const note = `${here.side === 'provider' ? 'Our books have' : 'The statement has'} it on ${day}.`;
  const ours = here.side === 'provider' ? there : here;
  return {
    ...breakOf('statement-day-differs', their, our),
    effect: effectOf(here, ours.amountMinor),
    explanation: { day, side: there.side, movement: there.movement, facts: factsOf(there), note },
  };
}

/** How two that are the same movement differ. */
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

/** What one movement that the other side lacks makes the sides differ by. */
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
 * What our books had on a day before, if that is on this day's statement: as missing on its own day, it no longer is. A bank's file of one
 * day does not show what is just beyond midnight.
 */
export function noLongerMissing({ kind, expected, actual, explanation }: DailyBreak): Facts | null {
  if (kind === 'statement-booked-late') return expected;
  const isOurs = kind === 'statement-day-differs' && actual !== null && explanation?.side === 'ours';
  return isOurs ? explanation.facts : null;
}

/** What is known of a movement that only the provider's statement has on the day. */
export interface ProviderOnlyContext {
  /** Our movement of another day, which that day's statement lacks. */
  readonly ours: Movement | null;
  /** The payment according to our ledger as it is now. */
  readonly ourStanding: Standing | null;
  /** What both sides have on the day, and the statement has again. */
  readonly repeats: Pair | null;
  /** An earlier statement had this movement already. */
  readonly isBookedBefore: boolean;
  /** The statement's own movement that this one undoes, or that undoes it. */
  readonly counter: Movement | null;
  /** The provider's answer now: null if it does not know the payment, undefined if it was not asked or does not answer. */
  readonly answer: Standing | null | undefined;
}

/** A movement that the statement has on the day, and our books have not. The provider's answer names its kind; it takes no break away. */
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

/** A movement that an earlier statement had already. */
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
      ? `${undone} the movement ${undoing} ${day}: the provider alone moved the money to and fro.`
      : `${undone} the movement ${undoing} ${day}: the provider has neither, and moved nothing.`;
  return {
    ...breakOf('statement-moved-nothing', their, our),
    explanation: { day, side: counter.side, movement: counter.movement, facts: factsOf(counter), note },
  };
}

/** What is known of a movement that only our books have on the day. */
export interface LedgerOnlyContext {
  /** The movement of another day's statement, which our books lack there. */
  readonly theirs: Movement | null;
  /** Our own movement that this one undoes, or that undoes it. */
  readonly counter: Movement | null;
  readonly ourStanding: Standing | null;
  readonly answer: Standing | null | undefined;
}

/** A movement that our books have on the day, and the statement has not. */
export function classifyLedgerOnly(our: Movement, context: LedgerOnlyContext): DailyBreak[] {
  const { theirs, counter, ourStanding, answer } = context;
  if (theirs !== null) return [bookedOnAnotherDay(our, theirs)];
  // The provider does not know the payment, and we have undone all of it: nothing moved on either side.
  if (answer === null && counter !== null) return [movedNothing(our, counter)];
  // Without an answer the statement counts, which only says that the movement is not on it.
  const kind = answer === undefined ? null : differenceOf(answer, ourStanding);
  return [breakOf(kind ?? 'statement-payment-missing', null, our)];
}

function standingOf(movement: Movement): Standing {
  const { amountMinor } = movement;
  return isUndoing(movement)
    ? { amountMinor: null, moved: false, undoneMinor: amountMinor }
    : { amountMinor, moved: true, undoneMinor: null };
}
