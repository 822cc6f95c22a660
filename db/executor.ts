import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Transaction, TransactionOptions } from './client.ts';
import { type Connection, SERVER_TIMEOUTS, serverTimeoutMs } from './connection.ts';
import { DatabaseUnavailable, isRepeatable, isTakenNumber } from './failures.ts';
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

/** Executes statements and transactions on the connections of a pool, each under its deadline. */
export class Executor {
  readonly #pool: Pool;
  readonly #deadlineDefaultMs: number;
  readonly #readClockOffset: (() => string) | null;
  readonly #guard: SecondConnectionGuard | null;

  constructor(
    pool: Pool,
    deadlineDefaultMs: number,
    readClockOffset: (() => string) | null,
    guard: SecondConnectionGuard | null,
  ) {
    this.#pool = pool;
    this.#deadlineDefaultMs = deadlineDefaultMs;
    this.#readClockOffset = readClockOffset;
    this.#guard = guard;
  }

  /** One statement is a transaction of its own: when a deadlock refuses it, it may simply be done again. */
  async single<Value>(run: (connection: Connection) => Promise<Value>): Promise<Value> {
    this.#guard?.check();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#attemptSingle(run);
      } catch (error) {
        if (!isRepeatable(error) || attempt >= ATTEMPTS_MAX) throw error;
        await sleep(repeatAfterMs(attempt));
      }
    }
  }

  async transaction<T>(work: (tx: Transaction) => Promise<T>, options: TransactionOptions): Promise<T> {
    this.#guard?.check();
    const deadlineMs = options.deadlineMs ?? this.#deadlineDefaultMs;
    const endsAt = performance.now() + deadlineMs;
    const begin = beginStatement(
      deadlineMs === this.#deadlineDefaultMs ? null : deadlineMs,
      options.lockTimeoutMs ?? null,
    );
    for (let attempt = 1; ; attempt += 1) {
      const connection = this.#pool.takeIdle() ?? (await this.#pool.acquire(Math.max(1, endsAt - performance.now())));
      try {
        return await underDeadline(this.#pool, connection, Math.max(1, endsAt - performance.now()), () =>
          attemptTransaction(connection, work, begin, this.#readClockOffset?.() ?? null, this.#guard),
        );
      } catch (error) {
        const waitMs = repeatAfterMs(attempt);
        const repeats = isRepeatable(error) || isTakenNumber(error);
        if (!repeats || attempt >= ATTEMPTS_MAX || performance.now() + waitMs >= endsAt) throw error;
        await sleep(waitMs);
      }
    }
  }

  async #attemptSingle<Value>(run: (connection: Connection) => Promise<Value>): Promise<Value> {
    let leftMs = this.#deadlineDefaultMs;
    let connection = this.#pool.takeIdle();
    if (connection === null) {
      const startedAt = performance.now();
      connection = await this.#pool.acquire(leftMs);
      leftMs = Math.max(1, leftMs - (performance.now() - startedAt));
    }
    const timer = setTimeout(missDeadline, leftMs, this.#pool, connection);
    try {
      if (this.#readClockOffset !== null) await setClockOffset(connection, this.#readClockOffset());
      return await run(connection);
    } finally {
      clearTimeout(timer);
      this.#pool.release(connection);
    }
  }
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
    for (const name of SERVER_TIMEOUTS) settings.push(`set local ${name} = ${serverTimeoutMs(deadlineMs)}`);
  }
  if (lockTimeoutMs !== null) settings.push(`set local lock_timeout = ${Math.ceil(lockTimeoutMs)}`);
  return ['begin', ...settings].join('; ');
}

async function attemptTransaction<T>(
  connection: Connection,
  work: (tx: Transaction) => Promise<T>,
  begin: string,
  clockOffset: string | null,
  guard: SecondConnectionGuard | null,
): Promise<T> {
  if (clockOffset !== null) await setClockOffset(connection, clockOffset);
  // Sent ahead without waiting: what follows reaches Postgres behind it, and does nothing if it fails.
  const began = connection.simple(begin);
  began.catch(() => {});
  const tx = new TransactionReader(connection);
  try {
    const result = await (guard === null ? work(tx) : guard.run(tx, () => work(tx)));
    tx.end();
    await began;
    // One that was never sent, whatever for: without it the rest must not be committed.
    if (tx.firstFailure !== undefined) throw tx.firstFailure;
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
