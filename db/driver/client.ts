import type { SQL } from 'drizzle-orm';
import type { PgRemoteDatabase } from 'drizzle-orm/pg-proxy';
import type { ConnectionOptions } from './connection.ts';
import { type CallLimits, limitsOf } from './deadlines.ts';
import { surviveDriverFault } from './driver-fault.ts';
import { Executor, refuseWrite, SecondConnectionGuard } from './executor.ts';
import { Listener } from './listener.ts';
import { Pool } from './pool.ts';
import { BatchingReader } from './readers.ts';
import { type OnSharedFailure, SharedFailures } from './shared-failures.ts';
import { WAKEUPS_CHANNEL, WakeupNudges } from './wakeup-nudges.ts';

export type { CallLimits } from './deadlines.ts';
export {
  CallerGone,
  DatabaseUnavailable,
  isTakenNumber,
  LockTimeout,
  sqlState,
  uniqueViolation,
  waitedForRowOf,
} from './failures.ts';

const DEADLINE_DEFAULT_MS = 10_000;
const LIST_DEADLINE_MS = 2_000;
/** After Postgres has ended a list, for its answer to get here. */
const LIST_ANSWER_MS = 500;
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
  /** The relay is to look once this has committed (`db/frame/workflow-wakeups.ts` says it). */
  noteWakeup(): void;
}

/**
 * For a statement that was sent and that nobody waits for: when it fails, nothing is committed, and the transaction
 * rejects with its error. It saves the round trip of an answer that says nothing.
 */
export function sendWithCommit(statement: Promise<unknown>): void {
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
  /**
   * One statement that writes, committed by itself. Its last parameter, after `params`, is its deadline: the text looks at
   * it by `before_deadline`, before it begins and when it is done, so that nothing is written when its caller has its 503.
   */
  write<Row = Record<string, unknown>>(text: string, params: readonly unknown[], limits?: CallLimits): Promise<Row[]>;
  /** The limits of a call that begins now. */
  limits(): CallLimits;
  /** The same database for one caller: writes are over when its answer is due, and none begins when it is gone. */
  forCaller(limits: CallLimits, reads?: 'lists'): Database;
  /** What all callers' views of this database have in common. */
  shared(): Database;
  /** A statement that several callers shared failed, and each is done alone: right, and slow. */
  noteSharedFailure(statement: string, error: unknown): void;
  /** The relay is to look: a statement of its own, and not a transaction, woke a workflow. */
  noteWakeup(): void;
  /** Called after commits that woke workflows. Without a listener in this process the other processes are notified. */
  onWakeup(listener: () => void): { close(): void };
  /** `onNotify` is also called with '' after every (re)connection: something may have been missed, look for yourself. */
  listen(channel: string, onNotify: (payload: string) => void): Promise<{ close(): Promise<void> }>;
  /** Outside of transactions, after commit. */
  notify(channel: string): Promise<void>;
  /**
   * The same database through one connection of its own, with another deadline, for what may take long. A deadline that is
   * missed there ends that connection alone. The caller closes it.
   */
  apart(options: { readonly deadlineMs: number }): Database;
  close(): Promise<void>;
}

interface ListOptions {
  readonly maxConnections: number;
  /** How long Postgres works on one; default 2 s. */
  readonly deadlineMs?: number;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly maxConnections: number;
  readonly applicationName: string;
  /** How long a statement or transaction may take, waiting for a connection included; default 10 s. */
  readonly deadlineMs?: number;
  /** Connections of their own for lists, so that dear pages hold up no payment; without them lists share those of all. */
  readonly lists?: ListOptions;
  /** Moves `service_now()`: an interval in Postgres's words. For tests; unset in production. */
  readonly clockOffset?: () => string;
  /**
   * Refuses a second connection inside a transaction, and a caller's statement that writes without a deadline. For tests:
   * it slows every promise of the process.
   */
  readonly guardsTransactions?: boolean;
  readonly onSharedFailure?: OnSharedFailure;
}

export function createDatabase(options: DatabaseOptions): Database {
  const { url, applicationName, deadlineMs = DEADLINE_DEFAULT_MS } = options;
  const connectionOptions = {
    url,
    applicationName,
    connectTimeoutMs: Math.min(CONNECT_TIMEOUT_MS, deadlineMs),
    deadlineMs,
  };
  const guard = options.guardsTransactions === true ? new SecondConnectionGuard() : null;
  const readClockOffset = options.clockOffset ?? null;
  const sharedFailures = new SharedFailures(options.onSharedFailure ?? (() => {}));
  const wakeups = new WakeupNudges(() => notify(WAKEUPS_CHANNEL));
  const onWoken = () => wakeups.note();

  const pool = new Pool(connectionOptions, options.maxConnections);
  const executor = new Executor({ pool, deadlineDefaultMs: deadlineMs, readClockOffset, guard, onWoken });
  const reader = readerOf(executor, deadlineMs);
  const callersReader = guard === null ? reader : readerOf(executor, deadlineMs, refuseWrite);
  const lists = options.lists === undefined ? null : listsOf(connectionOptions, options.lists);
  const listExecutor =
    lists && new Executor({ ...lists, deadlineDefaultMs: lists.deadlineMs, readClockOffset, guard, onWoken });
  const listReader = lists && listExecutor ? readerOf(listExecutor, lists.deadlineMs) : callersReader;

  const listener = new Listener(connectionOptions);
  const pools = lists === null ? [pool] : [pool, lists.pool];
  const forgetFault = surviveDriverFault((reason) => {
    for (const one of pools) one.renew(reason);
  });
  const notify = async (channel: string) => {
    await reader.statement('select pg_notify($1, $2)', [channel, '']);
  };
  const viewOf = (caller: CallLimits | null, view: Reader): Database => ({
    transaction: (work, given = {}) => executor.transaction(work, given, caller),
    reader: view,
    statement: (text, params) => view.statement(text, params),
    limits: () => caller ?? limitsOf(deadlineMs),
    write: (text, params, limits = caller ?? limitsOf(deadlineMs)) => executor.write(text, params, limits),
    forCaller: (limits, reads) => viewOf(limits, reads === 'lists' ? listReader : callersReader),
    shared: () => database,
    noteSharedFailure: (statement, error) => sharedFailures.note(statement, error),
    noteWakeup: onWoken,
    onWakeup: (called) => wakeups.listen(called),
    listen: (channel, onNotify) => listener.listen(channel, onNotify),
    notify,
    apart: ({ deadlineMs: apartMs }) => {
      const { lists: _, ...own } = options;
      return createDatabase({ ...own, maxConnections: 1, deadlineMs: apartMs });
    },
    close: async () => {
      wakeups.close();
      await listener.close();
      await Promise.all(pools.map((one) => one.close(CLOSE_TIMEOUT_MS)));
      forgetFault();
    },
  });
  const database = viewOf(null, reader);
  return database;
}

function readerOf(executor: Executor, deadlineMs: number, check: (text: string) => void = () => {}): BatchingReader {
  return new BatchingReader(
    (text, params, limits) =>
      executor.read((connection) => {
        check(text);
        return connection.run(text, params);
      }, limits),
    (text, params) => executor.read((connection) => connection.runArrays(text, params), limitsOf(deadlineMs)),
    deadlineMs,
  );
}

type CommonOptions = Pick<ConnectionOptions, 'url' | 'applicationName' | 'connectTimeoutMs' | 'deadlineMs'>;

/** A list that takes too long is ended by Postgres itself, so that its connection lives on; only silence costs connections. */
function listsOf(common: CommonOptions, { maxConnections, deadlineMs = LIST_DEADLINE_MS }: ListOptions) {
  const endsWithinMs = deadlineMs + LIST_ANSWER_MS;
  const connections = {
    ...common,
    applicationName: `${common.applicationName}-lists`,
    connectTimeoutMs: Math.min(common.connectTimeoutMs, endsWithinMs),
    deadlineMs: endsWithinMs,
    statementTimeoutMs: deadlineMs,
  };
  return { pool: new Pool(connections, maxConnections), deadlineMs: endsWithinMs };
}
