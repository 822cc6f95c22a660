import { addDays, dateInUtc } from '../../../domain/common/time/dates.ts';
import { type Totals, totalsOf } from '../../../domain/reconciliation/day-balance.ts';
import {
  type ExpectedBreak,
  FIGURE_FAULTS,
  LINE_FAULTS,
  type ModelWorld,
  STATEMENT_FAULTS,
  type StatementDay,
} from './statement-faults.ts';
import {
  figuresOf,
  lineOf,
  plannedEntries,
  type Random,
  type RenderedDay,
  truePayments,
  whole,
} from './statement-model.ts';

const FIRST = '2026-03-02';
export const DAYS = [FIRST, addDays(FIRST, 1), addDays(FIRST, 2)];
export const FAULTS = { ...LINE_FAULTS, ...FIGURE_FAULTS, ...STATEMENT_FAULTS };
export type FaultName = string;

export interface Position {
  readonly world: ModelWorld;
  readonly rendered: readonly RenderedDay[];
  readonly expected: readonly ExpectedBreak[];
  readonly applied: readonly FaultName[];
}

/** The true days of a position, and then faults in them, in the order in which a statement is made. */
export function positionOf(
  random: Random,
  { currency, decimals }: { readonly currency: string; readonly decimals: number },
  faults: readonly FaultName[],
): Position {
  const payments = truePayments(random, FIRST, DAYS.length);
  const isDated = random() < 0.5;
  const days = DAYS.map((day): StatementDay => {
    const lines = payments.flatMap((payment) =>
      payment.movements.flatMap((movement) =>
        movement.bankAt !== null && dateInUtc(movement.bankAt) === day
          ? [lineOf(random, payment, movement, movement.bankAt)]
          : [],
      ),
    );
    return { id: `ST-${day}`, day, lines, entries: [], figures: figuresOf([], 0n) };
  });
  const world = { random, payments, days, used: new Set<never>(), isOneFile: random() < 0.5 } as ModelWorld;
  const expected: ExpectedBreak[] = [];
  const applied: FaultName[] = [];
  const apply = (some: typeof FAULTS) => {
    for (const name of faults) {
      const found = some[name]?.(world) ?? null;
      if (found === null) continue;
      expected.push(...found);
      applied.push(name);
    }
  };
  apply(LINE_FAULTS);
  for (const day of days) day.entries = plannedEntries(random, day.lines);
  apply(FIGURE_FAULTS);
  let openingMinor = BigInt(whole(random, 1e9)) - 500_000_000n;
  for (const day of days) {
    day.figures = figuresOf(day.entries, openingMinor);
    openingMinor = day.figures.closingMinor;
  }
  apply(STATEMENT_FAULTS);
  const rendered = days.map(({ id, day, entries, figures }) => ({
    id,
    day,
    currency,
    decimals,
    entries,
    figures,
    isDated,
  }));
  return { world, rendered, expected, applied };
}

export const textOf = (
  day: string | null,
  reference: string,
  { creditCount, creditMinor, debitCount, debitMinor }: Totals,
) => `${day ?? 'the statement'}: ${reference} ${[creditCount, creditMinor, debitCount, debitMinor].join(',')}`;

export function textOfExpected(
  { rendered, world }: Position,
  { day, reference, suffix = '', isCredit: credit, count, amountMinor }: ExpectedBreak,
) {
  const totals = totalsOf(credit, BigInt(count), amountMinor);
  if (typeof reference === 'string') return textOf(day, reference + suffix, totals);
  let number = 0;
  for (const one of rendered) {
    if (!world.isOneFile) number = 0;
    const at = one.entries.indexOf(reference);
    if (at >= 0) return textOf(day, `entry-${number + at + 1}-of-${one.day}${suffix}`, totals);
    number += one.entries.length;
  }
  throw new Error('no such entry');
}
