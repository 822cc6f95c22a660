import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SQL } from 'drizzle-orm';
import type { PgRemoteDatabase } from 'drizzle-orm/pg-proxy';
import { type Connection, SERVER_TIMEOUTS } from './connection.ts';
import { surviveDriverFault } from './driver-fault.ts';
import { DatabaseUnavailable, isRepeatable } from './failures.ts';
import { Listener } from './listener.ts';
import { Pool } from './pool.ts';
import { StatementReader, TransactionReader } from './readers.ts';

export { DatabaseUnavailable, errorDetail, LockTimeout, sqlState, uniqueViolation } from './failures.ts';

const DEADLINE_DEFAULT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 5_000;
const SERVER_TIMEOUT_MARGIN_MS = 500;
/** Deadlocks and serialization failures are answered by doing the work again, so often. */
const ATTEMPTS_MAX = 4;

/** Statements on one snapshot of the database each. int8 comes back as bigint, timestamptz as Date, date as text, json parsed. */
export interface Reader {
  /** Executes a drizzle `sql` template. `numeric` (also `sum` of int8) comes back as text: cast it. */
  execute<Row = Record<string, unknown>>(query: SQL): Promise<Row[]>;
  /** Executes text with $1… parameters; the least that a statement can cost. Prepared once per connection. */
  statement<Row = Record<string, unknown>>(text: string, params: readonly unknown[]): Promise<Row[]>;
  /** The drizzle query builder. */
  readonly drizzle: PgRemoteDatabase;
}

/** A Reader inside a transaction. Statements keep their order and may be sent without awaiting the one before. */
export interface Transaction extends Reader {
  /** So that a mere reader does not pass for a transaction. */
  readonly inTransaction: true;
}

export interface TransactionOptions {
  /** For waiting for a connection and all attempts together; default: that of the database. */
  readonly deadlineMs?: number;
  /** How long one statement may wait for a lock before LockTimeout; default: no limit but the deadline. */
  readonly lockTimeoutMs?: number;
}

export interface Database {
  /**
   * The one helper that makes transactions (READ COMMITTED). `work` must be repeatable: after a deadlock it is called again.
   * Rejects with DatabaseUnavailable, LockTimeout, or what `work` threw; after DatabaseUnavailable the outcome may be unknown.
   * Never ask `reader` for anything inside `work`: that would take a second connection.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Single statements outside of a transaction; a writing one commits by itself. */
  readonly reader: Reader;
  /** `reader.statement`: one prepared statement, one round trip, committed by itself. The hot path. */
  statement<Row = Record<string, unknown>>(text: string, params: readonly unknown[]): Promise<Row[]>;
  /** `onNotify` is also called with '' after every (re)connection: something may have been missed, look for yourself. */
  listen(channel: string, onNotify: (payload: string) => void): Promise<{ close(): Promise<void> }>;
  /** Outside of transactions, after commit. */
  notify(channel: string): Promise<void>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly maxConnections: number;
  readonly applicationName: string;
  /** How long a statement or transaction may take, waiting for a connection included; default 10 s. */
  readonly deadlineMs?: number;
  /** Moves `service_now()`: an interval in Postgres's words. For tests; unset in production. */
  readonly clockOffset?: () => string;
}

/** The transaction whose `work` is running, for whatever it calls. */
const insideTransaction = new AsyncLocalStorage<TransactionReader>();

/** Under load a second connection inside a transaction is a deadlock of the pool: every holder waits for one more. */
function refuseSecondConnection(): void {
  if (insideTransaction.getStore()?.hasEnded === false) {
    throw new Error('inside a transaction everything goes through tx: a second connection could wait for ever');
  }
}

export function createDatabase(options: DatabaseOptions): Database {
  const deadlineDefaultMs = options.deadlineMs ?? DEADLINE_DEFAULT_MS;
  const connectionOptions = {
    url: options.url,
    applicationName: options.applicationName,
    connectTimeoutMs: Math.min(CONNECT_TIMEOUT_MS, deadlineDefaultMs),
    // A little more than the deadline here: it ends what the server still does for a client that has given up.
    serverTimeoutMs: deadlineDefaultMs + SERVER_TIMEOUT_MARGIN_MS,
  };
  const pool = new Pool(connectionOptions, options.maxConnections);
  const listener = new Listener(connectionOptions);
  const forgetFault = surviveDriverFault((reason) => pool.renew(reason));
  const readClockOffset = options.clockOffset ?? null;

  async function runSingle<Value>(run: (connection: Connection) => Promise<Value>): Promise<Value> {
    let leftMs = deadlineDefaultMs;
    let connection = pool.takeIdle();
    if (connection === null) {
      const startedAt = performance.now();
      connection = await pool.acquire(deadlineDefaultMs);
      leftMs = Math.max(1, deadlineDefaultMs - (performance.now() - startedAt));
    }
    const timer = setTimeout(missDeadline, leftMs, pool, connection);
    try {
      if (readClockOffset !== null) await setClockOffset(connection, readClockOffset());
      return await run(connection);
    } finally {
      clearTimeout(timer);
      pool.release(connection);
    }
  }

  /** One statement is a transaction of its own: when a deadlock refuses it, it may simply be done again. */
  async function single<Value>(run: (connection: Connection) => Promise<Value>): Promise<Value> {
    refuseSecondConnection();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await runSingle(run);
      } catch (error) {
        if (!isRepeatable(error) || attempt >= ATTEMPTS_MAX) throw error;
        await sleep(repeatAfterMs(attempt));
      }
    }
  }

  const reader = new StatementReader(
    (text, params) => single((connection) => connection.run(text, params)),
    (text, params) => single((connection) => connection.runArrays(text, params)),
  );

  async function transaction<T>(work: (tx: Transaction) => Promise<T>, given: TransactionOptions = {}): Promise<T> {
    refuseSecondConnection();
    const deadlineMs = given.deadlineMs ?? deadlineDefaultMs;
    const endsAt = performance.now() + deadlineMs;
    const begin = beginStatement(deadlineMs === deadlineDefaultMs ? null : deadlineMs, given.lockTimeoutMs ?? null);
    for (let attempt = 1; ; attempt += 1) {
      const connection = pool.takeIdle() ?? (await pool.acquire(Math.max(1, endsAt - performance.now())));
      try {
        return await underDeadline(pool, connection, Math.max(1, endsAt - performance.now()), () =>
          attemptTransaction(connection, work, begin, readClockOffset?.() ?? null),
        );
      } catch (error) {
        const waitMs = repeatAfterMs(attempt);
        if (!isRepeatable(error) || attempt >= ATTEMPTS_MAX || performance.now() + waitMs >= endsAt) throw error;
        await sleep(waitMs);
      }
    }
  }

  return {
    transaction,
    reader,
    statement: (text, params) => reader.statement(text, params),
    listen: (channel, onNotify) => listener.listen(channel, onNotify),
    notify: async (channel) => {
      await reader.statement('select pg_notify($1, $2)', [channel, '']);
    },
    close: async () => {
      await listener.close();
      await pool.close(CLOSE_TIMEOUT_MS);
      forgetFault();
    },
  };
}

function repeatAfterMs(attempt: number): number {
  return Math.random() * 10 * 2 ** attempt;
}

/** Gives the connection back when the attempt is over on it; one that missed the deadline is gone by then. */
async function underDeadline<T>(
  pool: Pool,
  connection: Connection,
  deadlineMs: number,
  attempt: () => Promise<T>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const missed = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      missDeadline(pool, connection);
      reject(new DatabaseUnavailable('the deadline was missed'));
    }, deadlineMs);
  });
  try {
    return await Promise.race([attempt(), missed]);
  } finally {
    clearTimeout(timer);
    pool.release(connection);
  }
}

/** Nobody can say whether only this connection hangs: all are replaced. */
function missDeadline(pool: Pool, connection: Connection): void {
  connection.retire('the deadline was missed');
  pool.renew('another connection missed its deadline');
}

async function setClockOffset(connection: Connection, offset: string): Promise<void> {
  if (connection.clockOffset === offset) return;
  await connection.run(`select set_config('service.clock_offset', $1, false)`, [offset]);
  connection.clockOffset = offset;
}

/** The session's own timeouts serve the default deadline; only what differs from them is set. */
function beginStatement(deadlineMs: number | null, lockTimeoutMs: number | null): string {
  const settings: string[] = [];
  if (deadlineMs !== null) {
    const serverTimeoutMs = Math.ceil(deadlineMs) + SERVER_TIMEOUT_MARGIN_MS;
    for (const name of SERVER_TIMEOUTS) settings.push(`set local ${name} = ${serverTimeoutMs}`);
  }
  if (lockTimeoutMs !== null) settings.push(`set local lock_timeout = ${Math.ceil(lockTimeoutMs)}`);
  return ['begin', ...settings].join('; ');
}

async function attemptTransaction<T>(
  connection: Connection,
  work: (tx: Transaction) => Promise<T>,
  begin: string,
  clockOffset: string | null,
): Promise<T> {
  if (clockOffset !== null) await setClockOffset(connection, clockOffset);
  // Sent ahead without waiting: what follows reaches Postgres behind it, and does nothing if it fails.
  const began = connection.simple(begin);
  began.catch(() => {});
  const tx = new TransactionReader(connection);
  try {
    const result = await insideTransaction.run(tx, () => work(tx));
    tx.end();
    await began;
    const committed = await connection.simple('commit');
    if (committed.command === 'COMMIT') return result;
    // A statement failed, `work` went on as if it had not, and Postgres rolled back.
    throw tx.firstFailure ?? new Error('Postgres rolled the transaction back');
  } catch (error) {
    tx.end();
    if (!connection.isLost) await connection.simple('rollback').catch(() => connection.retire('the rollback failed'));
    throw error;
  }
}
