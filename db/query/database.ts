import type { SQL } from 'drizzle-orm';
import type { ListStatement, RowLock } from './list-statements.ts';
import type { Children, LookUp, Query } from './queries.ts';

/** The limits of a call: when its caller's answer is due (`performance.now()`), and whether the caller is still there. */
export interface CallLimits {
  readonly endsAt: number;
  readonly isGone: () => boolean;
  /** The trace that what it writes belongs to; undefined: none. */
  readonly traceparent?: string | undefined;
}

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
  /** Of its caller; written with the events and wake-ups. */
  readonly traceparent: string | undefined;
  /** Executes a statement for each item; one result each, in order. */
  each<Item, Result>(statement: ListStatement<Item, Result>, items: readonly Item[]): Promise<readonly Result[]>;
  /** The same with the commit (`sendWithCommit`), for results of no interest. */
  sendEach<Item>(statement: ListStatement<Item, unknown>, items: readonly Item[]): void;
  /** Locks a row by its id and reads it; null if there is none. */
  lock<Row extends object>(lock: RowLock<Row>, id: string): Promise<Row | null>;
  /** The same for several rows, which one statement locks in its own order. */
  lockEach<Row extends object>(lock: RowLock<Row>, ids: readonly string[]): Promise<readonly (Row | null)[]>;
  /** Nudges the relay after the commit (see `db/common/workflow-wakeups.ts`). */
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
  /** All statements read what was committed at one moment, and none writes. Default: each reads what is committed when it starts. */
  readonly snapshot?: boolean;
}

export interface Database {
  /**
   * The only way to open a transaction (READ COMMITTED). `work` must be repeatable: it runs again after a deadlock or when
   * its transaction number is taken.
   * Rejects with DatabaseUnavailable (the outcome may be unknown), LockTimeout, or what `work` threw.
   * Never use `reader` inside `work`: that would take a second connection.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Reads, by the connections of `reader`, what was committed at one moment. As for a transaction, never use `reader` inside `work`. */
  snapshot<T>(work: (reader: Reader) => Promise<T>): Promise<T>;
  /**
   * Runs `work` against reads without locks, and writes by one statement what it hands over, with that of others of the same
   * moment. Null: nothing was done, because a row was locked or has changed meanwhile, a unique key was taken, or only a
   * transaction can do it. `work` reads first, then hands over, and waits only for `tx`.
   */
  inOneStatement<T>(work: (tx: Transaction) => Promise<T>): Promise<{ readonly value: T } | null>;
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
