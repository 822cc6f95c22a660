import { newId } from '../../db/frame/ids.ts';
import { isCompared, readStartOf, saveReconciliation } from '../../db/reconciliation/days.ts';
import { listBookedBefore, listUnchangedSince } from '../../db/reconciliation/earlier-bookings.ts';
import {
  type FoundBreak,
  type RecordedBreak,
  recordBreaks,
  resolveGoneBreaks,
  resolveMissing,
} from '../../db/reconciliation/found-breaks.ts';
import {
  carryOver,
  forgetCarriedOver,
  forgetMovements,
  listCarriedOver,
  type StagedMovement,
  type Sum,
  stageOurs,
  stageTheirs,
  sumMovements,
  walkMovements,
} from '../../db/reconciliation/movements.ts';
import { type Position, readStandings } from '../../db/reconciliation/statements.ts';
import { isUuid, type ReconciliationId } from '../../domain/frame/ids.ts';
import { addDays, type LocalDate } from '../../domain/frame/time/dates.ts';
import {
  BOUNDARY_MS,
  byPayment,
  isUndoing,
  judgeOnlyOurs,
  judgeOnlyTheirs,
  judgePayment,
  type Movement,
  windowOf,
} from '../../domain/reconciliation/daily-reconciliation.ts';
import { movementElsewhere } from '../../domain/reconciliation/payment-parts.ts';
import type { PaymentKey, Standing } from '../../domain/reconciliation/reconciliation.ts';
import type { ActivityDependencies } from '../frame/dependencies.ts';
import type { CallOptions, Provider } from '../providers/port.ts';
import { lookUp } from './reconciliation.ts';
import type { StatementSource } from './statement-sources.ts';

type Dependencies = Pick<ActivityDependencies, 'database' | 'logger'>;

/** Postings of one statement, and movements read or judged at a time. */
const PAGE = 1_000;
/** Payments whose circumstances are read together. */
const BATCH = 200;
/** A statement that lacks everything must not have every payment looked up. */
const LOOK_UPS_MAX = 1_000;
/** Transactions that overlap end within this time, so no posting after it belongs to the day. */
const POSTED_LATE_MS = 3_600_000;
const DAY_MS = 86_400_000;

export interface DayToCompare {
  readonly position: Position;
  readonly day: LocalDate;
  readonly source: StatementSource;
  /** Answers look-ups of single payments. */
  readonly provider: Provider;
}

interface KnownDay extends DayToCompare {
  /** The day before has not been compared. */
  readonly isFirst: boolean;
}

export interface ComparedDay {
  readonly id: ReconciliationId;
  readonly sums: readonly Sum[];
  /** Found or seen again now, resolved ones too; those in `gone` are no longer found. */
  readonly found: readonly RecordedBreak[];
  readonly gone: readonly RecordedBreak[];
}

/**
 * Compares one day of a provider's statement with our ledger, movement by movement. Both sides are staged in Postgres and read
 * back payment by payment, so memory holds a page, however long the day. Posts nothing. Safe to repeat: the same day has the
 * same row and the same breaks.
 */
export async function compareDay(
  { database, logger }: Dependencies,
  compared: DayToCompare,
  call: CallOptions,
): Promise<ComparedDay> {
  const { reader } = database;
  const { position, day } = compared;
  const runId = newId();
  // What belongs to such a day may be on the statement of the day before.
  const isFirst = !(await isCompared(reader, position, addDays(day, -1)));
  const comparison = new Comparison(database, { ...compared, isFirst }, runId, call);
  try {
    const unreadable = await stageStatement(reader, { ...compared, isFirst }, runId, call);
    const postingId = await stageLedger(reader, compared, runId);
    await comparison.recordUnreadable(unreadable);
    for await (const payment of byPayment(walkMovements(reader, runId, PAGE))) await comparison.judge(payment);
    await comparison.finish();
    const { found, gone } = comparison;
    const sums = await sumMovements(reader, runId);
    gone.push(...(await resolveGoneBreaks(reader, position, day, runId)));
    await forgetCarriedOver(reader, position, day, runId);
    const id = await saveReconciliation(reader, position, day, { sums, postingId, source: compared.source.kind });
    const open = found.filter(({ status }) => status === 'open');
    for (const { kind, reference } of open) {
      logger.error({ ...position, day, kind, reference }, 'the provider’s statement of the day and our books differ');
    }
    logger.info({ ...position, day, breaks: open.length, gone: gone.length }, 'day reconciled');
    return { id, sums, found, gone };
  } finally {
    await forgetMovements(reader, runId);
  }
}

async function stageStatement(
  reader: Dependencies['database']['reader'],
  { day, source, isFirst }: KnownDay,
  runId: string,
  call: CallOptions,
): Promise<readonly string[]> {
  const { from, to } = windowOf(day);
  const unreadable: string[] = [];
  const range = {
    from: new Date(from.getTime() - (isFirst ? DAY_MS : BOUNDARY_MS)),
    to: new Date(to.getTime() + BOUNDARY_MS),
  };
  for await (const page of source.pages(range, call)) {
    const movements = page.movements.map((one): StagedMovement => {
      const ofDay = one.bookedAt >= from && one.bookedAt < to;
      return { ...one, side: 'provider', resourceId: null, ofDay };
    });
    for (let start = 0; start < movements.length; start += PAGE) {
      await stageTheirs(reader, runId, movements.slice(start, start + PAGE));
    }
    unreadable.push(...page.unreadable);
  }
  return unreadable;
}

/** The last posting of the day, from which a later day may begin to read. */
async function stageLedger(
  reader: Dependencies['database']['reader'],
  { position, day }: DayToCompare,
  runId: string,
): Promise<bigint> {
  const { from, to } = windowOf(day);
  const end = new Date(to.getTime() + POSTED_LATE_MS);
  let after = await readStartOf(reader, position, day);
  let lastOfDay = after;
  for (;;) {
    const staged = await stageOurs(reader, runId, position, { after, from, to, marginMs: BOUNDARY_MS, limit: PAGE });
    const { postings, lastId, lastPostedAt } = staged;
    lastOfDay = staged.lastOfDay ?? lastOfDay;
    if (lastId === null || lastPostedAt === null || postings < PAGE || lastPostedAt >= end) return lastOfDay;
    after = lastId;
  }
}

/** One run over the payments of a day: judges, looks into what only one side has, and records, some at a time. */
class Comparison {
  readonly found: RecordedBreak[] = [];
  readonly gone: RecordedBreak[] = [];
  readonly #database: Dependencies['database'];
  readonly #reader: Dependencies['database']['reader'];
  readonly #compared: KnownDay;
  readonly #runId: string;
  readonly #call: CallOptions;
  readonly #recorded = new Set<string>();
  #breaks: FoundBreak[] = [];
  #oneSided: Movement[] = [];
  #lookUpsLeft = LOOK_UPS_MAX;

  constructor(database: Dependencies['database'], compared: KnownDay, runId: string, call: CallOptions) {
    this.#database = database;
    this.#reader = database.reader;
    this.#compared = compared;
    this.#runId = runId;
    this.#call = call;
  }

  async recordUnreadable(references: readonly string[]): Promise<void> {
    const nothing = { direction: null, movement: null, expected: null, actual: null, resourceId: null };
    for (const reference of new Set(references)) {
      this.#breaks.push({ ...nothing, kind: 'statement-entry-unreadable', reference });
      if (this.#breaks.length >= BATCH) await this.#record();
    }
  }

  async judge(payment: readonly Movement[]): Promise<void> {
    const { breaks, oneSided } = judgePayment(payment);
    this.#breaks.push(...breaks);
    this.#oneSided.push(...oneSided);
    if (this.#oneSided.length >= BATCH) await this.#lookInto();
    if (this.#breaks.length >= BATCH) await this.#record();
  }

  async finish(): Promise<void> {
    await this.#lookInto();
    await this.#record();
  }

  async #record(): Promise<void> {
    const { position, day } = this.#compared;
    const breaks = this.#breaks;
    if (breaks.length === 0) return;
    this.#breaks = [];
    const late = breaks.filter(({ kind }) => kind === 'statement-booked-late');
    const run = { runId: this.#runId, day, recorded: this.#recorded };
    const [found, gone] = await this.#database.transaction(async (tx) => [
      await recordBreaks(tx, position, run, breaks),
      await resolveMissing(tx, position, late),
    ]);
    for (const { id } of found) this.#recorded.add(id);
    this.found.push(...found);
    this.gone.push(...gone);
  }

  async #lookInto(): Promise<void> {
    const movements = this.#oneSided;
    if (movements.length === 0) return;
    this.#oneSided = [];
    const { position, day, isFirst } = this.#compared;
    const carried = await listCarriedOver(this.#reader, position, day, movements);
    const alone = [...carried, ...movements];
    const standings = await this.#standingsOf(movements);
    const bookedBefore = await this.#bookedBeforeDay(movements);
    for (const movement of movements) {
      const ourStanding = standings.get(textOf(movement)) ?? null;
      const elsewhere = movementElsewhere(movement, alone);
      const answer = async (isWanted: boolean) =>
        isWanted && elsewhere === null ? await this.#ask(movement) : undefined;
      if (movement.side === 'provider') {
        const isWanted = isUndoing(movement) || ourStanding !== null;
        const isBookedBefore = !isFirst && bookedBefore.has(movement);
        const known = { ours: elsewhere, ourStanding, bookedBefore: isBookedBefore, answer: await answer(isWanted) };
        this.#breaks.push(...judgeOnlyTheirs(movement, known));
      } else {
        const isOnOtherStatement = elsewhere !== null;
        this.#breaks.push(...judgeOnlyOurs(movement, { isOnOtherStatement, ourStanding, answer: await answer(true) }));
      }
    }
    await carryOver(this.#reader, position, day, this.#runId, movements);
  }

  async #standingsOf(movements: readonly Movement[]): Promise<ReadonlyMap<string, Standing>> {
    const standings = new Map<string, Standing>();
    for (const direction of ['in', 'out', 'opening'] as const) {
      const references = referencesOf(movements, direction);
      if (references.length === 0) continue;
      const read = await readStandings(this.#reader, this.#compared.position, direction, references);
      for (const [reference, standing] of read) standings.set(textOf({ direction, reference }), standing);
    }
    return standings;
  }

  /** Of the statement's movements those that our books had before the day; of what was undone, if nothing has changed since. */
  async #bookedBeforeDay(movements: readonly Movement[]): Promise<ReadonlySet<Movement>> {
    const { position, day } = this.#compared;
    const before = new Date(windowOf(day).from.getTime() - BOUNDARY_MS);
    const theirs = movements.filter(({ side }) => side === 'provider');
    const known = async (list: typeof listBookedBefore, some: readonly Movement[]) => {
      const references = { out: referencesOf(some, 'out').filter(isUuid), in: referencesOf(some, 'in') };
      const keys = new Set((await list(this.#reader, position, before, references)).map(textOf));
      return some.filter((movement) => keys.has(textOf(movement)));
    };
    const paid = theirs.filter((movement) => !isUndoing(movement));
    return new Set([
      ...(await known(listBookedBefore, paid)),
      ...(await known(listUnchangedSince, theirs.filter(isUndoing))),
    ]);
  }

  async #ask(key: PaymentKey): Promise<Standing | null | undefined> {
    if (this.#lookUpsLeft === 0) return undefined;
    this.#lookUpsLeft -= 1;
    return lookUp(this.#compared.provider, key, this.#call);
  }
}

function referencesOf(movements: readonly Movement[], direction: PaymentKey['direction']): string[] {
  return movements.filter((one) => one.direction === direction).map(({ reference }) => reference);
}

function textOf({ direction, reference }: PaymentKey): string {
  return `${direction} ${reference}`;
}
