import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, type Database, DatabaseUnavailable, type Transaction } from '../../db/driver/client.ts';
import { readClock } from '../../db/frame/clock.ts';
import {
  countUndeliveredWakeups,
  findNextCutOff,
  findNextDeadline,
  isClockMovable,
  moveSandboxClock,
  readClockAhead,
  wakeAllWaiting,
  wakeScheduled,
} from '../../db/frame/sandbox-clock.ts';
import type { Bank } from '../bank/bank.ts';
import { BankError, invalid } from '../bank/wire.ts';

/** Where to move the clock: decided from its present time, in the transaction that moves it. */
export type Destination =
  | { readonly to: 'instant'; readonly instantAfter: (now: Date) => Date; readonly field: string }
  | { readonly to: 'cut-off' | 'deadline' };

/** Far enough for any scheduled payment, and within all dates that the service accepts. */
const YEARS_AHEAD_MAX = 10;

const OPEN_PAUSE_MS = 500;
const WOKEN_WITHIN_MS = 60_000;
const LOOK_INTERVAL_MS = 25;

/** The clock of this sandbox and of the service that it belongs to: one offset, which the service's database holds. */
export class SandboxClock {
  readonly #database: Database;
  #aheadMs: number;

  private constructor(database: Database, aheadMs: number) {
    this.#database = database;
    this.#aheadMs = aheadMs;
  }

  /** Waits for a database that is away: without the time of the service the sandbox cannot run. */
  static async open(databaseUrl: string): Promise<SandboxClock> {
    const database = createDatabase({ url: databaseUrl, maxConnections: 2, applicationName: 'sandbox' });
    for (;;) {
      try {
        if (await isClockMovable(database.reader)) {
          return new SandboxClock(database, await readClockAhead(database.reader));
        }
        throw new Error('the clock of this database may not be moved: `npm start` did not create it');
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable)) throw error;
        await sleep(OPEN_PAUSE_MS);
      }
    }
  }

  readonly now = (): Date => new Date(Date.now() + this.#aheadMs);

  show(): { readonly now: string; readonly offsetSeconds: number } {
    return { now: this.now().toISOString(), offsetSeconds: this.#aheadMs / 1_000 };
  }

  /** Moves the clock; then the bank does what has fallen due there, and the service is woken. */
  async move(destination: Destination, bank: Pick<Bank, 'nextTimerAfter' | 'clockMoved'>): Promise<void> {
    const { aheadMs } = await moveSandboxClock(this.#database, async (tx, now) => {
      const to = await findDestination(tx, destination, { now, bankTimerAt: bank.nextTimerAfter(now) });
      if (to === null) throw nothingWaits(destination.to);
      const field = destination.to === 'instant' ? destination.field : 'advanceToNext';
      if (to <= now) throw invalid(field, `must be after the clock's present time, ${now.toISOString()}`);
      if (to > latest()) throw invalid(field, `must be within ${YEARS_AHEAD_MAX} years of the real time`);
      return to;
    });
    // Of two moves at once, the later one may be heard of first.
    this.#aheadMs = Math.max(this.#aheadMs, aheadMs);
    bank.clockMoved();
    await wakeAllWaiting(this.#database);
    await this.#untilDelivered();
    // Afterwards, because it compares what the service and the bank have booked.
    await wakeScheduled(this.#database);
    await this.#untilDelivered();
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  async #untilDelivered(): Promise<void> {
    const { reader } = this.#database;
    const wokenAt = await readClock(reader);
    const deadline = performance.now() + WOKEN_WITHIN_MS;
    for (;;) {
      const undelivered = await countUndeliveredWakeups(reader, wokenAt);
      if (undelivered === 0) return;
      if (performance.now() > deadline) {
        throw new BankError(
          503,
          'not-all-woken',
          `The clock shows ${this.now().toISOString()}, but Temporal has not received ${undelivered} wake-ups yet. They follow by themselves.`,
        );
      }
      await sleep(LOOK_INTERVAL_MS);
    }
  }
}

async function findDestination(
  tx: Transaction,
  destination: Destination,
  { now, bankTimerAt }: { readonly now: Date; readonly bankTimerAt: Date | null },
): Promise<Date | null> {
  if (destination.to === 'instant') return destination.instantAfter(now);
  if (destination.to === 'cut-off') return findNextCutOff(tx);
  return earliest(await findNextDeadline(tx), bankTimerAt);
}

function nothingWaits(what: string): BankError {
  const message = what === 'cut-off' ? 'No pending transfer has a cut-off ahead.' : 'Nothing waits for a deadline.';
  return new BankError(409, 'nothing-waits', message);
}

function earliest(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}

function latest(): Date {
  const at = new Date();
  at.setUTCFullYear(at.getUTCFullYear() + YEARS_AHEAD_MAX);
  return at;
}
