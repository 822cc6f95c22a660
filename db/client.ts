import { BatchingReader } from './batching/look-ups.ts';
import { RowSets, type WriteWay } from './batching/one-statement.ts';
import { type OnSharedFailure, SharedFailures } from './batching/shared-failures.ts';
import type { Connection } from './postgres/connection.ts';
import { limitsOf } from './postgres/deadlines.ts';
import { surviveDriverFault } from './postgres/driver-fault.ts';
import {
  Executor,
  type ExecutorOptions,
  type ReadTraceparent,
  rejectingWrites,
  SecondConnectionGuard,
} from './postgres/executor.ts';
import { hostsOf } from './postgres/hosts.ts';
import { Listener } from './postgres/listener.ts';
import { Pool, type PoolOptions } from './postgres/pool.ts';
import { Replica, type ReplicaOutcome } from './postgres/replica.ts';
import { WAKEUPS_CHANNEL, WakeupNudges } from './postgres/wakeup-nudges.ts';
import type { CallLimits, Database, Reader, Transaction } from './query/database.ts';

const DEADLINE_DEFAULT_MS = 10_000;
const LIST_DEADLINE_MS = 2_000;
/** Time for the answer to arrive after Postgres has cancelled a list. */
const LIST_ANSWER_MS = 500;
const CONNECT_TIMEOUT_MS = 5_000;
const CLOSE_TIMEOUT_MS = 5_000;

interface ListOptions {
  readonly maxConnections: number;
  /** A server that follows the one of `url`, and answers lists in its place wherever it has what the caller may know of. */
  readonly replica?: { readonly url: string; readonly onRead: (outcome: ReplicaOutcome) => void };
  /** The statement timeout of Postgres; default 2 s. */
  readonly deadlineMs?: number;
}

export interface DatabaseOptions {
  /** With several hosts, the one that takes writes. */
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
   * Rejects a second connection inside a transaction, and a caller's write without a deadline. For tests: it slows every
   * promise of the process.
   */
  readonly guardsTransactions?: boolean;
  readonly onSharedFailure?: OnSharedFailure;
  /** Unset while traces are off. */
  readonly readTraceparent?: ReadTraceparent | undefined;
  /** Called for each write of `inOneStatement`. */
  readonly onWrite?: (way: WriteWay) => void;
  /** Called when a call has waited for a connection, in vain or not. Calls that find one free wait for none. */
  readonly onConnectionWait?: (pool: string, seconds: number) => void;
}

export function createDatabase(options: DatabaseOptions): Database {
  const { url, applicationName, deadlineMs = DEADLINE_DEFAULT_MS, readTraceparent } = options;
  const { onConnectionWait: onWait = null } = options;
  const connectTimeoutMs = Math.min(CONNECT_TIMEOUT_MS, deadlineMs);
  const connectionOptions = { hosts: hostsOf(url), applicationName, connectTimeoutMs, deadlineMs, onWait };
  const guard = options.guardsTransactions === true ? new SecondConnectionGuard() : null;
  const sharedFailures = new SharedFailures(options.onSharedFailure ?? (() => {}));
  const wakeups = new WakeupNudges(() => notify(WAKEUPS_CHANNEL));
  const onWoken = () => wakeups.note();
  const common = { readClockOffset: options.clockOffset ?? null, readTraceparent, guard, onWoken };

  const pool = new Pool(connectionOptions, options.maxConnections);
  const executor = new Executor({ pool, deadlineDefaultMs: deadlineMs, ...common });
  const own = viewOn(executor, deadlineMs);
  const { reader } = own;
  const lists = options.lists === undefined ? null : listsOf(connectionOptions, options.lists);
  const listExecutor = lists && new Executor({ ...lists, deadlineDefaultMs: lists.deadlineMs, ...common });
  const usual = guard === null ? own : { ...own, reader: readerOf(executor, deadlineMs, rejectingWrites) };
  const replica =
    options.lists && listExecutor && replicaOf(options.lists, connectionOptions, common, own.reader, listExecutor);
  const ofLists = lists && listExecutor ? (replica?.view ?? viewOn(listExecutor, lists.deadlineMs)) : usual;

  const listener = new Listener(connectionOptions);
  const pools = [pool, ...(lists === null ? [] : [lists.pool]), ...(replica ? [replica.pool] : [])];
  const forgetFault = surviveDriverFault((reason) => {
    for (const one of pools) one.renew(reason);
  });
  const notify = async (channel: string) => {
    await reader.statement('select pg_notify($1, $2)', [channel, '']);
  };
  const rowSets = new RowSets({
    executor,
    onWoken,
    noteFailure: (error) => sharedFailures.note('writes', error),
    noteWrite: options.onWrite ?? (() => {}),
  });
  const limitsNow = () => ({ ...limitsOf(deadlineMs), traceparent: readTraceparent?.() });
  const viewOf = (caller: CallLimits | null, view: View): Database => ({
    transaction: (work, given = {}) => executor.transaction(work, given, caller),
    snapshot: (work) => view.snapshot(work, caller),
    inOneStatement: (work) => rowSets.write(work, caller ?? limitsNow()),
    reader: view.reader,
    statement: (text, params) => view.reader.statement(text, params),
    limits: () => caller ?? limitsNow(),
    write: (text, params, limits = caller ?? limitsNow()) => executor.write(text, params, limits),
    forCaller: (limits, reads) => viewOf(limits, reads === 'lists' ? ofLists : usual),
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
  const database = viewOf(null, own);
  return database;
}

/** Where a view reads. */
interface View {
  readonly reader: Reader;
  readonly snapshot: <T>(work: (tx: Transaction) => Promise<T>, caller: CallLimits | null) => Promise<T>;
}

function viewOn(executor: Executor, deadlineMs: number): View {
  return {
    reader: readerOf(executor, deadlineMs),
    snapshot: (work, caller) => executor.transaction(work, { snapshot: true }, caller),
  };
}

type Guarded = <Value>(connection: Connection, run: () => Promise<Value>) => Promise<Value>;

function readerOf(
  executor: Pick<Executor, 'read'>,
  deadlineMs: number,
  guarded: Guarded = (_, run) => run(),
): BatchingReader {
  return new BatchingReader(
    (text, params) =>
      executor.read((connection) => guarded(connection, () => connection.run(text, params)), limitsOf(deadlineMs)),
    (text, params, limits) =>
      executor.read((connection) => guarded(connection, () => connection.runArrays(text, params())), limits),
    deadlineMs,
  );
}

type CommonOptions = Pick<PoolOptions, 'hosts' | 'applicationName' | 'connectTimeoutMs' | 'deadlineMs' | 'onWait'>;

/** Postgres itself cancels a slow list, so its connection survives; only a silent network costs connections. */
function listsOf(
  common: CommonOptions,
  { maxConnections, deadlineMs = LIST_DEADLINE_MS }: ListOptions,
  name = 'lists',
) {
  const endsWithinMs = deadlineMs + LIST_ANSWER_MS;
  const connections = {
    ...common,
    applicationName: `${common.applicationName}-${name}`,
    connectTimeoutMs: Math.min(common.connectTimeoutMs, endsWithinMs),
    deadlineMs: endsWithinMs,
    statementTimeoutMs: deadlineMs,
  };
  return { pool: new Pool(connections, maxConnections), deadlineMs: endsWithinMs };
}

const POSITION = 'SELECT pg_current_wal_flush_lsn()::text AS position';

function replicaOf(
  lists: ListOptions,
  connections: CommonOptions,
  common: Omit<ExecutorOptions, 'pool' | 'deadlineDefaultMs'>,
  reader: Reader,
  primary: Executor,
) {
  if (lists.replica === undefined) return null;
  const { url, onRead } = lists.replica;
  const { pool, deadlineMs } = listsOf({ ...connections, hosts: hostsOf(url, 'reads') }, lists, 'replica');
  const executor = new Executor({ pool, deadlineDefaultMs: deadlineMs, ...common });
  const readPosition = async () => {
    const [row] = await reader.statement<{ position: string }>(POSITION, []);
    if (row === undefined) throw new Error('Postgres has no position');
    return row.position;
  };
  const replica = new Replica({ executor, primary, readPosition, onRead });
  const view: View = {
    reader: readerOf(replica, deadlineMs),
    snapshot: (work, caller) => replica.snapshot(work, caller),
  };
  return { pool, view };
}
