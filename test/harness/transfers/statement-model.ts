import type {
  EntryDirection,
  PlacedReference,
  StatementHeader,
  StatementItem,
} from '../../../domain/reconciliation/bank-statements.ts';

/** Numbers in [0, 1), the same for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export type Random = () => number;
export const whole = (random: Random, max: number) => Math.floor(random() * max);
export function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[whole(random, items.length)];
  if (item === undefined) throw new RangeError('nothing to pick from');
  return item;
}

/** One movement of a payment as it truly happened: null on a side that has not booked it. */
export interface Movement {
  readonly isReversal: boolean;
  readonly amountMinor: bigint;
  readonly ourAt: Date | null;
  readonly bankAt: Date | null;
}

export interface TruePayment {
  readonly isIn: boolean;
  /** Our id of a payment out, the bank's of one in. */
  readonly reference: string;
  readonly bankReference: string;
  readonly amountMinor: bigint;
  readonly movements: readonly Movement[];
}

/** A line of the bank's statement: one movement, however the file then groups them. */
export interface Line {
  readonly payment: TruePayment | null;
  readonly direction: EntryDirection;
  readonly amountMinor: bigint;
  readonly bookedAt: Date;
  readonly mark: 'none' | 'reversal' | 'return' | 'code';
  readonly references: readonly PlacedReference[];
}

export const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Payments of some days, as they truly were; both sides have all of them, some on either side of midnight. */
export function truePayments(random: Random, first: string, days: number): TruePayment[] {
  return Array.from({ length: whole(random, 9) }, (): TruePayment => {
    const isIn = random() < 0.4;
    const amountMinor = BigInt(2 + whole(random, 2_000_000));
    const day = whole(random, days);
    const forward = { isReversal: false, amountMinor, ...booked(random, first, day, days) };
    const reference = uuid(random);
    const payment = { isIn, reference, bankReference: `BANK/${whole(random, 1e9)}`, amountMinor };
    if (!isIn && random() < 0.1) {
      // We paid and reversed it, and the bank never booked anything.
      const [ourAt, reversedAt] = [instantOf(random, first, day, 0), instantOf(random, first, day, 6)];
      const ours = { amountMinor, bankAt: null };
      return {
        ...payment,
        movements: [
          { ...ours, isReversal: false, ourAt },
          { ...ours, isReversal: true, ourAt: reversedAt },
        ],
      };
    }
    return { ...payment, movements: [forward, ...reversals(random, payment, first, day, days)] };
  });
}

function reversals(
  random: Random,
  { isIn, amountMinor }: Pick<TruePayment, 'isIn' | 'amountMinor'>,
  first: string,
  day: number,
  days: number,
): Movement[] {
  if (random() < 0.6) return [];
  const later = () => day + whole(random, days - day);
  if (isIn || random() < 0.5) return [{ isReversal: true, amountMinor, ...booked(random, first, later(), days) }];
  const parts: Movement[] = [];
  let rest = amountMinor;
  for (let left = 1 + whole(random, 3); left > 0 && rest > 1n; left -= 1) {
    const part = 1n + BigInt(whole(random, Number(rest) - 1));
    rest -= part;
    parts.push({ isReversal: true, amountMinor: part, ...booked(random, first, later(), days) });
  }
  return parts;
}

function instantOf(random: Random, first: string, day: number, hour: number): Date {
  return new Date(Date.parse(first) + day * DAY_MS + (hour + 6) * 3_600_000 + whole(random, 3_600_000));
}

/** Mostly on one day; sometimes on both sides of midnight, or by the bank in the evening and by us in the morning. */
function booked(random: Random, first: string, day: number, days: number): Pick<Movement, 'ourAt' | 'bankAt'> {
  const midnight = Date.parse(first) + (day + 1) * DAY_MS;
  const kind = day + 1 < days ? random() : 1;
  const before = new Date(midnight - whole(random, 2 * MINUTE_MS) - 1);
  const after = new Date(midnight + whole(random, 2 * MINUTE_MS));
  if (kind < 0.05) return { ourAt: before, bankAt: after };
  if (kind < 0.1) return { ourAt: after, bankAt: before };
  const hour = whole(random, 12);
  if (kind < 0.15) return { ourAt: instantOf(random, first, day + 1, 2), bankAt: instantOf(random, first, day, hour) };
  return { ourAt: instantOf(random, first, day, hour), bankAt: instantOf(random, first, day, hour) };
}

function uuid(random: Random): string {
  const hex = Array.from({ length: 32 }, () => whole(random, 16).toString(16)).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const PLACES = ['EndToEndId', 'InstrId', 'PmtInfId', 'TxId', 'UETR', 'RmtInf/Strd/CdtrRefInf/Ref', 'AcctSvcrRef'];
const TEXTS = ['RmtInf/Ustrd', 'AddtlTxInf'];

/** How a bank names the payment: by our id in some way, or by its own reference. */
export function namesOf(random: Random, { isIn, reference, bankReference }: TruePayment): PlacedReference[] {
  const noise = random() < 0.3 ? [{ place: 'MndtId', value: `M${whole(random, 1e6)}` }] : [];
  if (isIn) {
    return [
      ...noise,
      { place: pick(random, ['AcctSvcrRef', 'TxId']), value: pick(random, [reference, bankReference]) },
    ];
  }
  const bare = reference.replaceAll('-', '');
  const id = pick(random, [reference, bare, bare.toUpperCase(), reference.toUpperCase()]);
  if (random() < 0.2) return [...noise, { place: pick(random, TEXTS), value: `Invoice 17, ${id}; thank you` }];
  return [...noise, { place: pick(random, PLACES), value: random() < 0.15 ? bankReference : id }];
}

export function lineOf(random: Random, payment: TruePayment, movement: Movement, bookedAt: Date): Line {
  const isCredit = payment.isIn !== movement.isReversal;
  return {
    payment,
    direction: isCredit ? 'credit' : 'debit',
    amountMinor: movement.amountMinor,
    bookedAt,
    mark: movement.isReversal ? pick(random, ['none', 'reversal', 'return', 'code']) : 'none',
    references: namesOf(random, payment),
  };
}

/** An entry of the file: one line, or several together. */
export interface EntryPlan {
  readonly lines: readonly Line[];
  /** By how much the entry's amount exceeds its lines: a fault. */
  extraMinor: bigint;
  readonly hasDetails: boolean;
  batch: { count: number; totalMinor: bigint } | null;
}

export function plannedEntries(random: Random, lines: readonly Line[]): EntryPlan[] {
  const left = [...lines].sort((one, other) => one.bookedAt.getTime() - other.bookedAt.getTime());
  const entries: EntryPlan[] = [];
  for (let line = left.shift(); line !== undefined; line = left.shift()) {
    const { direction } = line;
    const together = [line];
    while (line.mark === 'none' && random() < 0.35) {
      const at = left.findIndex((other) => other.direction === direction && other.mark === 'none');
      if (at < 0) break;
      together.push(...left.splice(at, 1));
    }
    const isBatch = together.length > 1;
    const totalMinor = together.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
    entries.push({
      lines: together,
      extraMinor: 0n,
      hasDetails: isBatch || random() < 0.5,
      batch: isBatch && random() < 0.7 ? { count: together.length, totalMinor } : null,
    });
  }
  return entries;
}

export interface Figures {
  openingMinor: bigint;
  closingMinor: bigint;
  credits: { count: number; sumMinor: bigint };
  debits: { count: number; sumMinor: bigint };
  netMinor: bigint;
}

export const amountOf = ({ lines, extraMinor }: EntryPlan) =>
  lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0n) + extraMinor;

export function figuresOf(entries: readonly EntryPlan[], openingMinor: bigint): Figures {
  const sum = (direction: EntryDirection) => {
    const some = entries.filter(({ lines }) => lines[0]?.direction === direction);
    return { count: some.length, sumMinor: some.reduce((all, entry) => all + amountOf(entry), 0n) };
  };
  const [credits, debits] = [sum('credit'), sum('debit')];
  const netMinor = credits.sumMinor - debits.sumMinor;
  return { openingMinor, closingMinor: openingMinor + netMinor, credits, debits, netMinor };
}

const absolute = (amountMinor: bigint) => (amountMinor < 0n ? -amountMinor : amountMinor);
const directionOf = (amountMinor: bigint): EntryDirection => (amountMinor < 0n ? 'debit' : 'credit');

export interface RenderedDay {
  readonly id: string;
  readonly day: string;
  readonly currency: string;
  /** The decimals of the currency, for amounts as text. */
  readonly decimals: number;
  readonly entries: readonly EntryPlan[];
  readonly figures: Figures;
  /** Dates only, without times. */
  readonly isDated: boolean;
}

const NO_MARKS = {
  reversalIndicator: null,
  returnInformation: false,
  returnReason: null,
  bankTransactionCode: null,
  proprietaryCode: null,
};
const marksOf = (mark: Line['mark']) => ({
  ...NO_MARKS,
  returnInformation: mark === 'return',
  bankTransactionCode: mark === 'code' ? 'PMNT/ICDT/RRTN' : null,
});

function headerOf({ id, day, currency, decimals, figures }: RenderedDay, number: number): StatementHeader {
  const text = (minor: bigint) => {
    const digits = absolute(minor)
      .toString()
      .padStart(decimals + 1, '0');
    return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
  };
  const { credits, debits, netMinor, openingMinor, closingMinor } = figures;
  const balance = (code: string, minor: bigint) => ({
    code,
    amountMinor: absolute(minor),
    currency,
    direction: directionOf(minor),
    date: day,
  });
  return {
    item: 'statement',
    number,
    id,
    account: 'GB33BUKB20201555555555',
    currency,
    period: { from: null, to: null },
    balances: [balance('OPBD', openingMinor), balance('CLBD', closingMinor)],
    summary: {
      all: { count: null, sum: null, net: text(netMinor), direction: directionOf(netMinor) },
      credits: { count: credits.count, sum: text(credits.sumMinor) },
      debits: { count: debits.count, sum: text(debits.sumMinor) },
    },
  };
}

/** The items of a statement, as the reader of a file gives them. `firstEntry` counts in the file. */
export function itemsOf(rendered: RenderedDay, number = 1, firstEntry = 1): StatementItem[] {
  const { day, currency, entries, isDated } = rendered;
  const items: StatementItem[] = [headerOf(rendered, number)];
  for (const [index, plan] of entries.entries()) {
    const { lines, hasDetails, batch } = plan;
    const [line] = lines;
    if (line === undefined) continue;
    const entry = firstEntry + index;
    const bookedAt = isDated ? new Date(Date.parse(day)) : line.bookedAt;
    const amount = { amountMinor: amountOf(plan), currency };
    items.push({
      item: 'entry',
      number: entry,
      statement: number,
      ...amount,
      direction: line.direction,
      status: 'BOOK',
      bookedAt,
      amounts: [{ role: 'amount', ...amount }],
      charges: [],
      chargeTotals: [],
      references: hasDetails ? [] : line.references,
      ...marksOf(line.mark),
      reversalIndicator: line.mark === 'reversal' ? true : null,
    });
    for (const [at, { amountMinor, references, mark }] of hasDetails ? lines.entries() : []) {
      items.push({
        item: 'transaction',
        entry,
        number: at + 1,
        batch: 1,
        direction: null,
        amounts: [
          { role: 'instructed', amountMinor: amountMinor * 3n + 7n, currency: currency === 'USD' ? 'CHF' : 'USD' },
          { role: at % 2 === 0 ? 'amount' : 'transaction', amountMinor, currency },
        ],
        charges: [],
        chargeTotals: [],
        references,
        ...marksOf(mark),
      });
    }
    const total = batch === null ? null : { amountMinor: batch.totalMinor, currency };
    const batches =
      batch === null ? [] : [{ batch: 1, count: batch.count, total, direction: line.direction, references: [] }];
    const transactions = hasDetails ? lines.length : 0;
    items.push({ item: 'entry-end', entry, transactions, batches, references: [] });
  }
  items.push({ item: 'statement-end', statement: number, entries: entries.length });
  return items;
}
