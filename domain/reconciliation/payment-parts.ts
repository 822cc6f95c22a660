import type { Movement } from './daily-reconciliation.ts';

type Pair = readonly [their: Movement, our: Movement];

/** What each side has of one payment and one kind of movement, put side by side. */
export interface Matched {
  readonly pairs: readonly Pair[];
  /** What the statement has more often than we: the entries, and ours if there is one. */
  readonly repeated: readonly { readonly theirs: readonly Movement[]; readonly our: Movement | undefined }[];
  /** What one side alone has on the compared day. */
  readonly alone: readonly Movement[];
}

/** A payment moves as a whole once: a second entry of the statement repeats it, whatever its amount. */
export function matchWhole(theirs: readonly Movement[], ours: readonly Movement[]): Matched {
  const isRepeated = theirs.length > Math.max(1, ours.length);
  return {
    pairs: pairsInTurn(theirs, ours),
    repeated: isRepeated ? [{ theirs, our: ours[0] }] : [],
    alone: ours.length === 0 ? theirs.filter(isOfDay).slice(0, 1) : ours.slice(theirs.length).filter(isOfDay),
  };
}

/**
 * A payment may come back in parts. Those that both sides have are found by amount, in whatever order each has booked them; of the
 * others, one of each side may be the same with another amount. What the statement still has repeats a part of that amount, or is
 * alone as every further one of ours. What it has on a neighbouring day is left to that day.
 */
export function matchParts(theirs: readonly Movement[], ours: readonly Movement[]): Matched {
  const ourRest = [...ours];
  const theirRest: Movement[] = [];
  const pairs: Pair[] = [];
  for (const their of theirs) {
    const at = ourRest.findIndex(({ amountMinor }) => amountMinor === their.amountMinor);
    const [our] = at < 0 ? [] : ourRest.splice(at, 1);
    if (our === undefined) theirRest.push(their);
    else pairs.push([their, our]);
  }
  const [differing, differingOurs] = [ofDayFirst(theirRest), ofDayFirst(ourRest)];
  pairs.push(...pairsInTurn(differing, differingOurs));
  const alone = differingOurs.slice(differing.length).filter(isOfDay);
  const repeated = new Map<Pair, Movement[]>();
  for (const their of differing.slice(differingOurs.length).filter(isOfDay)) {
    const pair = pairs.find(([paired]) => paired.amountMinor === their.amountMinor);
    if (pair === undefined) alone.push(their);
    else repeated.set(pair, [...(repeated.get(pair) ?? []), their]);
  }
  const groups = [...repeated].map(([[their, our], again]) => ({ theirs: [their, ...again], our }));
  return { pairs, repeated: groups, alone };
}

function pairsInTurn(theirs: readonly Movement[], ours: readonly Movement[]): Pair[] {
  return theirs.flatMap((their, index) => {
    const our = ours[index];
    return our === undefined ? [] : [[their, our] as const];
  });
}

function ofDayFirst(movements: readonly Movement[]): Movement[] {
  return [...movements.filter(isOfDay), ...movements.filter((one) => !isOfDay(one))];
}

export function isOfDay({ ofDay }: Movement): boolean {
  return ofDay;
}

export function byTime(one: Movement, other: Movement): number {
  return one.bookedAt.getTime() - other.bookedAt.getTime();
}

/**
 * The movement of another day that stands for this one on the other side. `all` is what any day has on one side alone, this one
 * included: the first there stands for the first here, so that none explains two. Another part of a payment that came back in parts
 * explains nothing.
 */
export function movementElsewhere(movement: Movement, all: readonly Movement[]): Movement | null {
  const alike = all
    .filter(
      (other) =>
        other.direction === movement.direction &&
        other.reference === movement.reference &&
        other.movement === movement.movement &&
        (movement.movement !== 'payment-out-undone' || other.amountMinor === movement.amountMinor),
    )
    .sort(byTime);
  const here = alike.filter(({ side }) => side === movement.side);
  const there = alike.filter(({ side }) => side !== movement.side);
  return there[here.indexOf(movement)] ?? null;
}
