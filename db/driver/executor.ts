import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Transaction, TransactionOptions } from './client.ts';
import { type Connection, SERVER_TIMEOUTS, serverTimeoutMs } from './connection.ts';
import { type CallLimits, limitsOf, neverBegun, waitEndsAt } from './deadlines.ts';
import { CallerGone, DatabaseUnavailable, isRepeatable, isTakenNumber, withNothingDone } from './failures.ts';
import type { Pool } from './pool.ts';
import { TransactionReader } from './readers.ts';

/** Deadlocks, serialization failures and taken transaction numbers are answered by doing the work again, so often. */
const ATTEMPTS_MAX = 4;

/**
 * Under load a second connection inside a transaction is a deadlock of the pool: every holder waits for one more. The
 * guard finds the code that asks for one, by whatever way `work` came to it. On Node 20 following calls through promises
 * slows every promise of the process by a fifth, so it watches wherever tests run, and not in production.
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

const WRITE =
  /\b(insert\s+into|update\s+\S+\s+(as\s+\S+\s+)?set|delete\s+from|settle_straight_through_transfers|apply_transfer_changes|ledger_post)\b/i;

/** What a caller has written goes by `write` or in a transaction, which carry its deadline. Where tests run, all else is refused. */
export function refuseWrite(text: string): void {
  if (WRITE.test(text)) throw new Error('a write of a caller without a deadline: use write, or a transaction');
}

export interface ExecutorOptions {
  readonly pool: Pool;
  readonly deadlineDefaultMs: number;
  readonly readClockOffset: (() => string) | null;
  readonly guard: SecondConnectionGuard | null;
  /** Called when a transaction that woke workflows has committed. */
  readonly onWoken: () => void;
}

/** Executes statements and transactions on the connections of a pool, each under its deadline. */
export class Executor {
  readonly #options: ExecutorOptions;

  constructor(options: ExecutorOptions) {
    this.#options = options;
  }

  /** One statement that reads: when it fails, nothing was done. */
  async read<Value>(run: (connection: Connection) => Promise<Value>, limits: CallLimits): Promise<Value> {
    try {
      return await this.#single(run, limits);
    } catch (error) {
      throw withNothingDone(error);
    }
  }

  /** One statement that writes; its last parameter is its deadline. */
  write<Row>(text: string, params: readonly unknown[], limits: CallLimits): Promise<Row[]> {
    return this.#single((connection) => connection.write<Row>(text, params, limits.endsAt), limits);
  }

  async transaction<T>(
    work: (tx: Transaction) => Promise<T>,
    options: TransactionOptions,
    caller: CallLimits | null,
  ): Promise<T> {
    const { guard, deadlineDefaultMs, readClockOffset, onWoken } = this.#options;
    guard?.check();
    const deadlineMs = options.deadlineMs ?? deadlineDefaultMs;
    const own = limitsOf(deadlineMs);
    const limits = caller === null ? own : { ...caller, endsAt: Math.min(caller.endsAt, own.endsAt) };
    const begin = beginStatement(deadlineMs === deadlineDefaultMs ? null : deadlineMs, options.lockTimeoutMs ?? null);
    for (let attempt = 1; ; attempt += 1) {
      // A worker's transition of two seconds has no caller whose answer is due, and rather waits than gives up.
      const connection = await this.#take(limits, caller === null ? limits.endsAt : undefined);
      const transaction = new AttemptedTransaction(connection, begin, limits.endsAt);
      try {
        const result = await underDeadline(this.#options.pool, transaction, () =>
          transaction.run(work, readClockOffset?.() ?? null, guard),
        );
        if (transaction.hasWoken) onWoken();
        return result;
      } catch (error) {
        const waitMs = repeatAfterMs(attempt);
        const repeats = isRepeatable(error) || isTakenNumber(error);
        if (!repeats || attempt >= ATTEMPTS_MAX || performance.now() + waitMs >= limits.endsAt) throw error;
        await sleep(waitMs);
      }
    }
  }

  /** One statement is a transaction of its own: when a deadlock refuses it, it may simply be done again. */
  async #single<Value>(run: (connection: Connection) => Promise<Value>, limits: CallLimits): Promise<Value> {
    this.#options.guard?.check();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attemptSingle(run, limits);
      } catch (error) {
        if (!isRepeatable(error) || attempt >= ATTEMPTS_MAX) throw error;
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

  /** A connection for a call whose time is not over and whose caller is there. */
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

/** Gives the connection back when the attempt is over on it; one that missed the deadline is gone by then. */
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
    // The transaction has begun under the session's own limit: Postgres takes another one only after that is off.
    settings.push('set local transaction_timeout = 0');
    for (const name of SERVER_TIMEOUTS) settings.push(`set local ${name} = ${serverTimeoutMs(deadlineMs)}`);
  }
  if (lockTimeoutMs !== null) settings.push(`set local lock_timeout = ${Math.ceil(lockTimeoutMs)}`);
  return ['begin', ...settings].join('; ');
}

/** One attempt at a transaction, on its connection. */
class AttemptedTransaction {
  readonly connection: Connection;
  readonly endsAt: number;
  readonly #begin: string;
  #commitWasSent = false;
  #hasWoken = false;

  constructor(connection: Connection, begin: string, endsAt: number) {
    this.connection = connection;
    this.#begin = begin;
    this.endsAt = endsAt;
  }

  /** The commit is on its way or over: what became of it is Postgres's to say. */
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
    // Sent ahead without waiting: what follows reaches Postgres behind it, and does nothing if it fails.
    const began = connection.simple(this.#begin);
    began.catch(() => {});
    const tx = new TransactionReader(connection);
    try {
      const result = await (guard === null ? work(tx) : guard.run(tx, () => work(tx)));
      tx.end();
      await began;
      // One that was never sent, whatever for: without it the rest must not be committed.
      if (tx.firstFailure !== undefined) throw tx.firstFailure;
      this.#commitWasSent = true;
      if (await connection.commit(this.endsAt)) {
        this.#hasWoken = tx.hasWoken;
        return result;
      }
      // A statement failed, `work` went on as if it had not, and Postgres rolled back.
      throw tx.firstFailure ?? new Error('Postgres rolled the transaction back');
    } catch (error) {
      tx.end();
      if (!connection.isLost) await connection.simple('rollback').catch(() => connection.retire('the rollback failed'));
      // Of a failed transaction Postgres only says that it has failed.
      const cause = this.#commitWasSent && tx.firstFailure !== undefined ? tx.firstFailure : error;
      throw this.#commitWasSent ? cause : withNothingDone(error);
    }
  }
}
