import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import {
  amountOf,
  itemsOf,
  type Random,
  randomOf,
  type TruePayment,
  whole,
} from '../../test/harness/transfers/statement-model.ts';
import {
  DAYS,
  FAULTS,
  type Position,
  positionOf,
  textOf,
  textOfExpected,
} from '../../test/harness/transfers/statement-world.ts';
import { shortOrLong } from '../../test/tools/run/length.ts';
import { dateInUtc } from '../common/time/dates.ts';
import { classifyPayment, type DailyBreak, foundOnLaterStatement } from './daily-reconciliation.ts';
import { minus, NOTHING, plus, type Totals, totalsOf, unexplainedOf } from './day-balance.ts';
import { FileMovements, statedMovement } from './files/file-movements.ts';
import { type NamedPayment, namesIn } from './files/named-payments.ts';
import type { OneSided } from './movement-matching.ts';
import { BOUNDARY_MS, byPayment, isCredit, type Movement, type MovementKind, windowOf } from './movements.ts';
import { type Booking, type CarriedOver, OneSidedMovements } from './one-sided.ts';
import type { Standing } from './reconciliation.ts';

const SEED = Number(process.env.MODEL_SEED ?? 20_261_126);
const POSITIONS = [
  { currency: 'GBP', decimals: 2 },
  { currency: 'JPY', decimals: 0 },
  { currency: 'KWD', decimals: 3 },
];
const DAYS_COMPARED = shortOrLong(6_000, 10_000);

/** `expect` takes longer than the comparison. */
function same(actual: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(actual, wanted)) expect(actual).toEqual(wanted);
}

const kindOf = ({ isIn }: TruePayment, isReversal: boolean): MovementKind =>
  isIn ? (isReversal ? 'payment-in-sent-back' : 'payment-in') : isReversal ? 'payment-out-undone' : 'payment-out';

function ourMovements(payments: readonly TruePayment[]): Movement[] {
  return payments.flatMap((payment) =>
    payment.movements.flatMap(({ isReversal, amountMinor, ourAt }): Movement[] =>
      ourAt === null
        ? []
        : [
            {
              side: 'ours',
              direction: payment.isIn ? 'in' : 'out',
              reference: payment.reference,
              movement: kindOf(payment, isReversal),
              amountMinor,
              bookedAt: ourAt,
              ofDay: false,
              accounts: [],
              resourceId: null,
            },
          ],
    ),
  );
}

function standingOf({ amountMinor, movements }: TruePayment): Standing {
  const undone = movements.filter(({ isReversal }) => isReversal);
  const undoneMinor = undone.length === 0 ? null : undone.reduce((sum, one) => sum + one.amountMinor, 0n);
  return { amountMinor, moved: undoneMinor === null, undoneMinor };
}

/** Of a payment that the bank never moved, it does not know; of the others it tells the truth, or does not answer. */
function answerOf(random: Random, payment: TruePayment): Standing | null | undefined {
  if (payment.movements.every(({ bankAt }) => bankAt === null)) return null;
  return random() < 0.5 ? undefined : standingOf(payment);
}

interface ComparedDay {
  readonly breaks: readonly DailyBreak[];
  readonly carried: readonly CarriedOver[];
  readonly provider: Totals;
  readonly ours: Totals;
}

/** As the service compares a day, without its tables. */
async function compare(
  { world, rendered }: Position,
  at: number,
  carried: readonly CarriedOver[],
): Promise<ComparedDay> {
  const { random, payments, isOneFile } = world;
  const today = rendered[at];
  if (today === undefined) throw new RangeError('no such day');
  const { from, to } = windowOf(today.day);
  const margin = { from: new Date(from.getTime() - BOUNDARY_MS), to: new Date(to.getTime() + BOUNDARY_MS) };
  const near = (bookedAt: Date) => bookedAt >= margin.from && bookedAt < margin.to;
  const isOfDay = (bookedAt: Date) => bookedAt >= from && bookedAt < to;

  const file = new FileMovements(today.currency, margin);
  let entries = 0;
  for (const [index, one] of (isOneFile ? rendered : [today]).entries()) {
    for (const item of itemsOf(one, index + 1, entries + 1)) file.add(item);
    entries += one.entries.length;
  }
  const page = file.take();
  const named = namedIn(payments);
  for (const { part } of page.parts) same(namesIn(part).length > 0, true);
  const stated = page.parts.map((part) => statedMovement(part, named));
  const breaks = [...page.breaks, ...stated.flatMap((one) => one.breaks)].flatMap(({ bookedAt, found }) =>
    bookedAt === null || isOfDay(bookedAt) ? [found] : [],
  );
  const theirs = stated.map(
    ({ movement }): Movement => ({
      ...movement,
      side: 'provider',
      resourceId: null,
      ofDay: isOfDay(movement.bookedAt),
    }),
  );
  const ours = ourMovements(payments);
  const staged = [
    ...theirs,
    ...ours.filter(({ bookedAt }) => near(bookedAt)).map((our) => ({ ...our, ofDay: isOfDay(our.bookedAt) })),
  ];
  const oneSided: OneSided[] = [];
  const paired: Movement[] = [];
  for await (const payment of byPayment(inPages(staged))) {
    const classified = classifyPayment(payment);
    breaks.push(...classified.breaks);
    oneSided.push(...classified.oneSided);
    paired.push(...classified.acrossMidnight);
  }
  const bookings = ours.map((our): Booking => ({ ...our, isCompared: dateInUtc(our.bookedAt) < today.day }));
  const known = new OneSidedMovements(today.day, oneSided, carried, bookings);
  for (const one of oneSided) {
    const payment = payments.find(({ reference }) => reference === one.movement.reference);
    const standing = payment === undefined ? null : standingOf(payment);
    const isAsked = payment !== undefined && known.needsAnswer(one, standing);
    breaks.push(...known.classify(one, standing, isAsked ? answerOf(random, payment) : undefined));
  }
  const sum = (totals: readonly Totals[]) => totals.reduce(plus, NOTHING);
  const provider = sum(page.totals.filter(({ bookedAt }) => isOfDay(bookedAt)).map(({ totals }) => totals));
  const ofDay = staged.filter((one) => one.side === 'ours' && one.ofDay);
  return {
    breaks,
    carried: [
      ...known.toCarryOver.map((movement) => ({ ...movement, isPaired: false })),
      ...paired.map((movement) => ({ ...movement, isPaired: true })),
    ],
    provider,
    ours: sum(ofDay.map(({ movement, amountMinor }) => totalsOf(isCredit(movement), 1n, amountMinor))),
  };
}

/** In the order of their payments, in pages of two, so that a payment spans their ends. */
async function* inPages(movements: readonly Movement[]): AsyncGenerator<readonly Movement[]> {
  const keyOf = ({ direction, reference }: Movement) => `${direction} ${reference}`;
  const sorted = [...movements].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  for (let start = 0; start < sorted.length; start += 2) yield sorted.slice(start, start + 2);
}

function namedIn(payments: readonly TruePayment[]): ReadonlyMap<string, readonly NamedPayment[]> {
  return new Map(
    payments.flatMap(({ isIn, reference, bankReference, amountMinor }) => {
      const direction = isIn ? ('in' as const) : ('out' as const);
      return [reference, bankReference].map((name) => [name, [{ name, direction, reference, amountMinor }]] as const);
    }),
  );
}

async function check(position: Position): Promise<void> {
  const found: string[] = [];
  const carried: CarriedOver[] = [];
  for (const [at, { day, entries }] of position.rendered.entries()) {
    const compared = await compare(position, at, carried);
    carried.push(...compared.carried);
    // The bank's sums, by its entries: counted here, not by what is tested.
    const stated = entries.map((entry) => {
      const count = BigInt(entry.lines.length);
      return totalsOf(entry.lines[0]?.direction === 'credit', count, amountOf(entry));
    });
    same(compared.provider, stated.reduce(plus, NOTHING));
    const effects = compared.breaks.map(({ effect }) => effect).reduce(plus, NOTHING);
    same(unexplainedOf(compared, effects), []);
    for (const one of compared.breaks) {
      const { kind, reference, movement, effect, explanation } = one;
      const wasMissing = kind === 'statement-booked-late' ? null : foundOnLaterStatement(one);
      if (wasMissing !== null && movement !== null) {
        const missing = minus(NOTHING, totalsOf(isCredit(movement), 1n, wasMissing.amountMinor));
        const before = found.indexOf(textOf(wasMissing.date, reference, missing));
        if (before >= 0) found.splice(before, 1);
      }
      if (explanation !== null) same(explanation.note === '', false);
      else found.push(textOf(reference.startsWith('statement-') ? null : day, reference, effect));
    }
  }
  const isOfStatement = (text: string) => text.startsWith('the statement');
  // A file of several days shows its own figures with each of them.
  const once = [...found.filter((text) => !isOfStatement(text)), ...new Set(found.filter(isOfStatement))];
  same(once.sort(), position.expected.map((one) => textOfExpected(position, one)).sort());
}

test(`${DAYS_COMPARED} days, true or with faults: each fault is a break of its amount, none hides another, and a true day has none`, async () => {
  const random = randomOf(SEED);
  const names = Object.keys(FAULTS);
  const counts = new Map<string, number>();
  let days = 0;
  for (let round = 0; days < DAYS_COMPARED; round += 1) {
    for (const currency of POSITIONS) {
      const faults = Array.from({ length: round % 3 }, () => names[whole(random, names.length)] ?? '');
      const position = positionOf(random, currency, faults);
      await check(position).catch((error: unknown) => {
        throw new Error(`seed ${SEED}, round ${round}, ${currency.currency}: ${position.applied.join(' and ')}`, {
          cause: error,
        });
      });
      for (const name of position.applied) counts.set(name, (counts.get(name) ?? 0) + 1);
      days += DAYS.length;
    }
  }
  console.log(`${days} days compared, seed ${SEED}:`, Object.fromEntries(counts));
  for (const name of names) expect(counts.get(name) ?? 0, name).toBeGreaterThan(20);
});
