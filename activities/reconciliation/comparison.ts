import { listBookings } from '../../db/reconciliation/bookings.ts';
import {
  type RecordedBreak,
  recordBreaks,
  reopenContradicted,
  resolveMissing,
} from '../../db/reconciliation/found-breaks.ts';
import { carryOver, listCarriedOver } from '../../db/reconciliation/movements.ts';
import type { Position } from '../../db/reconciliation/schema.ts';
import { readStandings } from '../../db/reconciliation/statements.ts';
import type { LocalDate } from '../../domain/common/time/dates.ts';
import {
  classifyPayment,
  type DailyBreak,
  earlierProviderBooking,
  foundOnLaterStatement,
} from '../../domain/reconciliation/daily-reconciliation.ts';
import { NOTHING, plus, type Totals } from '../../domain/reconciliation/day-balance.ts';
import type { OneSided } from '../../domain/reconciliation/movement-matching.ts';
import type { Movement } from '../../domain/reconciliation/movements.ts';
import { OneSidedMovements } from '../../domain/reconciliation/one-sided.ts';
import type { PaymentKey, Standing } from '../../domain/reconciliation/reconciliation.ts';
import { combineRepeatedBreaks } from '../../domain/reconciliation/repeated-breaks.ts';
import type { ActivityDependencies } from '../common/dependencies.ts';
import type { Provider } from '../providers/port.ts';
import type { CallOptions } from '../providers/ports/common.ts';
import { lookUp } from './look-ups.ts';
import type { StatementSource } from './statement-sources.ts';

type Database = ActivityDependencies['database'];

/** Payments that are examined together. */
const BATCH = 200;
/** Look-ups per run, so that a statement without any entry does not cause one for every payment. */
const LOOK_UPS_MAX = 1_000;

export interface DayToCompare {
  readonly position: Position;
  readonly day: LocalDate;
  readonly source: StatementSource;
  /** For look-ups of single payments. */
  readonly provider: Provider;
}

/** One run over the payments of a day: classifies movements, examines the one-sided ones and records breaks, in batches. */
export class Comparison {
  readonly found: RecordedBreak[] = [];
  readonly gone: RecordedBreak[] = [];
  readonly #database: Database;
  readonly #reader: Database['reader'];
  readonly #compared: DayToCompare;
  readonly #runId: string;
  readonly #call: CallOptions;
  readonly #recorded = new Set<string>();
  #effects: Totals = NOTHING;
  #breaks: DailyBreak[] = [];
  #oneSided: OneSided[] = [];
  #acrossMidnight: Movement[] = [];
  #lookUpsLeft = LOOK_UPS_MAX;

  constructor(database: Database, compared: DayToCompare, runId: string, call: CallOptions) {
    this.#database = database;
    this.#reader = database.reader;
    this.#compared = compared;
    this.#runId = runId;
    this.#call = call;
  }

  /** The sum of the effects of all breaks that this run has recorded, each counted once, as stored. */
  get effects(): Totals {
    return this.#effects;
  }

  add(found: DailyBreak): void {
    this.#breaks.push(found);
  }

  async recordFull(): Promise<void> {
    if (this.#breaks.length >= BATCH) await this.#record();
  }

  async classify(payment: readonly Movement[]): Promise<void> {
    const { breaks, oneSided, acrossMidnight } = classifyPayment(payment);
    this.#breaks = this.#breaks.concat(breaks);
    this.#oneSided = this.#oneSided.concat(oneSided);
    this.#acrossMidnight = this.#acrossMidnight.concat(acrossMidnight);
    if (this.#oneSided.length + this.#acrossMidnight.length >= BATCH) await this.#examineOneSided();
    await this.recordFull();
  }

  async finish(): Promise<void> {
    await this.#examineOneSided();
    await this.#record();
  }

  async #record(): Promise<void> {
    const { position, day } = this.#compared;
    const breaks = this.#breaks;
    this.#breaks = [];
    // A page of a statement may have more breaks than a batch.
    for (let start = 0; start < breaks.length; start += BATCH) {
      const some = breaks.slice(start, start + BATCH);
      const later = some.flatMap((found) => {
        const expected = foundOnLaterStatement(found);
        return expected === null ? [] : [{ reference: found.reference, movement: found.movement, expected }];
      });
      const run = { runId: this.#runId, day, recorded: this.#recorded };
      const otherwise = some.flatMap((one) => {
        const theirs = earlierProviderBooking(one);
        return theirs === null ? [] : [{ reference: one.reference, day: theirs.day, movement: theirs.movement }];
      });
      const [found, gone, reopened] = await this.#database.transaction(async (tx) => [
        await recordBreaks(tx, position, run, some),
        await resolveMissing(tx, position, later),
        await reopenContradicted(tx, position, otherwise),
      ]);
      for (const one of found) {
        // A break that has taken another's row counts only its own effect: the other's is missing in the sum.
        if (!this.#recorded.has(one.id)) this.#effects = plus(this.#effects, one);
        this.#recorded.add(one.id);
      }
      this.found.push(...found.map(({ id, kind, reference, status }) => ({ id, kind, reference, status })));
      this.found.push(...reopened);
      this.gone.push(...gone);
    }
  }

  async #examineOneSided(): Promise<void> {
    const [found, paired] = [this.#oneSided, this.#acrossMidnight];
    if (found.length + paired.length === 0) return;
    const movements = found.map(({ movement }) => movement);
    [this.#oneSided, this.#acrossMidnight] = [[], []];
    const { position, day } = this.#compared;
    const carried = await listCarriedOver(this.#reader, position, day, movements);
    const theirs = movements.filter(({ side }) => side === 'provider');
    const bookings = await listBookings(this.#reader, position, theirs);
    const oneSided = new OneSidedMovements(day, found, carried, bookings);
    const standings = await this.#standingsOf(movements);
    const breaks: DailyBreak[] = [];
    for (const one of found) {
      const standing = standings.get(textOf(one.movement)) ?? null;
      const answer = oneSided.needsAnswer(one, standing) ? await this.#ask(one.movement) : undefined;
      breaks.push(...oneSided.classify(one, standing, answer));
    }
    this.#breaks = this.#breaks.concat(combineRepeatedBreaks(breaks));
    await carryOver(this.#reader, position, day, this.#runId, oneSided.toCarryOver, paired);
  }

  async #standingsOf(movements: readonly Movement[]): Promise<ReadonlyMap<string, Standing>> {
    const standings = new Map<string, Standing>();
    for (const direction of ['in', 'out', 'opening'] as const) {
      const references = movements.filter((one) => one.direction === direction).map(({ reference }) => reference);
      if (references.length === 0) continue;
      const read = await readStandings(this.#reader, this.#compared.position, direction, references);
      for (const [reference, standing] of read) standings.set(textOf({ direction, reference }), standing);
    }
    return standings;
  }

  async #ask(key: PaymentKey): Promise<Standing | null | undefined> {
    if (this.#lookUpsLeft === 0) return undefined;
    this.#lookUpsLeft -= 1;
    return lookUp(this.#compared.provider, key, this.#call);
  }
}

function textOf({ direction, reference }: PaymentKey): string {
  return `${direction} ${reference}`;
}
