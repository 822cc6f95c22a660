import { dateInUtc } from '../frame/time/dates.ts';
import { BOUNDARY_MS, type Movement, windowOf } from './movements.ts';

export type Pair = readonly [their: Movement, our: Movement];

/** What each side has of one payment and one kind of movement, put side by side. Each movement stands in one place. */
export interface Matched {
  /** Both of the compared day. */
  readonly pairs: readonly Pair[];
  /** One of the day and one just beyond its ends. */
  readonly acrossMidnight: readonly Pair[];
  /** What one side alone has on the day. */
  readonly oneSided: readonly OneSided[];
}

export interface OneSided {
  readonly movement: Movement;
  /** Of the statement: what both sides have, and it has again. */
  readonly repeats: Pair | null;
}

type CanPair = (their: Movement, our: Movement) => boolean;
const haveSameAmount: CanPair = (their, our) => their.amountMinor === our.amountMinor;
const areOfDay: CanPair = (their, our) => their.ofDay && our.ofDay;
const areNeighbours: CanPair = (their, our) =>
  !their.ofDay && !our.ofDay && dateInUtc(their.bookedAt) === dateInUtc(our.bookedAt);

/** Two clocks explain the date, or the statement is of a day before that nobody compared. */
const areAcrossMidnight: CanPair = (their, our) => {
  if (their.ofDay === our.ofDay) return false;
  const apartMs = Math.abs(their.bookedAt.getTime() - our.bookedAt.getTime());
  return apartMs <= BOUNDARY_MS || isOfUncomparedDay(their, our);
};

/** Only of such a day is more staged than its end. */
function isOfUncomparedDay(their: Movement, our: Movement): boolean {
  if (their.ofDay || !our.ofDay) return false;
  return their.bookedAt.getTime() < windowOf(dateInUtc(our.bookedAt)).from.getTime() - BOUNDARY_MS;
}

/**
 * Those of equal amounts first, whatever their order, then each with the nearest. A payment moves as a whole once, so what the statement
 * has beside a pair repeats it; but it may come back in parts, so a further part repeats one of its own amount or is alone.
 */
export function matchMovements(theirs: readonly Movement[], ours: readonly Movement[], isInParts: boolean): Matched {
  const theirRest = [...theirs].sort(byTime);
  const ourRest = [...ours].sort(byTime);
  const take = (canPair: CanPair) => takePairs(theirRest, ourRest, canPair);
  const withAmount =
    (canPair: CanPair): CanPair =>
    (their, our) =>
      haveSameAmount(their, our) && canPair(their, our);
  const pairs = take(withAmount(areOfDay));
  take(withAmount(areNeighbours));
  const acrossMidnight = take(withAmount(areAcrossMidnight));
  // Of a payment that came back in parts, those of other amounts may be explained by other days: `pairDiffering` comes after that.
  if (!isInParts) {
    pairs.push(...take(areOfDay));
    take(areNeighbours);
  }
  acrossMidnight.push(...take(areAcrossMidnight));

  const repeated = (their: Movement) =>
    [...pairs, ...acrossMidnight].find(([paired]) => !isInParts || haveSameAmount(paired, their)) ?? null;
  const oneSided = [
    ...ourRest.filter(isOfDay).map((movement) => ({ movement, repeats: null })),
    ...theirRest.filter(isOfDay).map((movement) => ({ movement, repeats: repeated(movement) })),
  ];
  return { pairs, acrossMidnight, oneSided };
}

/** Takes out of both what can be paired. */
function takePairs(theirRest: Movement[], ourRest: Movement[], canPair: CanPair): Pair[] {
  const pairs: Pair[] = [];
  const left = theirRest.filter((their) => {
    const at = closestTo(their, ourRest, canPair);
    const [our] = at < 0 ? [] : ourRest.splice(at, 1);
    if (our !== undefined) pairs.push([their, our]);
    return our === undefined;
  });
  theirRest.splice(0, Number.POSITIVE_INFINITY, ...left);
  return pairs;
}

/** Of parts of payments that nothing else explains, those that may be the same with another amount. */
export function pairDiffering(movements: readonly Movement[]): Pair[] {
  const parts = movements.filter(({ movement }) => movement === 'payment-out-undone');
  const of = (side: Movement['side']) => parts.filter((one) => one.side === side).sort(byTime);
  return takePairs(of('provider'), of('ours'), isOfSamePayment);
}

/** The place of the one whose amount is nearest, and the first of those; below zero if there is none. */
function closestTo(their: Movement, ours: readonly Movement[], canPair: CanPair): number {
  let [closest, leastMinor] = [-1, 0n];
  for (const [at, our] of ours.entries()) {
    if (!canPair(their, our)) continue;
    const apart = their.amountMinor - our.amountMinor;
    const apartMinor = apart < 0n ? -apart : apart;
    if (closest < 0 || apartMinor < leastMinor) [closest, leastMinor] = [at, apartMinor];
  }
  return closest;
}

function isOfDay({ ofDay }: Movement): boolean {
  return ofDay;
}

export function byTime(one: Movement, other: Movement): number {
  return one.bookedAt.getTime() - other.bookedAt.getTime();
}

/**
 * For each movement the one of another day that stands for it on the other side. `all` is what any day has on one side alone, in order:
 * the first there stands for the first here, so that none explains two. Another part of a payment that came back in parts explains nothing.
 */
export function movementsElsewhere(all: readonly Movement[]): ReadonlyMap<Movement, Movement> {
  const found = new Map<Movement, Movement>();
  for (const alike of groupedBy(all, sameMovementKey)) {
    const theirs = alike.filter(({ side }) => side === 'provider');
    const ours = alike.filter(({ side }) => side === 'ours');
    for (const [at, their] of theirs.entries()) {
      const our = ours[at];
      if (our === undefined) break;
      found.set(their, our).set(our, their);
    }
  }
  return found;
}

/**
 * For each movement what undoes it, or what it undoes, on its own side: of a payment that one side alone has carried out and undone, in
 * whole, so that it moved nothing. `all` as above.
 */
export function counterMovements(all: readonly Movement[]): ReadonlyMap<Movement, Movement> {
  const found = new Map<Movement, Movement>();
  for (const own of groupedBy(all, (one) => `${one.side} ${one.direction} ${one.reference}`)) {
    const [forward, ...more] = own.filter((one) => !isUndoing(one));
    const undoing = own.filter(isUndoing);
    const [first] = undoing;
    if (forward === undefined || first === undefined || more.length > 0) continue;
    if (undoing.reduce((sum, { amountMinor }) => sum + amountMinor, 0n) !== forward.amountMinor) continue;
    found.set(forward, first);
    for (const one of undoing) found.set(one, forward);
  }
  return found;
}

function groupedBy(all: readonly Movement[], keyOf: (one: Movement) => string): Iterable<readonly Movement[]> {
  const groups = new Map<string, Movement[]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group === undefined) groups.set(keyOf(one), [one]);
    else group.push(one);
  }
  return groups.values();
}

export function isUndoing({ movement }: Movement): boolean {
  return movement === 'payment-out-undone' || movement === 'payment-in-sent-back';
}

/** Alike for what is the same movement on either side. Of parts that came back, only those of one amount are. */
export function sameMovementKey({ direction, reference, movement, amountMinor }: Movement): string {
  return `${direction} ${movement} ${movement === 'payment-out-undone' ? amountMinor : ''} ${reference}`;
}

function isOfSamePayment(one: Movement, other: Movement): boolean {
  return one.direction === other.direction && one.reference === other.reference;
}
