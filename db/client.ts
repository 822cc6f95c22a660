import type { SQL } from 'drizzle-orm';
import type { PgRemoteDatabase } from 'drizzle-orm/pg-proxy';
import { surviveDriverFault } from './driver-fault.ts';
import { Executor, SecondConnectionGuard } from './executor.ts';
import { Listener } from './listener.ts';
import { Pool } from './pool.ts';
import { GatheringReader } from './readers.ts';

export {
  DatabaseUnavailable,
  isTakenNumber,
  LockTimeout,
  sqlState,
  uniqueViolation,
  waitedForRowOf,
} from './failures.ts';

const DEADLINE_DEFAULT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 5_000;

/** Statements on one snapshot of the database each. int8 comes back as bigint, timestamptz as Date, date as text, json parsed. */
export interface Reader {
  /** Executes a drizzle `sql` template. `numeric` (also `sum` of int8) comes back as text: cast it. */
  execute<Row = Record<string, unknown>>(query: SQL): Promise<Row[]>;
  /** Executes text with $1… parameters; the least that a statement can cost. Prepared once per connection. */
  statement<Row = Record<string, unknown>>(text: string, params: readonly unknown[]): Promise<Row[]>;
  /**
   * The row with this id, by constant text whose only parameter is a list of ids (`… where id = any (${LISTED_IDS})`) and
   * whose rows show theirs as `id`. Outside of transactions, look-ups that come together share one round trip.
   */
  find<Row extends { readonly id: string }>(text: string, id: string): Promise<Row | null>;
  /** The drizzle query builder. */
  readonly drizzle: PgRemoteDatabase;
}

/** A Reader inside a transaction. Statements keep their order and may be sent without awaiting the one before. */
export interface Transaction extends Reader {
  /** So that a mere reader does not pass for a transaction. */
  readonly inTransaction: true;
}

/**
 * For a statement that was sent and that nobody waits for: when it fails, nothing is committed, and the transaction
 * rejects with its error. It saves the round trip of an answer that says nothing.
 */
export function leaveToCommit(statement: Promise<unknown>): void {
  statement.catch(() => {});
}

export interface TransactionOptions {
  /** For waiting for a connection and all attempts together; default: that of the database. */
  readonly deadlineMs?: number;
  /** How long one statement may wait for a lock before LockTimeout; default: no limit but the deadline. */
  readonly lockTimeoutMs?: number;
}

export interface Database {
  /**
   * The one helper that makes transactions (READ COMMITTED). `work` must be repeatable: after a deadlock, or when it drew
   * a transaction number that is taken, it is called again.
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
  /** Refuses a second connection inside a transaction. For tests: it slows every promise of the process. */
  readonly guardsTransactions?: boolean;
}

export function createDatabase(options: DatabaseOptions): Database {
  const deadlineDefaultMs = options.deadlineMs ?? DEADLINE_DEFAULT_MS;
  const connectionOptions = {
    url: options.url,
    applicationName: options.applicationName,
    connectTimeoutMs: Math.min(CONNECT_TIMEOUT_MS, deadlineDefaultMs),
    deadlineMs: deadlineDefaultMs,
  };
  const pool = new Pool(connectionOptions, options.maxConnections);
  const executor = new Executor(
    pool,
    deadlineDefaultMs,
    options.clockOffset ?? null,
    options.guardsTransactions === true ? new SecondConnectionGuard() : null,
  );
  const listener = new Listener(connectionOptions);
  const forgetFault = surviveDriverFault((reason) => pool.renew(reason));
  const reader = new GatheringReader(
    (text, params) => executor.single((connection) => connection.run(text, params)),
    (text, params) => executor.single((connection) => connection.runArrays(text, params)),
  );
  return {
    transaction: (work, given = {}) => executor.transaction(work, given),
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
