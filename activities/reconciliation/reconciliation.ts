import { readClock } from '../../db/common/clock.ts';
import { DatabaseUnavailable } from '../../db/postgres/failures.ts';
import type { Reader } from '../../db/query/database.ts';
import type { Position } from '../../db/reconciliation/schema.ts';
import {
  cursorAfter,
  listBooked,
  listCurrencies,
  listOpenDifferences,
  readComparison,
  readStandings,
  recordDifference,
  resolveDifference,
  saveComparison,
} from '../../db/reconciliation/statements.ts';
import {
  type Difference,
  differenceOf,
  type PaymentDifference,
  type PaymentKey,
  type Standing,
  statementDiffers,
} from '../../domain/reconciliation/reconciliation.ts';
import type { ActivityDependencies } from '../common/dependencies.ts';
import { failureName } from '../common/failures.ts';
import type { Provider } from '../providers/port.ts';
import type { CallOptions } from '../providers/ports/common.ts';
import type { StatementEntry } from '../providers/ports/statement-port.ts';
import { lookUp } from './look-ups.ts';

type Dependencies = Pick<ActivityDependencies, 'database' | 'providers' | 'logger'>;

/** More recent payments may still be missing on one of the two sides. */
const SETTLED_AGE_MS = 5 * 60_000;
/** How far back a position's first comparison goes. */
const FIRST_WINDOW_MS = 7 * 24 * 3_600_000;
const PAGE = 500;
const OPEN_DIFFERENCES_MAX = 1_000;

export interface Compared {
  readonly payments: number;
  /** Found for the first time. */
  readonly differences: number;
  /** Known before, and resolved now. */
  readonly resolved: number;
  /** Positions that could not be compared; the next run continues from the same point. */
  readonly failed: number;
}

const NOTHING: Compared = { payments: 0, differences: 0, resolved: 0, failed: 0 };

/**
 * Compares each provider's statement with our books, payment by payment, from where the last comparison ended. It
 * records each difference once, for a person, resolves those that have disappeared, and posts nothing. An error in
 * one position is logged and counted, and does not stop the others.
 */
export async function compareStatements(
  dependencies: Dependencies,
  call: CallOptions,
  settledAgeMs = SETTLED_AGE_MS,
): Promise<Compared> {
  const { reader } = dependencies.database;
  let sum = NOTHING;
  for (const [code, provider] of dependencies.providers) {
    for (const currency of await listCurrencies(reader, code)) {
      const position = { provider: code, currency };
      const until = new Date((await readClock(reader)).getTime() - settledAgeMs);
      const compared = await comparePosition(dependencies, provider, position, until, call).catch((error: unknown) =>
        countFailure(dependencies, position, error, call),
      );
      sum = {
        payments: sum.payments + compared.payments,
        differences: sum.differences + compared.differences,
        resolved: sum.resolved + compared.resolved,
        failed: sum.failed + compared.failed,
      };
    }
  }
  return sum;
}

/** Without the database, or at shutdown, every other position would fail too. */
function countFailure({ logger }: Dependencies, position: Position, error: unknown, call: CallOptions): Compared {
  if (error instanceof DatabaseUnavailable || call.signal?.aborted) throw error;
  logger.error({ ...position, reason: failureName(error) }, 'a statement could not be compared');
  return { ...NOTHING, failed: 1 };
}

async function comparePosition(
  { database, logger }: Dependencies,
  provider: Provider,
  position: Position,
  until: Date,
  call: CallOptions,
): Promise<Compared> {
  const { reader } = database;
  const record = (key: Parameters<typeof recordDifference>[2], difference: Difference) =>
    database.transaction((tx) => recordDifference(tx, position, key, difference));
  // Its statements are of whole days, which are compared as such.
  if (provider.hasStatementOf !== undefined) {
    return { ...NOTHING, resolved: await resolveGone(reader, provider, position, call) };
  }
  const last = await readComparison(reader, position);
  const from = last?.comparedUntil ?? new Date(until.getTime() - FIRST_WINDOW_MS);
  if (from >= until) return NOTHING;

  const { reported, unreadable } = await readStatement(
    provider,
    { currency: position.currency, from, to: until },
    call,
  );
  const resolved = await resolveGone(reader, provider, position, call);
  const suspects = await suspectsOfStatement(reader, position, reported);
  const booked = await suspectsOfBooks(reader, position, reported, { after: last?.postingId ?? 0n, from, until });
  let differences = 0;
  for (const reference of unreadable) {
    const entry = { direction: null, reference };
    if (!(await record(entry, 'statement-entry-unreadable'))) continue;
    differences += 1;
    logger.error({ ...position, reference }, 'an entry of the provider’s statement cannot be read');
  }
  for (const key of [...suspects, ...booked.suspects]) {
    const standing = reported.get(textOf(key))?.standing ?? null;
    const difference = await compareNow(reader, provider, position, key, standing, call);
    if (difference === null || !(await record(key, difference))) continue;
    differences += 1;
    logger.error({ ...position, ...key, difference }, 'the provider’s statement and our ledger differ');
  }
  await saveComparison(reader, position, { comparedUntil: until, postingId: booked.postingId });
  const payments = reported.size + booked.suspects.length;
  if (payments + resolved > 0) logger.info({ ...position, payments, differences, resolved }, 'statement compared');
  return { payments, differences, resolved, failed: 0 };
}

/** What a statement reports of each payment, keyed by `textOf`. */
export type ReportedPayments = ReadonlyMap<string, { readonly key: PaymentKey; readonly standing: Standing }>;

export interface ReadStatement {
  readonly reported: ReportedPayments;
  /** References of entries that could not be read. */
  readonly unreadable: ReadonlySet<string>;
}

/** Reads the statement of a period. The last entry of a payment determines its standing. */
export async function readStatement(
  provider: Provider,
  range: { readonly currency: string; readonly from: Date; readonly to: Date },
  call: CallOptions,
): Promise<ReadStatement> {
  const reported = new Map<string, { key: PaymentKey; standing: Standing }>();
  const unreadable = new Set<string>();
  for (let after: string | undefined; ; ) {
    const page = await provider.fetchStatement({ ...range, after }, call);
    for (const entry of page.entries) {
      const key = keyOf(entry);
      reported.set(textOf(key), { key, standing: standingAfter(reported.get(textOf(key))?.standing, entry) });
    }
    for (const reference of page.unreadable) unreadable.add(reference);
    if (page.next === null) return { reported, unreadable };
    after = page.next;
  }
}

/** A failure and each return have amounts of their own, since a payment may be returned in parts. */
function standingAfter(before: Standing | undefined, { kind, amountMinor }: StatementEntry): Standing {
  const moved = kind === 'payment-out' || kind === 'payment-in' || kind === 'opening-balance';
  return moved
    ? { amountMinor, moved, undoneMinor: null }
    : {
        amountMinor: before?.amountMinor ?? null,
        moved,
        undoneMinor: (before?.undoneMinor ?? 0n) + amountMinor,
        undoneTimes: (before?.undoneTimes ?? 0) + 1,
      };
}

function keyOf({ kind, serviceProviderId, ourReference }: StatementEntry): PaymentKey {
  if (kind === 'payment-in' || kind === 'payment-in-sent-back')
    return { direction: 'in', reference: serviceProviderId };
  return { direction: kind === 'opening-balance' ? 'opening' : 'out', reference: ourReference ?? serviceProviderId };
}

function textOf({ direction, reference }: PaymentKey): string {
  return `${direction} ${reference}`;
}

/** Payments of the statement that our books lack or show differently. */
async function suspectsOfStatement(
  reader: Reader,
  position: Position,
  reported: ReportedPayments,
): Promise<PaymentKey[]> {
  const suspects: PaymentKey[] = [];
  for (const direction of ['in', 'out', 'opening'] as const) {
    const payments = [...reported.values()].filter(({ key }) => key.direction === direction);
    for (let start = 0; start < payments.length; start += PAGE) {
      const page = payments.slice(start, start + PAGE);
      const references = page.map(({ key }) => key.reference);
      const ours = await readStandings(reader, position, direction, references);
      for (const { key, standing } of page) {
        if (differenceOf(standing, ours.get(key.reference) ?? null) !== null) suspects.push(key);
      }
    }
  }
  return suspects;
}

/** Payments that our books moved in the period and the statement of that period lacks. */
async function suspectsOfBooks(
  reader: Reader,
  position: Position,
  reported: ReportedPayments,
  range: { readonly after: bigint; readonly from: Date; readonly until: Date },
): Promise<{ suspects: PaymentKey[]; postingId: bigint }> {
  const suspects = new Map<string, PaymentKey>();
  let postingId = range.after;
  for (;;) {
    const page = await listBooked(reader, position, { ...range, after: postingId, limit: PAGE });
    for (const { direction, reference } of page) {
      const key = { direction, reference };
      if (reference !== '' && !reported.has(textOf(key))) suspects.set(textOf(key), key);
    }
    postingId = page.at(-1)?.postingId ?? postingId;
    if (page.length < PAGE) break;
  }
  return { suspects: [...suspects.values()], postingId: await cursorAfter(reader, position, range, postingId) };
}

/**
 * Compares a payment again as both sides show it now: it may have arrived in the meantime. If the provider does not answer,
 * the statement counts until the next comparison. The statement's amounts are compared as well: if a provider contradicts
 * itself, a person must resolve it.
 */
async function compareNow(
  reader: Reader,
  provider: Provider,
  position: Position,
  key: PaymentKey,
  reported: Standing | null,
  call: CallOptions,
): Promise<PaymentDifference | null> {
  const there = await lookUp(provider, key, call);
  const ours = (await readStandings(reader, position, key.direction, [key.reference])).get(key.reference) ?? null;
  const difference = differenceOf(there === undefined ? reported : there, ours);
  return difference ?? (statementDiffers(reported, ours) ? 'statement-amount-differs' : null);
}

/** A difference that cannot be looked up stays open. */
async function resolveGone(reader: Reader, provider: Provider, position: Position, call: CallOptions): Promise<number> {
  let resolved = 0;
  const open = await listOpenDifferences(reader, position, OPEN_DIFFERENCES_MAX);
  for (const { id, direction, reference } of open) {
    const there = await lookUp(provider, { direction, reference }, call);
    if (there === undefined) continue;
    const ours = (await readStandings(reader, position, direction, [reference])).get(reference) ?? null;
    if (differenceOf(there, ours) !== null) continue;
    await resolveDifference(reader, id);
    resolved += 1;
  }
  return resolved;
}
