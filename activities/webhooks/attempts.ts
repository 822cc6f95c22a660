import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../../db/query/database.ts';
import { type AttemptRecord, recordAttempts } from '../../db/webhooks/delivery-claims.ts';
import { webhookAttemptsTotal } from '../common/metrics.ts';

const PAUSE_MS_MIN = 100;
const PAUSE_MS_MAX = 2_000;
/** After this long an unwritten record is dropped: its claim has expired, and the delivery is repeated. */
const RECORD_WITHIN_MS = 120_000;

export type TimedRecord = AttemptRecord & { /** Of performance.now(). */ readonly startedAt: number };

/** Saves attempts in batches: those that end during one write go into the next. */
export class AttemptRecorder {
  readonly #options: { readonly database: Database; readonly disableAfterHours: number; readonly logger: Logger };
  #pending: TimedRecord[] = [];
  #writing: Promise<void> | null = null;

  constructor(options: { database: Database; disableAfterHours: number; logger: Logger }) {
    this.#options = options;
  }

  get isPending(): boolean {
    return this.#writing !== null || this.#pending.length > 0;
  }

  /** Resolves at once or, with `last`, when the record is written: only then is the queue finished. */
  async add(record: TimedRecord, last: boolean): Promise<void> {
    this.#pending.push(record);
    const written = this.flush();
    if (last) await written;
  }

  /** Resolves when everything added before is written or dropped. */
  async flush(): Promise<void> {
    const own = this.#pending;
    while (this.#writing !== null) await this.#writing;
    if (this.#pending !== own || own.length === 0) return;
    this.#writing = this.#write();
    await this.#writing;
  }

  async #write(): Promise<void> {
    // Attempts that end in the same turn of the event loop share a write.
    await sleep(1);
    const records = this.#pending;
    this.#pending = [];
    const giveUpAt = performance.now() + RECORD_WITHIN_MS;
    for (let pauseMs = PAUSE_MS_MIN; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
      try {
        await this.#writeOnce(records);
        break;
      } catch (error) {
        this.#options.logger.warn({ records: records.length, error }, 'webhook attempts could not be recorded');
        if (performance.now() > giveUpAt) break;
        await sleep(pauseMs);
      }
    }
    this.#writing = null;
  }

  async #writeOnce(records: readonly TimedRecord[]): Promise<void> {
    const { database, disableAfterHours, logger } = this.#options;
    const aged = records.map(({ startedAt, ...record }) => ({
      ...record,
      ageMs: Math.round(performance.now() - startedAt),
    }));
    const disabled = await database.transaction((tx) => recordAttempts(tx, aged, disableAfterHours));
    for (const { status } of records) webhookAttemptsTotal.inc({ status });
    for (const { id, reason } of disabled) {
      logger.error({ webhookSubscriptionId: id, reason }, 'webhook subscription disabled');
    }
  }
}
