import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase } from '../../db/client.ts';
import { readClock } from '../../db/common/clock.ts';
import {
  countUndeliveredWakeups,
  findNextCutOff,
  findNextDeadline,
  isClockMovable,
  moveSandboxClock,
  readClockAhead,
  wakeAllWaiting,
  wakeScheduled,
} from '../../db/common/sandbox-clock.ts';
import { DatabaseUnavailable } from '../../db/postgres/failures.ts';
import type { Database, Transaction } from '../../db/query/database.ts';
import type { Bank } from '../bank/bank.ts';
import { BankError, invalid } from '../bank/wire.ts';

/** Where to move the clock: computed from its present time, in the transaction that moves it. */
export type Destination =
  | { readonly to: 'instant'; readonly instantAfter: (now: Date) => Date; readonly field: string }
  | { readonly to: 'cut-off' | 'deadline' };

/** Far enough for any scheduled payment, and within all dates that the service accepts. */
const YEARS_AHEAD_MAX = 10;

const OPEN_PAUSE_MS = 500;
const WOKEN_WITHIN_MS = 60_000;
const LOOK_INTERVAL_MS = 25;

/** What goes by the clock, such as a bank. */
export type Timed = Pick<Bank, 'nextTimerAfter' | 'clockMoved'>;

/** The clock of this sandbox and of its service: one offset, which the service's database holds. */
export class SandboxClock {
  readonly #database: Database;
  #aheadMs: number;

  private constructor(database: Database, aheadMs: number) {
    this.#database = database;
    this.#aheadMs = aheadMs;
  }

  /** Waits for an unavailable database: without the service's time the sandbox cannot run. */
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

  /** Moves the clock; then the banks do what has fallen due, and the service is woken. */
  async move(destination: Destination, banks: readonly Timed[]): Promise<void> {
    const { aheadMs } = await moveSandboxClock(this.#database, async (tx, now) => {
      const bankTimerAt = banks.map((bank) => bank.nextTimerAfter(now)).reduce(earliest, null);
      const to = await findDestination(tx, destination, { now, bankTimerAt });
      if (to === null) throw nothingWaits(destination.to);
      const field = destination.to === 'instant' ? destination.field : 'advanceToNext';
      if (to <= now) throw invalid(field, `must be after the clock's present time, ${now.toISOString()}`);
      if (to > latest()) throw invalid(field, `must be within ${YEARS_AHEAD_MAX} years of the real time`);
      return to;
    });
    // Of two concurrent moves, the notification of the later one may arrive first.
    this.#aheadMs = Math.max(this.#aheadMs, aheadMs);
    for (const bank of banks) bank.clockMoved();
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
          `The clock shows ${this.now().toISOString()}, but Temporal has not received ${undelivered} wake-ups yet. They will be delivered without further action.`,
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
  const message = what === 'cut-off' ? 'No pending transfer has a cut-off ahead.' : 'There is no deadline ahead.';
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
