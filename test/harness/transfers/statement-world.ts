import { addDays, dateInUtc } from '../../../domain/frame/time/dates.ts';
import { type Totals, totalsOf } from '../../../domain/reconciliation/day-balance.ts';
import {
  type ExpectedBreak,
  FIGURE_LIES,
  LINE_LIES,
  type ModelWorld,
  STATEMENT_LIES,
  type StatementDay,
} from './statement-lies.ts';
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
export const LIES = { ...LINE_LIES, ...FIGURE_LIES, ...STATEMENT_LIES };
export type LieName = string;

export interface Position {
  readonly world: ModelWorld;
  readonly rendered: readonly RenderedDay[];
  readonly expected: readonly ExpectedBreak[];
  readonly told: readonly LieName[];
}

/** The true days of a position, and then lies about them, in the order in which a statement comes about. */
export function positionOf(
  random: Random,
  { currency, decimals }: { readonly currency: string; readonly decimals: number },
  lies: readonly LieName[],
): Position {
  const payments = truePayments(random, FIRST, DAYS.length);
  const isDated = random() < 0.5;
  const days = DAYS.map((day): StatementDay => {
    const lines = payments.flatMap((payment) =>
      payment.moves.flatMap((move) =>
        move.bankAt !== null && dateInUtc(move.bankAt) === day ? [lineOf(random, payment, move, move.bankAt)] : [],
      ),
    );
    return { id: `ST-${day}`, day, lines, entries: [], figures: figuresOf([], 0n) };
  });
  const world = { random, payments, days, used: new Set<never>(), isOneFile: random() < 0.5 } as ModelWorld;
  const expected: ExpectedBreak[] = [];
  const told: LieName[] = [];
  const tell = (some: typeof LIES) => {
    for (const name of lies) {
      const found = some[name]?.(world) ?? null;
      if (found === null) continue;
      expected.push(...found);
      told.push(name);
    }
  };
  tell(LINE_LIES);
  for (const day of days) day.entries = plannedEntries(random, day.lines);
  tell(FIGURE_LIES);
  let openingMinor = BigInt(whole(random, 1e9)) - 500_000_000n;
  for (const day of days) {
    day.figures = figuresOf(day.entries, openingMinor);
    openingMinor = day.figures.closingMinor;
  }
  tell(STATEMENT_LIES);
  const rendered = days.map(({ id, day, entries, figures }) => ({
    id,
    day,
    currency,
    decimals,
    entries,
    figures,
    isDated,
  }));
  return { world, rendered, expected, told };
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
