import type { SQL } from 'drizzle-orm';
import type { ConnectionOptions } from './connection.ts';
import { type CallLimits, limitsOf } from './deadlines.ts';
import { surviveDriverFault } from './driver-fault.ts';
import { Executor, refuseWrite, SecondConnectionGuard } from './executor.ts';
import { Listener } from './listener.ts';
import { Pool } from './pool.ts';
import type { ListStatement, RowLock } from './queries/list-statements.ts';
import type { Children, LookUp, Query } from './queries/queries.ts';
import { BatchingReader } from './queries/readers.ts';
import { type OnSharedFailure, SharedFailures } from './sharing/shared-failures.ts';
import { SharedTransactions } from './sharing/shared-transactions.ts';
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
/** Time for the answer to arrive after Postgres has cancelled a list. */
const LIST_ANSWER_MS = 500;
const CONNECT_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 5_000;

/** Reads; each statement has its own snapshot. int8 returns as bigint, timestamptz as Date, date as text, json parsed. */
export interface Reader {
  /** Executes a query that `prepared` has built. */
  run<Values extends object, Row>(query: Query<Values, Row>, values: Values): Promise<Row[]>;
  /** The first row; null if there is none. */
  first<Values extends object, Row>(query: Query<Values, Row>, values: Values): Promise<Row | null>;
  /** Finds a row by id. Outside of transactions, concurrent look-ups share one round trip. */
  find<Row extends { readonly id: string }>(lookUp: LookUp<Row>, id: string): Promise<Row | null>;
  /** Finds the rows that belong to a parent; shares round trips likewise. */
  findChildren<Row>(children: Children<Row>, parentId: string): Promise<readonly Row[]>;
  /** Executes a drizzle `sql` template. `numeric` (also `sum` of int8) returns as text: cast it. */
  execute<Row = Record<string, unknown>>(query: SQL): Promise<Row[]>;
  /** Executes text with $1… parameters, prepared once per connection. */
  statement<Row = Record<string, unknown>>(text: string, params: readonly unknown[]): Promise<Row[]>;
}

/** A Reader inside a transaction. Statements run in order; send the next without awaiting the one before. */
export interface Transaction extends Reader {
  /** Keeps the compiler from accepting a plain reader. */
  readonly inTransaction: true;
  /** Whether other callers' writes share the transaction. Then it refuses texts and templates, whose locks it cannot know. */
  readonly isShared: boolean;
  /** Executes a statement for each item; one result each, in order. */
  each<Item, Result>(statement: ListStatement<Item, Result>, items: readonly Item[]): Promise<readonly Result[]>;
  /** The same with the commit (`sendWithCommit`), for results of no interest. */
  sendEach<Item>(statement: ListStatement<Item, unknown>, items: readonly Item[]): void;
  /** Locks a row by its id and reads it; null if there is none. */
  lock<Row>(lock: RowLock<Row>, id: string): Promise<Row | null>;
  /** The same for several rows, which one statement locks in its own order. */
  lockEach<Row>(lock: RowLock<Row>, ids: readonly string[]): Promise<readonly (Row | null)[]>;
  /** Nudges the relay after the commit (see `db/frame/workflow-wakeups.ts`). */
  noteWakeup(): void;
}

/**
 * Sends a statement whose result is of no interest together with the commit, which saves a round trip. If the statement
 * fails, the transaction commits nothing and rejects with its error.
 */
export function sendWithCommit(statement: Promise<unknown>): void {
  statement.catch(() => {});
}

export interface TransactionOptions {
  /** Covers the wait for a connection and all attempts. Default: the database's deadline. */
  readonly deadlineMs?: number;
  /** How long one statement may wait for a lock before LockTimeout. Default: until the deadline. */
  readonly lockTimeoutMs?: number;
  /**
   * Runs `work` with that of other callers of the same moment in one transaction first, and in one of its own if that fails
   * or refuses anything. `work` must then use `tx` alone, and nothing that takes long. Default: false.
   */
  readonly shares?: boolean;
}

export interface Database {
  /**
   * The only way to open a transaction (READ COMMITTED). `work` must be repeatable: it runs again after a deadlock or when
   * its transaction number is taken.
   * Rejects with DatabaseUnavailable (the outcome may be unknown), LockTimeout, or what `work` threw.
   * Never use `reader` inside `work`: that would take a second connection.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Single statements outside of a transaction; each commits by itself. */
  readonly reader: Reader;
  /** `reader.statement`: one prepared statement in one round trip. For hot paths. */
  statement<Row = Record<string, unknown>>(text: string, params: readonly unknown[]): Promise<Row[]>;
  /**
   * Runs one writing statement, which commits by itself. The deadline follows `params` as the last parameter. The text
   * checks it with `before_deadline` at the start and at the end, so that nothing is written after the caller's 503.
   */
  write<Row = Record<string, unknown>>(text: string, params: readonly unknown[], limits?: CallLimits): Promise<Row[]>;
  /** The limits of a call that starts now. */
  limits(): CallLimits;
  /** A view for one caller: its writes end before its answer is due, and none starts once it has hung up. */
  forCaller(limits: CallLimits, reads?: 'lists'): Database;
  /** The underlying database of every caller's view. */
  shared(): Database;
  /** Records that a shared statement failed and its calls now run one by one, which is correct but slow. */
  noteSharedFailure(statement: string, error: unknown): void;
  /** Nudges the relay after a statement outside of a transaction woke a workflow. */
  noteWakeup(): void;
  /** Calls the listener after commits that wake workflows. Without a listener in this process, other processes are notified. */
  onWakeup(listener: () => void): { close(): void };
  /** Also calls `onNotify` with '' after every (re)connection, because notifications may have been missed. */
  listen(channel: string, onNotify: (payload: string) => void): Promise<{ close(): Promise<void> }>;
  /** Sends a NOTIFY outside of transactions, after the commit. */
  notify(channel: string): Promise<void>;
  /**
   * Opens a separate connection with its own deadline for long work. Missing that deadline ends only that connection.
   * The caller closes it.
   */
  apart(options: { readonly deadlineMs: number }): Database;
  close(): Promise<void>;
}

interface ListOptions {
  readonly maxConnections: number;
  /** The statement timeout of Postgres; default 2 s. */
  readonly deadlineMs?: number;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly maxConnections: number;
  readonly applicationName: string;
  /** The deadline of a statement or transaction, including the wait for a connection; default 10 s. */
  readonly deadlineMs?: number;
  /** Separate connections for lists, so that expensive pages never delay payments. Without it, lists share the pool. */
  readonly lists?: ListOptions;
  /** Shifts `service_now()` by a Postgres interval. For tests; unset in production. */
  readonly clockOffset?: () => string;
  /**
   * Refuses a second connection inside a transaction, and a caller's write without a deadline. For tests: it slows every
   * promise of the process.
   */
  readonly guardsTransactions?: boolean;
  readonly onSharedFailure?: OnSharedFailure;
  /** Called for each write that may share a transaction, with whether it did. */
  readonly onWrite?: (transaction: 'shared' | 'alone') => void;
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
  const shared = new SharedTransactions({
    executor,
    deadlineMs,
    noteFailure: (error) => sharedFailures.note('writes', error),
    noteWrite: options.onWrite ?? (() => {}),
    isStrict: guard !== null,
  });
  const viewOf = (caller: CallLimits | null, view: Reader): Database => ({
    transaction: (work, given = {}) =>
      given.shares === true ? shared.transaction(work, given, caller) : executor.transaction(work, given, caller),
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
    (text, params) =>
      executor.read((connection) => {
        check(text);
        return connection.run(text, params);
      }, limitsOf(deadlineMs)),
    (text, params, limits) =>
      executor.read((connection) => {
        check(text);
        return connection.runArrays(text, params());
      }, limits),
    deadlineMs,
  );
}

type CommonOptions = Pick<ConnectionOptions, 'url' | 'applicationName' | 'connectTimeoutMs' | 'deadlineMs'>;

/** Postgres itself cancels a slow list, so its connection survives; only a silent network costs connections. */
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
