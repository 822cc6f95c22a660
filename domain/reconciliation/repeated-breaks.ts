import type { DailyBreak } from './daily-reconciliation.ts';
import { plus } from './day-balance.ts';

/** No one investigates more breaks of a kind about one payment one by one, and each slows the next comparison. */
export const REPEATED_BREAKS_MAX = 1_000;

/**
 * Combines breaks of one kind about the same movement of one payment beyond `REPEATED_BREAKS_MAX` into one, with their count and sum:
 * a bank may write one reference into every entry. Explained breaks stay separate. `breaks` must contain all breaks of their payments
 * on the day.
 */
export function combineRepeatedBreaks(breaks: readonly DailyBreak[]): DailyBreak[] {
  const counts = new Map<string, number>();
  const rests = new Map<string, DailyBreak>();
  const kept = breaks.filter((one) => {
    if (one.explanation !== null) return true;
    const key = `${one.kind} ${one.direction} ${one.movement} ${one.reference}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count < REPEATED_BREAKS_MAX) return true;
    const rest = rests.get(key);
    rests.set(key, rest === undefined ? withCount(one) : together(rest, one));
    return false;
  });
  return [...kept, ...rests.values()];
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
