import { dateInUtc } from '../../../domain/frame/time/dates.ts';
import {
  DAY_MS,
  type EntryPlan,
  type Figures,
  type Line,
  lineOf,
  type Move,
  namesOf,
  pick,
  type Random,
  type TruePayment,
  whole,
} from './statement-model.ts';

/** A break that must be found: nothing but this names it. */
export interface ExpectedBreak {
  /** Null for what is about the statement of a day as a whole. */
  readonly day: string | null;
  readonly reference: string | EntryPlan;
  readonly suffix?: string;
  readonly isCredit: boolean;
  readonly count: number;
  readonly amountMinor: bigint;
}

export interface StatementDay {
  readonly id: string;
  readonly day: string;
  lines: Line[];
  entries: EntryPlan[];
  figures: Figures;
}

export interface ModelWorld {
  readonly random: Random;
  readonly payments: readonly TruePayment[];
  readonly days: readonly StatementDay[];
  /** Payments that a lie is about already, so that each is found for itself. */
  readonly used: Set<TruePayment | StatementDay>;
  /** All days are in one file. */
  readonly isOneFile: boolean;
}

/** Changes the statement and says what must be found; null if there is nothing to lie about. */
type Lie = (world: ModelWorld) => ExpectedBreak[] | null;

const isSameDay = ({ ourAt, bankAt }: Move) =>
  ourAt !== null && bankAt !== null && dateInUtc(ourAt) === dateInUtc(bankAt);

interface Told {
  readonly day: StatementDay;
  readonly line: Line;
  readonly payment: TruePayment;
  readonly move: Move;
}

/** A line that both sides have on one day, of a payment that no lie is about yet. */
function toldLine({ random, days, used }: ModelWorld, isWanted: (told: Told) => boolean = () => true): Told | null {
  const all = days.flatMap((day) =>
    day.lines.flatMap((line): Told[] => {
      const { payment, bookedAt, amountMinor } = line;
      const move = payment?.moves.find((one) => one.bankAt === bookedAt && one.amountMinor === amountMinor);
      if (payment === null || move === undefined || used.has(payment) || !isSameDay(move)) return [];
      const told = { day, line, payment, move };
      return isWanted(told) ? [told] : [];
    }),
  );
  if (all.length === 0) return null;
  const told = pick(random, all);
  used.add(told.payment);
  return told;
}

const expected = (
  { day }: StatementDay,
  reference: string | EntryPlan,
  direction: Line['direction'],
  count: number,
  amountMinor: bigint,
): ExpectedBreak => ({ day, reference, isCredit: direction === 'credit', count, amountMinor });

const figure = (day: StatementDay, reference: string | EntryPlan, suffix = ''): ExpectedBreak => ({
  ...expected(day, reference, 'credit', 0, 0n),
  day: typeof reference === 'string' ? null : day.day,
  suffix,
});

/** Those of the lines, before they are entries. */
export const LINE_LIES: Readonly<Record<string, Lie>> = {
  'undoes a payment that we hold completed': (world) => {
    const told = toldLine(world, ({ payment }) => payment.moves.length === 1);
    if (told === null) return null;
    const { random, days } = world;
    const amountMinor =
      random() < 0.5 ? told.payment.amountMinor : 1n + BigInt(whole(random, Number(told.payment.amountMinor)));
    const day = pick(random, days.slice(days.indexOf(told.day)));
    const bookedAt = new Date(Date.parse(day.day) + DAY_MS - 3_600_000);
    const line = lineOf(
      random,
      told.payment,
      { isUndoing: true, amountMinor, ourAt: null, bankAt: bookedAt },
      bookedAt,
    );
    day.lines.push(line);
    return [expected(day, told.payment.reference, line.direction, 1, amountMinor)];
  },
  'has an entry twice': (world) => {
    const told = toldLine(world);
    if (told === null) return null;
    const { random, days } = world;
    const day = pick(random, days.slice(days.indexOf(told.day)));
    const bookedAt = new Date(told.line.bookedAt.getTime() + Date.parse(day.day) - Date.parse(told.day.day));
    day.lines.push({ ...told.line, bookedAt, references: namesOf(random, told.payment) });
    return [expected(day, told.payment.reference, told.line.direction, 1, told.line.amountMinor)];
  },
  'has another amount': (world) => {
    // Of parts that were booked on two days each, any could be the one.
    const told = toldLine(world, ({ payment }) => payment.moves.every(isSameDay));
    if (told === null) return null;
    const moreMinor = BigInt(1 + whole(world.random, 5_000));
    replace(told, { ...told.line, amountMinor: told.line.amountMinor + moreMinor });
    return [expected(told.day, told.payment.reference, told.line.direction, 0, moreMinor)];
  },
  'lacks an entry': (world) => {
    const told = toldLine(world);
    if (told === null) return null;
    replace(told, null);
    return [expected(told.day, told.payment.reference, told.line.direction, -1, -told.line.amountMinor)];
  },
  'has an entry a day later': (world) => {
    const { days } = world;
    const told = toldLine(world, ({ day }) => day !== days.at(-1));
    const next = told === null ? undefined : days[days.indexOf(told.day) + 1];
    if (told === null || next === undefined) return null;
    const { line, payment } = told;
    replace(told, null);
    next.lines.push({ ...line, bookedAt: new Date(line.bookedAt.getTime() + DAY_MS) });
    return [
      expected(told.day, payment.reference, line.direction, -1, -line.amountMinor),
      expected(next, payment.reference, line.direction, 1, line.amountMinor),
    ];
  },
  'has an entry of no payment of ours': ({ random, days }) => {
    const day = pick(random, days);
    const value = `STRANGE-${whole(random, 1e9)}`;
    const line: Line = {
      payment: null,
      direction: pick(random, ['credit', 'debit']),
      amountMinor: BigInt(1 + whole(random, 1e6)),
      bookedAt: new Date(Date.parse(day.day) + DAY_MS / 2),
      mark: 'none',
      references: [{ place: 'EndToEndId', value }],
    };
    day.lines.push(line);
    return [expected(day, value, line.direction, 1, line.amountMinor)];
  },
};

function replace({ day, line }: Told, by: Line | null): void {
  day.lines = day.lines.flatMap((one) => (one === line ? (by ?? []) : one));
}

/** Those of entries and of the figures of statements. */
export const FIGURE_LIES: Readonly<Record<string, Lie>> = {
  'has an entry of more than its details': ({ random, days, used }) => {
    const all = days.flatMap((day) =>
      day.entries
        .filter(({ hasDetails, lines }) => hasDetails && lines.every((line) => isTold(line) && !used.has(line.payment)))
        .map((entry) => ({ day, entry })),
    );
    if (all.length === 0) return null;
    const { day, entry } = pick(random, all);
    const moreMinor = BigInt(1 + whole(random, 5_000));
    entry.extraMinor = moreMinor;
    for (const { payment } of entry.lines) if (payment !== null) used.add(payment);
    const [line] = entry.lines;
    if (line === undefined || line.payment === null) return null;
    if (entry.lines.length > 1) return [expected(day, entry, line.direction, 0, moreMinor)];
    return [expected(day, line.payment.reference, line.direction, 0, moreMinor), figure(day, entry)];
  },
  'has a batch of another number': ({ random, days }) =>
    ofBatch(random, days, (batch) => {
      batch.count += 1;
    }),
  'has a batch of another total': ({ random, days }) =>
    ofBatch(random, days, (batch) => {
      batch.totalMinor += 1n;
    }),
};

const isTold = (line: Line): line is Line & { readonly payment: TruePayment } =>
  line.payment?.moves.some(({ bankAt }) => bankAt === line.bookedAt) === true && line.payment.moves.every(isSameDay);

function ofBatch(
  random: Random,
  days: readonly StatementDay[],
  change: (batch: NonNullable<EntryPlan['batch']>) => void,
): ExpectedBreak[] | null {
  const all = days.flatMap((day) => day.entries.filter(({ batch }) => batch !== null).map((entry) => ({ day, entry })));
  if (all.length === 0) return null;
  const { day, entry } = pick(random, all);
  const { batch } = entry;
  if (batch === null || entry.lines.some(({ payment }) => payment === null)) return null;
  // Two lies about one batch are one break.
  const total = entry.lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  if (batch.count !== entry.lines.length || batch.totalMinor !== total) return null;
  change(batch);
  return [figure(day, entry, '-batch-1')];
}

const ofStatement =
  (name: string, change: (figures: Figures) => void): Lie =>
  ({ random, days, used }) => {
    const day = pick(random, days);
    if (used.has(day)) return null;
    used.add(day);
    change(day.figures);
    return [figure(day, `statement-${day.id}-${name}`)];
  };

const balance =
  (name: 'openingMinor' | 'closingMinor'): Lie =>
  ({ random, days, used, isOneFile }) => {
    const day = pick(random, days);
    const at = days.indexOf(day);
    const next = days[at + 1];
    if (days.some((one) => used.has(one))) return null;
    for (const one of days) used.add(one);
    day.figures[name] += 1n;
    const own = figure(day, `statement-${day.id}-closing-balance`);
    const following = name === 'closingMinor' ? next : at > 0 ? day : undefined;
    if (!isOneFile || following === undefined) return [own];
    return [own, figure(following, `statement-${following.id}-opening-balance`)];
  };

export const STATEMENT_LIES: Readonly<Record<string, Lie>> = {
  'counts other credits': ofStatement('credits', ({ credits }) => {
    credits.count += 1;
  }),
  'sums other credits': ofStatement('credits', ({ credits }) => {
    credits.sumMinor += 100n;
  }),
  'sums other debits': ofStatement('debits', ({ debits }) => {
    debits.sumMinor += 1n;
  }),
  'has another net': ofStatement('net', (figures) => {
    figures.netMinor += 1n;
  }),
  'has another opening balance': balance('openingMinor'),
  'has another closing balance': balance('closingMinor'),
};
