/**
 * The arithmetic of a day: the provider's movements less ours are the sum of the effects of its breaks. Nothing else makes a day
 * balanced.
 */

/** Movements in and out, counted and summed in minor units. In a difference, any of them may be negative. */
export interface Totals {
  readonly creditCount: bigint;
  readonly creditMinor: bigint;
  readonly debitCount: bigint;
  readonly debitMinor: bigint;
}

export const NOTHING: Totals = { creditCount: 0n, creditMinor: 0n, debitCount: 0n, debitMinor: 0n };

export function totalsOf(isCredit: boolean, count: bigint, amountMinor: bigint): Totals {
  return isCredit
    ? { ...NOTHING, creditCount: count, creditMinor: amountMinor }
    : { ...NOTHING, debitCount: count, debitMinor: amountMinor };
}

export function plus(one: Totals, other: Totals): Totals {
  return {
    creditCount: one.creditCount + other.creditCount,
    creditMinor: one.creditMinor + other.creditMinor,
    debitCount: one.debitCount + other.debitCount,
    debitMinor: one.debitMinor + other.debitMinor,
  };
}

export function minus(one: Totals, other: Totals): Totals {
  return {
    creditCount: one.creditCount - other.creditCount,
    creditMinor: one.creditMinor - other.creditMinor,
    debitCount: one.debitCount - other.debitCount,
    debitMinor: one.debitMinor - other.debitMinor,
  };
}

export function isNothing({ creditCount, creditMinor, debitCount, debitMinor }: Totals): boolean {
  return creditCount === 0n && creditMinor === 0n && debitCount === 0n && debitMinor === 0n;
}

export interface DaySums {
  readonly provider: Totals;
  readonly ours: Totals;
}

/** A difference in one direction that no break explains. */
export interface Unexplained {
  readonly direction: 'credits' | 'debits';
  /** Our sum plus the effects of the breaks. */
  readonly expectedMinor: bigint;
  readonly actualMinor: bigint;
  /** The provider's sum less the expected one. */
  readonly effect: Totals;
}

/** The differences that the breaks of a day, including explained ones, leave unexplained: none, unless the comparison has an error. */
export function unexplainedOf({ provider, ours }: DaySums, effects: Totals): Unexplained[] {
  const expected = plus(ours, effects);
  const rest = minus(provider, expected);
  const found: Unexplained[] = [
    {
      direction: 'credits',
      expectedMinor: expected.creditMinor,
      actualMinor: provider.creditMinor,
      effect: totalsOf(true, rest.creditCount, rest.creditMinor),
    },
    {
      direction: 'debits',
      expectedMinor: expected.debitMinor,
      actualMinor: provider.debitMinor,
      effect: totalsOf(false, rest.debitCount, rest.debitMinor),
    },
  ];
  return found.filter(({ effect }) => !isNothing(effect));
}
