import { dateInUtc } from '../common/time/dates.ts';
import { BOUNDARY_MS, type Movement, windowOf } from './movements.ts';

export type Pair = readonly [their: Movement, our: Movement];

/** The movements of one payment and kind, matched between the sides. Each movement is in one list. */
export interface Matched {
  /** Both are on the compared day. */
  readonly pairs: readonly Pair[];
  /** One is on the day and one just beyond its ends. */
  readonly acrossMidnight: readonly Pair[];
  /** Movements that only one side has on the day. */
  readonly oneSided: readonly OneSided[];
}

export interface OneSided {
  readonly movement: Movement;
  /** For a movement of the statement: the pair that it repeats. */
  readonly repeats: Pair | null;
}

type CanPair = (their: Movement, our: Movement) => boolean;
const haveSameAmount: CanPair = (their, our) => their.amountMinor === our.amountMinor;
const areOfDay: CanPair = (their, our) => their.ofDay && our.ofDay;
const areNeighbours: CanPair = (their, our) =>
  !their.ofDay && !our.ofDay && dateInUtc(their.bookedAt) === dateInUtc(our.bookedAt);

/** Clock differences explain the date, or the statement is of an earlier day that was not compared. */
const areAcrossMidnight: CanPair = (their, our) => {
  if (their.ofDay === our.ofDay) return false;
  const apartMs = Math.abs(their.bookedAt.getTime() - our.bookedAt.getTime());
  return apartMs <= BOUNDARY_MS || isOfUncomparedDay(their, our);
};

/** Of such a day the whole statement is staged; of others only its end. */
function isOfUncomparedDay(their: Movement, our: Movement): boolean {
  if (their.ofDay || !our.ofDay) return false;
  return their.bookedAt.getTime() < windowOf(dateInUtc(our.bookedAt)).from.getTime() - BOUNDARY_MS;
}

/**
 * Pairs equal amounts first, whatever their order, then each with the nearest. A payment moves once as a whole, so any further movement
 * of the statement repeats it; but it may be returned in parts, so a further part repeats one of the same amount or is one-sided.
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
  // For a payment returned in parts, other days may explain parts of other amounts: `pairDiffering` comes after that.
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

/** Removes from both lists the movements that can be paired. */
function takePairs(theirRest: Movement[], ourRest: Movement[], canPair: CanPair): Pair[] {
  const pairs: Pair[] = [];
  const left = theirRest.filter((their) => {
    const at = closestTo(their, ourRest, canPair);
    const [our] = at < 0 ? [] : ourRest.splice(at, 1);
    if (our !== undefined) pairs.push([their, our]);
    return our === undefined;
  });
  // One by one: a file may have hundreds of thousands of entries of one reference, more than a call takes arguments.
  theirRest.length = 0;
  for (const their of left) theirRest.push(their);
  return pairs;
}

/** Pairs otherwise unexplained parts of payments that may be the same with different amounts. */
export function pairDiffering(movements: readonly Movement[]): Pair[] {
  const parts = movements.filter(({ movement }) => movement === 'payment-out-undone');
  const of = (side: Movement['side']) => parts.filter((one) => one.side === side).sort(byTime);
  return takePairs(of('provider'), of('ours'), isOfSamePayment);
}

/** The index of the first movement with the nearest amount; negative if there is none. */
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
 * For each movement its counterpart on another day of the other side. `all` has the one-sided movements of any day, in order: the first
 * of one side matches the first of the other, so that none explains two. A different part of a payment returned in parts explains nothing.
 */
export function matchAcrossDays(all: readonly Movement[]): ReadonlyMap<Movement, Movement> {
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
 * For each movement the one on its own side that undoes it, or that it undoes, if only one side has executed a payment and fully undone
 * it, so that nothing moved. `all` as above.
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

/** Equal for the same movement on either side. Returned parts are the same only if their amounts are equal. */
export function sameMovementKey({ direction, reference, movement, amountMinor }: Movement): string {
  return `${direction} ${movement} ${movement === 'payment-out-undone' ? amountMinor : ''} ${reference}`;
}

function isOfSamePayment(one: Movement, other: Movement): boolean {
  return one.direction === other.direction && one.reference === other.reference;
}
