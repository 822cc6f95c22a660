import { newId } from '../../db/common/ids.ts';
import type { Reader } from '../../db/query/database.ts';
import { isCompared, readStartOf, saveReconciliation } from '../../db/reconciliation/days.ts';
import {
  lockBreaks,
  openUnexplained,
  type RecordedBreak,
  resolveGoneBreaks,
  sumEffects,
} from '../../db/reconciliation/found-breaks.ts';
import {
  forgetCarriedOver,
  forgetMovements,
  type StagedMovement,
  stageLedgerMovements,
  stageProviderMovements,
  streamMovements,
  sumMovements,
} from '../../db/reconciliation/movements.ts';
import type { ReconciliationId } from '../../domain/common/ids.ts';
import { addDays } from '../../domain/common/time/dates.ts';
import { statementBreak } from '../../domain/reconciliation/daily-reconciliation.ts';
import {
  type DaySums,
  isNothing,
  minus,
  NOTHING,
  plus,
  type Totals,
  unexplainedOf,
} from '../../domain/reconciliation/day-balance.ts';
import { BOUNDARY_MS, byPayment, windowOf } from '../../domain/reconciliation/movements.ts';
import type { ActivityDependencies } from '../common/dependencies.ts';
import type { CallOptions } from '../providers/ports/common.ts';
import { Comparison, type DayToCompare } from './comparison.ts';

type Dependencies = Pick<ActivityDependencies, 'database' | 'logger'>;

/** Postings of one statement, and movements read or classified at a time. */
const PAGE = 1_000;
/** Overlapping transactions end within this time, so that no later posting belongs to the day. */
const POSTED_LATE_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Concurrent comparisons of a day interfere with each other; the last one to start succeeds. */
const ATTEMPTS_MAX = 5;

export interface ComparedDay {
  readonly id: ReconciliationId;
  readonly sums: DaySums;
  /** Breaks found by this run, including resolved ones. `gone`: breaks that this run did not find again. */
  readonly found: readonly RecordedBreak[];
  readonly gone: readonly RecordedBreak[];
}

/**
 * Compares one day of a provider's statement with our ledger, movement by movement. Both sides are staged in Postgres and read
 * back payment by payment, so memory holds a page, however long the day. Posts nothing. Safe to repeat: the same day has the
 * same row and the same breaks.
 */
export async function compareDay(
  dependencies: Dependencies,
  compared: DayToCompare,
  call: CallOptions,
): Promise<ComparedDay> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const day = await compareOnce(dependencies, compared, call);
    if (day !== null) return day;
  }
  throw new Error(`other comparisons of ${compared.day} at the same time keep changing its breaks`);
}

/** Null if another comparison of the day has changed its breaks in the meantime: the stored breaks then do not explain these sums. */
async function compareOnce(
  { database, logger }: Dependencies,
  compared: DayToCompare,
  call: CallOptions,
): Promise<ComparedDay | null> {
  const { reader } = database;
  const { position, day } = compared;
  const runId = newId();
  const comparison = new Comparison(database, compared, runId, call);
  try {
    const stated = await stageStatement(reader, compared, comparison, runId, call);
    const postingId = await stageLedger(reader, compared, runId);
    for await (const payment of byPayment(streamMovements(reader, runId, PAGE))) await comparison.classify(payment);
    await comparison.finish();
    const staged = await sumMovements(reader, runId);
    const sums = { ours: staged.ours, provider: stated ?? staged.provider };
    await settle(comparison, sums);
    const settled = await database.transaction(async (tx) => {
      await lockBreaks(tx, position);
      const resolved = await resolveGoneBreaks(tx, position, day, runId);
      const explained = isNothing(minus(minus(sums.provider, sums.ours), await sumEffects(tx, position, day)));
      if (!explained) return null;
      await forgetCarriedOver(tx, position, day, runId);
      const opened = await openUnexplained(tx, position, day);
      const saved = { sums, postingId, source: compared.source.kind };
      return { id: await saveReconciliation(tx, position, day, saved), resolved, opened };
    });
    if (settled === null) return null;
    const { id } = settled;
    const found = comparison.found.concat(settled.opened);
    const gone = comparison.gone.concat(settled.resolved);
    const open = found.filter(({ status }) => status === 'open');
    for (const { kind, reference } of open) {
      logger.error({ ...position, day, kind, reference }, 'the provider’s statement of the day and our ledger differ');
    }
    logger.info({ ...position, day, breaks: open.length, gone: gone.length }, 'day reconciled');
    return { id, sums, found, gone };
  } finally {
    await forgetMovements(reader, runId);
  }
}

/**
 * A day is balanced only if its breaks explain the whole difference between its sides. An unexplained rest is a break itself: the
 * comparison then has an error, and the other breaks of the day must not be relied on.
 */
async function settle(comparison: Comparison, sums: DaySums): Promise<void> {
  for (const { direction, expectedMinor, actualMinor, effect } of unexplainedOf(sums, comparison.effects)) {
    const facts = (amountMinor: bigint) => ({ amountMinor, account: null, date: null });
    const [expected, actual] = [facts(expectedMinor), facts(actualMinor)];
    comparison.add(statementBreak({ kind: 'statement-sums-differ', reference: direction, expected, actual, effect }));
  }
  await comparison.finish();
}

/** Stages the statement's movements. Returns its own totals of the day; null if it states none. */
async function stageStatement(
  reader: Reader,
  { day, source, position }: DayToCompare,
  comparison: Comparison,
  runId: string,
  call: CallOptions,
): Promise<Totals | null> {
  const { from, to } = windowOf(day);
  // If the day before was not compared, movements of this day may be on its statement.
  const isFirst = !(await isCompared(reader, position, addDays(day, -1)));
  const range = {
    from: new Date(from.getTime() - (isFirst ? DAY_MS : BOUNDARY_MS)),
    to: new Date(to.getTime() + BOUNDARY_MS),
  };
  const isOfDay = (bookedAt: Date) => bookedAt >= from && bookedAt < to;
  let sum: Totals | null = null;
  for await (const page of source.pages(range, call)) {
    const movements = page.movements.map(
      (one): StagedMovement => ({ ...one, side: 'provider', resourceId: null, ofDay: isOfDay(one.bookedAt) }),
    );
    for (let start = 0; start < movements.length; start += PAGE) {
      await stageProviderMovements(reader, runId, movements.slice(start, start + PAGE));
    }
    for (const { bookedAt, totals } of page.totals ?? []) sum = isOfDay(bookedAt) ? plus(sum ?? NOTHING, totals) : sum;
    if (page.totals !== null) sum ??= NOTHING;
    for (const { bookedAt, found } of page.breaks) if (bookedAt === null || isOfDay(bookedAt)) comparison.add(found);
    await comparison.recordFull();
  }
  return sum;
}

/** Returns the last posting of the day, from which a later day can start reading. */
async function stageLedger(reader: Reader, { position, day }: DayToCompare, runId: string): Promise<bigint> {
  const { from, to } = windowOf(day);
  const end = new Date(to.getTime() + POSTED_LATE_MS);
  let after = await readStartOf(reader, position, day);
  let lastOfDay = after;
  for (;;) {
    const staged = await stageLedgerMovements(reader, runId, position, {
      after,
      from,
      to,
      marginMs: BOUNDARY_MS,
      limit: PAGE,
    });
    const { postings, lastId, lastPostedAt } = staged;
    lastOfDay = staged.lastOfDay ?? lastOfDay;
    if (lastId === null || lastPostedAt === null || postings < PAGE || lastPostedAt >= end) return lastOfDay;
    after = lastId;
  }
}
