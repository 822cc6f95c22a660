import { dateInUtc } from '../../../domain/common/time/dates.ts';
import {
  DAY_MS,
  type EntryPlan,
  type Figures,
  type Line,
  lineOf,
  type Movement,
  namesOf,
  pick,
  type Random,
  type TruePayment,
  whole,
} from './statement-model.ts';

/** A break that must be found, by what identifies it. */
export interface ExpectedBreak {
  /** Null if the break concerns the statement of a day as a whole. */
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
  /** Payments that a fault concerns already, so that each fault is found separately. */
  readonly used: Set<TruePayment | StatementDay>;
  /** All days are in one file. */
  readonly isOneFile: boolean;
}

/** Changes the statement and says what must be found; null if the statement gives no opportunity for the fault. */
type StatementFault = (world: ModelWorld) => ExpectedBreak[] | null;

const isSameDay = ({ ourAt, bankAt }: Movement) =>
  ourAt !== null && bankAt !== null && dateInUtc(ourAt) === dateInUtc(bankAt);

interface BookedLine {
  readonly day: StatementDay;
  readonly line: Line;
  readonly payment: TruePayment;
  readonly movement: Movement;
}

/** A line that both sides have on one day, of a payment that no fault concerns yet. */
function pickLine(
  { random, days, used }: ModelWorld,
  isWanted: (booked: BookedLine) => boolean = () => true,
): BookedLine | null {
  const all = days.flatMap((day) =>
    day.lines.flatMap((line): BookedLine[] => {
      const { payment, bookedAt, amountMinor } = line;
      const movement = payment?.movements.find((one) => one.bankAt === bookedAt && one.amountMinor === amountMinor);
      if (payment === null || movement === undefined || used.has(payment) || !isSameDay(movement)) return [];
      const booked = { day, line, payment, movement };
      return isWanted(booked) ? [booked] : [];
    }),
  );
  if (all.length === 0) return null;
  const booked = pick(random, all);
  used.add(booked.payment);
  return booked;
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

/** Faults of lines, before they are grouped into entries. */
export const LINE_FAULTS: Readonly<Record<string, StatementFault>> = {
  'undoes a payment that we hold completed': (world) => {
    const booked = pickLine(world, ({ payment }) => payment.movements.length === 1);
    if (booked === null) return null;
    const { random, days } = world;
    const amountMinor =
      random() < 0.5 ? booked.payment.amountMinor : 1n + BigInt(whole(random, Number(booked.payment.amountMinor)));
    const day = pick(random, days.slice(days.indexOf(booked.day)));
    const bookedAt = new Date(Date.parse(day.day) + DAY_MS - 3_600_000);
    const line = lineOf(
      random,
      booked.payment,
      { isReversal: true, amountMinor, ourAt: null, bankAt: bookedAt },
      bookedAt,
    );
    day.lines.push(line);
    return [expected(day, booked.payment.reference, line.direction, 1, amountMinor)];
  },
  'has an entry twice': (world) => {
    const booked = pickLine(world);
    if (booked === null) return null;
    const { random, days } = world;
    const day = pick(random, days.slice(days.indexOf(booked.day)));
    const bookedAt = new Date(booked.line.bookedAt.getTime() + Date.parse(day.day) - Date.parse(booked.day.day));
    day.lines.push({ ...booked.line, bookedAt, references: namesOf(random, booked.payment) });
    return [expected(day, booked.payment.reference, booked.line.direction, 1, booked.line.amountMinor)];
  },
  'has another amount': (world) => {
    // Among parts that were booked on two days each, the differing one would be ambiguous.
    const booked = pickLine(world, ({ payment }) => payment.movements.every(isSameDay));
    if (booked === null) return null;
    const moreMinor = BigInt(1 + whole(world.random, 5_000));
    replace(booked, { ...booked.line, amountMinor: booked.line.amountMinor + moreMinor });
    return [expected(booked.day, booked.payment.reference, booked.line.direction, 0, moreMinor)];
  },
  'lacks an entry': (world) => {
    const booked = pickLine(world);
    if (booked === null) return null;
    replace(booked, null);
    return [expected(booked.day, booked.payment.reference, booked.line.direction, -1, -booked.line.amountMinor)];
  },
  'has an entry a day later': (world) => {
    const { days } = world;
    const booked = pickLine(world, ({ day }) => day !== days.at(-1));
    const next = booked === null ? undefined : days[days.indexOf(booked.day) + 1];
    if (booked === null || next === undefined) return null;
    const { line, payment } = booked;
    replace(booked, null);
    next.lines.push({ ...line, bookedAt: new Date(line.bookedAt.getTime() + DAY_MS) });
    return [
      expected(booked.day, payment.reference, line.direction, -1, -line.amountMinor),
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

function replace({ day, line }: BookedLine, by: Line | null): void {
  day.lines = day.lines.flatMap((one) => (one === line ? (by ?? []) : one));
}

/** Faults of entries and of the figures of statements. */
export const FIGURE_FAULTS: Readonly<Record<string, StatementFault>> = {
  'has an entry of more than its details': ({ random, days, used }) => {
    const all = days.flatMap((day) =>
      day.entries
        .filter(
          ({ hasDetails, lines }) => hasDetails && lines.every((line) => hasPayment(line) && !used.has(line.payment)),
        )
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

const hasPayment = (line: Line): line is Line & { readonly payment: TruePayment } =>
  line.payment?.movements.some(({ bankAt }) => bankAt === line.bookedAt) === true &&
  line.payment.movements.every(isSameDay);

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
  // Two faults about one batch are one break.
  const total = entry.lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  if (batch.count !== entry.lines.length || batch.totalMinor !== total) return null;
  change(batch);
  return [figure(day, entry, '-batch-1')];
}

const ofStatement =
  (name: string, change: (figures: Figures) => void): StatementFault =>
  ({ random, days, used }) => {
    const day = pick(random, days);
    if (used.has(day)) return null;
    used.add(day);
    change(day.figures);
    return [figure(day, `statement-${day.id}-${name}`)];
  };

const balance =
  (name: 'openingMinor' | 'closingMinor'): StatementFault =>
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

export const STATEMENT_FAULTS: Readonly<Record<string, StatementFault>> = {
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
