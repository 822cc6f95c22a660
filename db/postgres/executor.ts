import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallLimits, Transaction, TransactionOptions } from '../query/database.ts';
import { type Connection, SERVER_TIMEOUTS, serverTimeoutMs } from './connection.ts';
import { limitsOf, neverBegun, waitEndsAt } from './deadlines.ts';
import {
  CallerGone,
  DatabaseUnavailable,
  isReadOnlyServer,
  isRepeatable,
  isTakenMeanwhile,
  sqlState,
  withNothingDone,
} from './failures.ts';
import type { Pool } from './pool.ts';
import { TransactionReader } from './readers.ts';

/** Attempts at work that meets a deadlock, a serialization failure, a taken transaction number or a server that a failover has demoted. */
const ATTEMPTS_MAX = 4;

/**
 * A second connection inside a transaction deadlocks the pool under load: every holder waits for one more. This guard finds
 * the code that asks for one. It runs in tests only, because on Node 20 AsyncLocalStorage slows every promise by a fifth.
 */
export class SecondConnectionGuard {
  readonly #inside = new AsyncLocalStorage<TransactionReader>();

  check(): void {
    if (this.#inside.getStore()?.hasEnded === false) {
      throw new Error('inside a transaction everything goes through tx: a second connection could wait for ever');
    }
  }

  run<T>(tx: TransactionReader, work: () => Promise<T>): Promise<T> {
    return this.#inside.run(tx, work);
  }
}

/** What Postgres answers to a write, and to a lock, in a transaction that only reads. */
const READS_ONLY = '25006';

/** A caller's writes must carry its deadline, through `write` or a transaction. In tests, Postgres rejects any other. */
export async function rejectingWrites<Value>(connection: Connection, run: () => Promise<Value>): Promise<Value> {
  const begun = connection.simple('begin read only');
  begun.catch(() => {});
  try {
    const value = await run();
    await connection.simple('commit');
    return value;
  } catch (error) {
    if (error instanceof DatabaseUnavailable && sqlState(error.cause) === READS_ONLY) {
      throw new Error('a write of a caller without a deadline: use write, or a transaction', { cause: error });
    }
    if (!connection.isLost) await connection.simple('rollback').catch(() => connection.retire('the rollback failed'));
    throw error;
  }
}

/** `before`: what runs on its connection before each attempt begins. */
type AttemptOptions = TransactionOptions & { readonly before?: (connection: Connection) => Promise<void> };

/** The trace of what runs now, for calls without a caller of their own. */
export type ReadTraceparent = () => string | undefined;

export interface ExecutorOptions {
  readonly pool: Pool;
  readonly deadlineDefaultMs: number;
  readonly readClockOffset: (() => string) | null;
  readonly readTraceparent: ReadTraceparent | undefined;
  readonly guard: SecondConnectionGuard | null;
  readonly onWoken: () => void;
}

export class Executor {
  readonly #options: ExecutorOptions;

  constructor(options: ExecutorOptions) {
    this.#options = options;
  }

  /** Runs one reading statement; a failure means that nothing was done. */
  async read<Value>(run: (connection: Connection) => Promise<Value>, limits: CallLimits): Promise<Value> {
    try {
      return await this.#single(run, limits);
    } catch (error) {
      throw withNothingDone(error);
    }
  }

  /** Runs one writing statement; its last parameter is its deadline. */
  write<Row>(text: string, params: readonly unknown[], limits: CallLimits): Promise<Row[]> {
    return this.#single((connection) => connection.write<Row>(text, params, limits.endsAt), limits);
  }

  rejectSecondConnection(): void {
    this.#options.guard?.check();
  }

  async transaction<T>(
    work: (tx: Transaction) => Promise<T>,
    options: AttemptOptions,
    caller: CallLimits | null,
  ): Promise<T> {
    const { guard, deadlineDefaultMs, readClockOffset, onWoken } = this.#options;
    this.rejectSecondConnection();
    const deadlineMs = options.deadlineMs ?? deadlineDefaultMs;
    const own = limitsOf(deadlineMs);
    const limits =
      caller === null
        ? { ...own, traceparent: this.#options.readTraceparent?.() }
        : { ...caller, endsAt: Math.min(caller.endsAt, own.endsAt) };
    const begin = beginStatement(deadlineMs === deadlineDefaultMs ? null : deadlineMs, options);
    for (let attempt = 1; ; attempt += 1) {
      // Without a caller no answer is due, so a worker's short transition waits rather than gives up.
      const connection = await this.#take(limits, caller === null ? limits.endsAt : undefined);
      const transaction = new AttemptedTransaction(connection, begin, limits);
      try {
        const result = await underDeadline(this.#options.pool, transaction, async () => {
          await options.before?.(connection);
          return transaction.run(work, readClockOffset?.() ?? null, guard);
        });
        if (transaction.hasWoken) onWoken();
        return result;
      } catch (error) {
        const waitMs = repeatAfterMs(attempt);
        const repeats = this.#repeats(error) || isTakenMeanwhile(error);
        if (!repeats || attempt >= ATTEMPTS_MAX || performance.now() + waitMs >= limits.endsAt) throw error;
        await sleep(waitMs);
      }
    }
  }

  /** A server that takes no writes rejects a statement and with it its transaction: both may run again on another. */
  #repeats(error: unknown): boolean {
    return isRepeatable(error) || (isReadOnlyServer(error) && this.#options.pool.leaveReadOnlyServer());
  }

  /** A single statement is its own transaction, so it can simply run again after a deadlock. */
  async #single<Value>(run: (connection: Connection) => Promise<Value>, limits: CallLimits): Promise<Value> {
    this.#options.guard?.check();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attemptSingle(run, limits);
      } catch (error) {
        if (!this.#repeats(error) || attempt >= ATTEMPTS_MAX) throw error;
        await sleep(repeatAfterMs(attempt));
      }
    }
  }

  async #attemptSingle<Value>(run: (connection: Connection) => Promise<Value>, limits: CallLimits): Promise<Value> {
    const { pool, readClockOffset } = this.#options;
    const connection = await this.#take(limits);
    const timer = setTimeout(missDeadline, Math.max(1, limits.endsAt - performance.now()), pool, connection);
    try {
      if (readClockOffset !== null) await setClockOffset(connection, readClockOffset());
      return await run(connection);
    } finally {
      clearTimeout(timer);
      pool.release(connection);
    }
  }

  /** Takes a connection unless the call's time is over or its caller has hung up. */
  async #take({ endsAt, isGone }: CallLimits, waitsUntil?: number): Promise<Connection> {
    const { pool } = this.#options;
    const now = performance.now();
    if (now >= endsAt) throw neverBegun('no time was left');
    const connection = pool.takeIdle() ?? (await acquire(pool, (waitsUntil ?? waitEndsAt(endsAt, now)) - now));
    if (!isGone()) return connection;
    pool.release(connection);
    throw new CallerGone();
  }
}

async function acquire(pool: Pool, timeoutMs: number): Promise<Connection> {
  try {
    return await pool.acquire(timeoutMs);
  } catch (error) {
    throw withNothingDone(error);
  }
}

function repeatAfterMs(attempt: number): number {
  return Math.random() * 10 * 2 ** attempt;
}

/** Returns the connection to the pool after the attempt; a missed deadline retires it instead. */
async function underDeadline<T>(
  pool: Pool,
  { connection, endsAt, isDecided }: AttemptedTransaction,
  attempt: () => Promise<T>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const missed = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => {
        missDeadline(pool, connection);
        const outcome = isDecided() ? 'unknown' : 'nothing-done';
        reject(new DatabaseUnavailable('the deadline was missed', { outcome }));
      },
      Math.max(1, endsAt - performance.now()),
    );
  });
  try {
    return await Promise.race([attempt(), missed]);
  } finally {
    clearTimeout(timer);
    pool.release(connection);
  }
}

/** Replaces all connections: nothing shows whether only this one hangs. */
function missDeadline(pool: Pool, connection: Connection): void {
  connection.retire('the deadline was missed');
  pool.renew('another connection missed its deadline');
}

async function setClockOffset(connection: Connection, offset: string): Promise<void> {
  if (connection.clockOffset === offset) return;
  await connection.run(`select set_config('service.clock_offset', $1, false)`, [offset]);
  connection.clockOffset = offset;
}

/** The session's own timeouts match the default deadline, so only differences are set. */
function beginStatement(deadlineMs: number | null, { lockTimeoutMs, snapshot }: TransactionOptions): string {
  const settings: string[] = [];
  if (deadlineMs !== null) {
    // The transaction began under the session's limit, and Postgres accepts another one only after that is switched
    // off.
    settings.push('set local transaction_timeout = 0');
    for (const name of SERVER_TIMEOUTS) settings.push(`set local ${name} = ${serverTimeoutMs(deadlineMs)}`);
  }
  if (lockTimeoutMs !== undefined) settings.push(`set local lock_timeout = ${Math.ceil(lockTimeoutMs)}`);
  const begin = snapshot === true ? 'begin isolation level repeatable read, read only' : 'begin';
  return [begin, ...settings].join('; ');
}

/** One attempt at a transaction on one connection. */
class AttemptedTransaction {
  readonly connection: Connection;
  readonly endsAt: number;
  readonly #begin: string;
  readonly #traceparent: string | undefined;
  #commitWasSent = false;
  #hasWoken = false;

  constructor(connection: Connection, begin: string, { endsAt, traceparent }: CallLimits) {
    this.connection = connection;
    this.#begin = begin;
    this.endsAt = endsAt;
    this.#traceparent = traceparent;
  }

  /** Whether the commit was sent: from then on Postgres decides the outcome. */
  readonly isDecided = (): boolean => this.#commitWasSent;

  get hasWoken(): boolean {
    return this.#hasWoken;
  }

  async run<T>(
    work: (tx: Transaction) => Promise<T>,
    clockOffset: string | null,
    guard: SecondConnectionGuard | null,
  ): Promise<T> {
    const { connection } = this;
    if (clockOffset !== null) await setClockOffset(connection, clockOffset);
    // Not awaited: the next statements follow it to Postgres and have no effect if it fails.
    const began = connection.simple(this.#begin);
    began.catch(() => {});
    const tx = new TransactionReader(connection, this.#traceparent);
    try {
      const result = await (guard === null ? work(tx) : guard.run(tx, () => work(tx)));
      tx.leaveVersions();
      tx.end();
      await began;
      // A statement that was never sent counts as a failure: the rest must not commit without it.
      if (tx.firstFailure !== undefined) throw tx.firstFailure;
      this.#commitWasSent = true;
      if (await connection.commit(this.endsAt)) {
        this.#hasWoken = tx.hasWoken;
        return result;
      }
      // `work` ignored a failed statement, and Postgres rolled back.
      throw tx.firstFailure ?? new Error('Postgres rolled the transaction back');
    } catch (error) {
      tx.end();
      if (!connection.isLost) await connection.simple('rollback').catch(() => connection.retire('the rollback failed'));
      // Postgres only reports that the transaction has failed; report the statement that caused it.
      const cause = this.#commitWasSent && tx.firstFailure !== undefined ? tx.firstFailure : error;
      throw this.#commitWasSent ? cause : withNothingDone(error);
    }
  }
}
