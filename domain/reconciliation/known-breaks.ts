import type { LocalDate } from '../common/time/dates.ts';
import type { Facts } from './daily-reconciliation.ts';
import { isNothing, type Totals } from './day-balance.ts';
import { BOUNDARY_MS, type MovementKind, windowOf } from './movements.ts';
import type { BreakStatus } from './reconciliation.ts';

/** The traits that distinguish a break from the others of its payment. */
export interface BreakTraits {
  readonly kind: string;
  readonly reference: string;
  /** Null for an entry that cannot be read. */
  readonly movement: MovementKind | null;
  readonly expected: Facts | null;
  readonly actual: Facts | null;
}

/** A break that a comparison has found. */
export interface FoundTraits extends BreakTraits {
  readonly effect: Totals;
}

export interface KnownBreak extends BreakTraits {
  readonly id: string;
  readonly status: BreakStatus;
  /** Null if no daily comparison has found it yet. */
  readonly day: LocalDate | null;
  /** Distinguishes breaks of one payment, kind and day; from 1. */
  readonly part: number;
  readonly foundAt: Date;
  /** This comparison has already found it. */
  readonly isTaken: boolean;
}

/** The row in which a found break is recorded: that of a known break, or a new one. */
export interface BreakRow {
  readonly id: string | null;
  readonly part: number;
}

type IsSame = (found: FoundTraits, known: KnownBreak, day: LocalDate) => boolean;

const ALL_FACTS = ['amountMinor', 'account', 'date'] as const satisfies readonly (keyof Facts)[];

/** From certain to likely: a later rule never changes an earlier match. */
const RULES: readonly IsSame[] = [
  (found, known, day) => known.day === day && known.movement === found.movement && agree(found, known, ALL_FACTS),
  // The statements of two days may show one break, such as an unreadable entry. A break that changes a day's sums stays with that day.
  (found, known) =>
    isNothing(found.effect) && known.day !== null && isOfMovement(found, known) && agree(found, known, ALL_FACTS),
  // Some or all of its facts have changed.
  (found, known, day) => isOfDay(found, known, day) && agree(found, known, ['amountMinor', 'account']),
  (found, known, day) => isOfDay(found, known, day) && agree(found, known, ['amountMinor']),
  isOfDay,
  // The frequent comparison has found it since the day began.
  (_, known, day) => known.day === null && known.foundAt.getTime() >= windowOf(day).from.getTime() - BOUNDARY_MS,
];

function isOfDay(found: BreakTraits, known: KnownBreak, day: LocalDate): boolean {
  return known.day === day && isOfMovement(found, known);
}

function isOfMovement(found: BreakTraits, known: KnownBreak): boolean {
  return known.movement === found.movement;
}

function agree(one: BreakTraits, other: BreakTraits, facts: readonly (keyof Facts)[]): boolean {
  return (['expected', 'actual'] as const).every((side) => {
    const [first, second] = [one[side], other[side]];
    if (first === null || second === null) return first === second;
    return facts.every((fact) => first[fact] === second[fact]);
  });
}

/**
 * Matches found breaks with the known breaks of their payments, in the order of `found`. Each known break is matched at most once, and
 * every other found break is new, so that no break overwrites another.
 */
export function matchKnownBreaks(
  found: readonly FoundTraits[],
  known: readonly KnownBreak[],
  day: LocalDate,
): BreakRow[] {
  const groups = new Map<string, { readonly found: FoundTraits[]; readonly known: KnownBreak[] }>();
  for (const one of found) {
    const group = groups.get(paymentOf(one)) ?? { found: [], known: [] };
    group.found.push(one);
    groups.set(paymentOf(one), group);
  }
  for (const one of known) groups.get(paymentOf(one))?.known.push(one);
  const rows = new Map([...groups.values()].flatMap((group) => [...rowsFor(group.found, group.known, day)]));
  return found.map((one) => rows.get(one) ?? { id: null, part: 1 });
}

function rowsFor(
  found: readonly FoundTraits[],
  known: readonly KnownBreak[],
  day: LocalDate,
): ReadonlyMap<FoundTraits, BreakRow> {
  const matched = new Map<FoundTraits, KnownBreak>();
  // Of two breaks with the same facts, the open one comes first: the facts do not distinguish the payments.
  const left = known.filter(({ isTaken }) => !isTaken).sort(openFirst);
  for (const isSame of RULES) {
    for (const one of found) {
      if (matched.has(one)) continue;
      const at = left.findIndex((candidate) => isSame(one, candidate, day));
      const [match] = at < 0 ? [] : left.splice(at, 1);
      if (match !== undefined) matched.set(one, match);
    }
  }
  const taken = new Set(known.filter((one) => one.day === day).map(({ part }) => part));
  const rows = new Map<FoundTraits, BreakRow>();
  for (const one of found) {
    const match = matched.get(one);
    const part = match?.day === day ? match.part : firstFree(taken);
    taken.add(part);
    rows.set(one, { id: match?.id ?? null, part });
  }
  return rows;
}

function openFirst(one: KnownBreak, other: KnownBreak): number {
  return Number(one.status === 'resolved') - Number(other.status === 'resolved') || one.part - other.part;
}

function paymentOf({ kind, reference }: BreakTraits): string {
  return `${kind} ${reference}`;
}

function firstFree(taken: ReadonlySet<number>): number {
  let part = 1;
  while (taken.has(part)) part += 1;
  return part;
}
