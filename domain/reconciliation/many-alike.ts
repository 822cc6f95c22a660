import type { DailyBreak } from './daily-reconciliation.ts';
import { plus } from './day-balance.ts';

/** Nobody looks into more of a kind about one payment one by one, and each costs the next comparison its search. */
export const ALIKE_MAX = 1_000;

/**
 * Of more breaks of one kind about the same movement of one payment than `ALIKE_MAX`, those beyond it as one, with their number and sum: as
 * where a bank writes one reference into every entry. What is explained stays by itself. `breaks` are all that a day has of their payments.
 */
export function toldTogether(breaks: readonly DailyBreak[]): DailyBreak[] {
  const counts = new Map<string, number>();
  const rests = new Map<string, DailyBreak>();
  const told = breaks.filter((one) => {
    if (one.explanation !== null) return true;
    const key = `${one.kind} ${one.direction} ${one.movement} ${one.reference}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count < ALIKE_MAX) return true;
    const rest = rests.get(key);
    rests.set(key, rest === undefined ? withCount(one) : together(rest, one));
    return false;
  });
  return [...told, ...rests.values()];
}

function withCount(one: DailyBreak): DailyBreak {
  const { expected, actual } = one;
  return { ...one, expected: expected && { ...expected, count: 1 }, actual: actual && { ...actual, count: 1 } };
}

function together(rest: DailyBreak, one: DailyBreak): DailyBreak {
  return {
    ...rest,
    expected: sumOf(rest.expected, one.expected),
    actual: sumOf(rest.actual, one.actual),
    effect: plus(rest.effect, one.effect),
  };
}

function sumOf(sum: DailyBreak['expected'], one: DailyBreak['expected']): DailyBreak['expected'] {
  if (sum === null || one === null) return sum;
  return { ...sum, amountMinor: sum.amountMinor + one.amountMinor, count: (sum.count ?? 1) + 1 };
}
