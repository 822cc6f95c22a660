import { setTimeout as sleep } from 'node:timers/promises';
import type { SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { drizzle, type PgRemoteDatabase } from 'drizzle-orm/pg-proxy';
import type { Connection } from './connection.ts';
import { surviveDriverFault } from './driver-fault.ts';
import { DatabaseUnavailable, isRepeatable } from './failures.ts';
import { Listener } from './listener.ts';
import { Pool } from './pool.ts';

export { DatabaseUnavailable, errorDetail, LockTimeout, sqlState, uniqueViolation } from './failures.ts';

const DEADLINE_DEFAULT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 5_000;
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

declare const transactionBrand: unique symbol;

/** A Reader inside a transaction. Statements keep their order and may be sent without awaiting the one before. */
export interface Transaction extends Reader {
  readonly [transactionBrand]?: never;
  /** Tells a transaction from a reader. */
  readonly inTransaction: true;
}

export interface TransactionOptions {
  /** For waiting for a connection and all attempts together; default 10 s. */
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
  /** Moves `service_now()`: an interval in Postgres's words. For tests; unset in production. */
  readonly clockOffset?: () => string;
}

const dialect = new PgDialect();

export function createDatabase(options: DatabaseOptions): Database {
  const connectionOptions = {
    url: options.url,
    applicationName: options.applicationName,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    statementTimeoutMs: DEADLINE_DEFAULT_MS,
  };
  const pool = new Pool(connectionOptions, options.maxConnections);
  const listener = new Listener(connectionOptions);
  const forgetFaults = surviveDriverFault((reason) => pool.renew(reason));
  const readClockOffset = options.clockOffset ?? null;

  async function single<Value>(run: (connection: Connection) => Promise<Value>): Promise<Value> {
    const connection = pool.takeIdle() ?? (await pool.acquire(DEADLINE_DEFAULT_MS));
    const timer = setTimeout(() => missDeadline(pool, connection), DEADLINE_DEFAULT_MS);
    try {
      if (readClockOffset !== null) await setClockOffset(connection, readClockOffset());
      return await run(connection);
    } finally {
      clearTimeout(timer);
      pool.release(connection);
    }
  }

  const reader = readerOver(
    (text, params) => single((connection) => connection.run(text, params)),
    (text, params) => single((connection) => connection.runArrays(text, params)),
  );

  async function transaction<T>(work: (tx: Transaction) => Promise<T>, given: TransactionOptions = {}): Promise<T> {
    const deadlineMs = given.deadlineMs ?? DEADLINE_DEFAULT_MS;
    const endsAt = performance.now() + deadlineMs;
    for (let attempt = 1; ; attempt += 1) {
      const remainingMs = Math.max(1, endsAt - performance.now());
      const connection = pool.takeIdle() ?? (await pool.acquire(remainingMs));
      try {
        const timeLeftMs = Math.max(1, endsAt - performance.now());
        return await underDeadline(pool, connection, timeLeftMs, () =>
          attemptTransaction(connection, work, timeLeftMs, given.lockTimeoutMs ?? 0, readClockOffset?.() ?? null),
        );
      } catch (error) {
        const waitMs = Math.random() * 10 * 2 ** attempt;
        if (!isRepeatable(error) || attempt >= ATTEMPTS_MAX || performance.now() + waitMs >= endsAt) throw error;
        await sleep(waitMs);
      }
    }
  }

  return {
    transaction,
    reader,
    statement: reader.statement,
    listen: (channel, onNotify) => listener.listen(channel, onNotify),
    notify: async (channel) => {
      await reader.statement('select pg_notify($1, $2)', [channel, '']);
    },
    close: async () => {
      await listener.close();
      await pool.close(CLOSE_TIMEOUT_MS);
      forgetFaults();
    },
  };

  /** Releases the connection when the attempt is over on it; one that missed the deadline is gone by then. */
  async function underDeadline<T>(
    from: Pool,
    connection: Connection,
    deadlineMs: number,
    attempt: () => Promise<T>,
  ): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const missed = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        missDeadline(from, connection);
        reject(new DatabaseUnavailable('the deadline was missed'));
      }, deadlineMs);
    });
    try {
      return await Promise.race([attempt(), missed]);
    } finally {
      clearTimeout(timer);
      from.release(connection);
    }
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

async function attemptTransaction<T>(
  connection: Connection,
  work: (tx: Transaction) => Promise<T>,
  deadlineMs: number,
  lockTimeoutMs: number,
  clockOffset: string | null,
): Promise<T> {
  if (clockOffset !== null) await setClockOffset(connection, clockOffset);
  let open = true;
  let failure: { error: unknown } | null = null;
  const inOrder = async <Value>(start: () => Promise<Value>): Promise<Value> => {
    if (!open) throw new Error('a statement was sent after its transaction had ended');
    try {
      return await start();
    } catch (error) {
      failure ??= { error };
      throw error;
    }
  };
  const settings = [
    `set local transaction_timeout = ${Math.ceil(deadlineMs) + 1_000}`,
    `set local statement_timeout = ${Math.ceil(deadlineMs) + 500}`,
    `set local lock_timeout = ${Math.ceil(lockTimeoutMs)}`,
  ];
  // Sent ahead without waiting: what follows reaches Postgres behind it, and if it fails nothing that follows is executed.
  const began = connection.simple(`begin; ${settings.join('; ')}`);
  began.catch(() => {});
  const tx: Transaction = {
    ...readerOver(
      (text, params) => inOrder(() => connection.run(text, params)),
      (text, params) => inOrder(() => connection.runArrays(text, params)),
    ),
    inTransaction: true,
  };
  try {
    const result = await work(tx);
    open = false;
    await began;
    const committed = await connection.simple('commit');
    if (committed.command === 'COMMIT') return result;
    // A statement failed, `work` went on as if it had not, and Postgres rolled back.
    const { error } = failure ?? { error: new Error('the transaction was rolled back by Postgres') };
    throw error;
  } catch (error) {
    open = false;
    if (!connection.isLost) await connection.simple('rollback').catch(() => connection.retire('the rollback failed'));
    throw error;
  }
}

type Runner = <Row>(text: string, params: readonly unknown[]) => Promise<Row[]>;
type ArrayRunner = (text: string, params: readonly unknown[]) => Promise<unknown[][]>;

function readerOver(run: Runner, runArrays: ArrayRunner): Reader {
  let builder: PgRemoteDatabase | null = null;
  return {
    execute<Row>(query: SQL): Promise<Row[]> {
      const { sql: text, params } = dialect.sqlToQuery(query);
      return run<Row>(text, params);
    },
    statement: run,
    get drizzle() {
      builder ??= drizzle(async (text, params, method) => ({
        rows: method === 'all' ? await runArrays(text, params) : await run(text, params),
      }));
      return builder;
    },
  };
}
