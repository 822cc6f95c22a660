import postgres from 'postgres';

/** Whether work that failed may have taken effect: `unknown` while its commit was under way. */
export type FailedOutcome = 'nothing-done' | 'unknown';

/**
 * Postgres cannot be reached, went away, or did not answer within the deadline. Where the outcome is unknown, callers ask
 * again under the same idempotency key. The API answers 503.
 */
export class DatabaseUnavailable extends Error {
  readonly outcome: FailedOutcome;

  constructor(reason: string, options: ErrorOptions & { readonly outcome?: FailedOutcome } = {}) {
    super(`Postgres is unavailable: ${reason}`, options);
    this.name = 'DatabaseUnavailable';
    this.outcome = options.outcome ?? 'unknown';
  }
}

/** The caller hung up before its call was begun: nothing was done, and no answer can reach it. */
export class CallerGone extends Error {
  constructor() {
    super('the caller is gone');
    this.name = 'CallerGone';
  }
}

/** The failure of a call that cannot have taken effect, as one that says so. */
export function withNothingDone(error: unknown): unknown {
  if (!(error instanceof DatabaseUnavailable) || error.outcome === 'nothing-done') return error;
  return new DatabaseUnavailable('nothing was done', { cause: error, outcome: 'nothing-done' });
}

/** Another transaction held the lock for longer than `lockTimeoutMs`; nothing was written. */
export class LockTimeout extends Error {
  constructor(options?: ErrorOptions) {
    super('a lock was not granted in time', options);
    this.name = 'LockTimeout';
  }
}

const LOCK_NOT_AVAILABLE = '55P03';
const REPEATABLE_STATES: ReadonlySet<string> = new Set(['40001', '40P01']);

/** Raised by before_deadline() (migration 0020). */
const PAST_DEADLINE = 'ZD001';

/** By a demoted server, which a failover left behind. */
const READ_ONLY_SERVER = '25006';

/**
 * A write that came too late; connection failures; out of disk, memory or connections; timeouts of idle and long transactions; cancelled by a
 * timeout; stopping, starting; a failing disk.
 */
const UNAVAILABLE_STATES = /^(ZD001|08...|53...|25P03|25P04|57014|57P..|58030|25006)$/;

/** The SQLSTATE of an error that Postgres itself raised, else null. */
export function sqlState(error: unknown): string | null {
  return error instanceof postgres.PostgresError ? error.code : null;
}

/** Postgres refused a write because its deadline had passed, by the database's clock. */
export function isPastDeadline(error: unknown): boolean {
  return sqlState(error) === PAST_DEADLINE;
}

/** The name of the violated constraint when a unique key (23505) refused the write, else null. */
export function uniqueViolation(error: unknown): string | null {
  if (!(error instanceof postgres.PostgresError) || error.code !== '23505') return null;
  return error.constraint_name ?? null;
}

/** A serialization failure or deadlock: the whole transaction may simply be done again. */
export function isRepeatable(error: unknown): boolean {
  const state = sqlState(error);
  return state !== null && REPEATABLE_STATES.has(state);
}

/** A transaction number that was drawn is taken: the whole transaction may be done again, and draws another. */
export function isTakenNumber(error: unknown): boolean {
  return uniqueViolation(error)?.endsWith('_transaction_number_key') ?? false;
}

/** Whether it was a row of this table that a lock was not granted for in time, by what Postgres says of the place. */
export function waitedForRowOf(error: unknown, table: string): boolean {
  if (!(error instanceof LockTimeout) || !(error.cause instanceof postgres.PostgresError)) return false;
  return error.cause.where?.includes(table) ?? false;
}

/** The error ended its connection, or says that the connection is of no use any more. */
export function endsConnection(error: unknown): boolean {
  if (error instanceof postgres.PostgresError) {
    return error.severity === 'FATAL' || error.severity === 'PANIC' || error.code === READ_ONLY_SERVER;
  }
  return !(error instanceof LockTimeout) && isDriverFailure(error);
}

/** What callers of db/ see of a failure of the driver or the server: two classes of our own, else the error as it is. */
export function asDatabaseFailure(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable || error instanceof LockTimeout) return error;
  if (error instanceof postgres.PostgresError) {
    hideValues(error);
    if (error.code === LOCK_NOT_AVAILABLE) return new LockTimeout({ cause: error });
    const unavailable = UNAVAILABLE_STATES.test(error.code) || endsConnection(error);
    if (!unavailable) return error;
    // An error refuses the statement; one that ends the session may come between its commit and the answer.
    const outcome = error.severity === 'ERROR' ? 'nothing-done' : 'unknown';
    return new DatabaseUnavailable(`${error.code} ${error.message}`, { cause: error, outcome });
  }
  if (isDriverFailure(error)) return new DatabaseUnavailable(describe(error), { cause: error });
  return error;
}

const DRIVER_CODES = /^(CONNECT|ECONN|EPIPE|ENOENT|ENOTFOUND|EHOST|ENET|ETIMEDOUT|EAI_)/;

function isDriverFailure(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false;
  return DRIVER_CODES.test(error.code);
}

export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return error.message.includes(code) || error.message === '' ? error.message || code : `${code} ${error.message}`;
}

/** DETAIL and CONTEXT hold values of rows: readable by code, but out of the way of loggers, which walk enumerable fields. */
function hideValues(error: postgres.PostgresError): void {
  for (const field of ['detail', 'where', 'internal_query'] as const) {
    const value = error[field];
    if (value !== undefined) Object.defineProperty(error, field, { value, enumerable: false, configurable: true });
  }
}
