import postgres from 'postgres';

/** Whether a failed call may have taken effect: `unknown` while its commit was under way. */
export type FailedOutcome = 'nothing-done' | 'unknown';

/**
 * Postgres is unreachable, went away, or missed the deadline. If the outcome is unknown, the caller repeats the request under
 * the same idempotency key. The API answers 503.
 */
export class DatabaseUnavailable extends Error {
  readonly outcome: FailedOutcome;

  constructor(reason: string, options: ErrorOptions & { readonly outcome?: FailedOutcome } = {}) {
    super(`Postgres is unavailable: ${reason}`, options);
    this.name = 'DatabaseUnavailable';
    this.outcome = options.outcome ?? 'unknown';
  }
}

/** Between this process and Postgres, another gives each transaction a session of its choice. No such session is ours. */
export class SharedSessions extends DatabaseUnavailable {
  constructor() {
    super(
      'a pooler (PgBouncer, perhaps) hands out sessions by transaction, so that settings, time-outs, prepared statements and LISTEN are lost: set its pool_mode to session, or connect to Postgres directly',
      { outcome: 'nothing-done' },
    );
    this.name = 'SharedSessions';
  }
}

/** The caller hung up before the call started: nothing was done, and there is no one to answer. */
export class CallerGone extends Error {
  constructor() {
    super('the caller is gone');
    this.name = 'CallerGone';
  }
}

/** The same failure, marked as one that cannot have taken effect. */
export function withNothingDone(error: unknown): unknown {
  if (!(error instanceof DatabaseUnavailable) || error.outcome === 'nothing-done') return error;
  return new DatabaseUnavailable('nothing was done', { cause: error, outcome: 'nothing-done' });
}

export class LockTimeout extends Error {
  constructor(options?: ErrorOptions) {
    super('a lock was not granted in time', options);
    this.name = 'LockTimeout';
  }
}

const LOCK_NOT_AVAILABLE = '55P03';
const REPEATABLE_STATES: ReadonlySet<string> = new Set(['40001', '40P01']);

/** Raised by before_deadline() (db/functions/writes.sql). */
const PAST_DEADLINE = 'ZD001';

/** From a server that a failover has demoted. */
const READ_ONLY_SERVER = '25006';
const CANCELLED = '57014';

/**
 * A late write; connection failures; out of disk, memory or connections; idle and long transactions that timed out;
 * cancelled by a timeout; shutting down or starting; a failing disk; a demoted server.
 */
const UNAVAILABLE_STATES = /^(ZD001|08...|53...|25P03|25P04|57014|57P..|58030|25006)$/;

/** The SQLSTATE of an error that Postgres raised, else null. */
export function sqlState(error: unknown): string | null {
  return error instanceof postgres.PostgresError ? error.code : null;
}

/** Whether Postgres answers, and takes no writes. */
export function isReadOnlyServer(error: unknown): boolean {
  return hasState(error, READ_ONLY_SERVER);
}

/** Whether Postgres cancelled a statement, usually because it took too long. */
export function isCancelled(error: unknown): boolean {
  return hasState(error, CANCELLED);
}

function hasState(error: unknown, state: string): boolean {
  return sqlState(error) === state || (error instanceof DatabaseUnavailable && hasState(error.cause, state));
}

/** Whether Postgres rejected a write because its deadline had passed by the database's clock. */
export function isPastDeadline(error: unknown): boolean {
  return sqlState(error) === PAST_DEADLINE;
}

/** The violated unique constraint (23505), else null. */
export function uniqueViolation(error: unknown): string | null {
  if (!(error instanceof postgres.PostgresError) || error.code !== '23505') return null;
  return error.constraint_name ?? null;
}

/** Whether a row's table has no partition for it, in any language of Postgres: only this violation of a check names no constraint. */
export function lacksPartition(error: unknown): boolean {
  return error instanceof postgres.PostgresError && error.code === '23514' && error.constraint_name === undefined;
}

/** A serialization failure or deadlock: the whole transaction can run again. */
export function isRepeatable(error: unknown): boolean {
  const state = sqlState(error);
  return state !== null && REPEATABLE_STATES.has(state);
}

/**
 * Another transaction took what this one had found free: the whole transaction can run again, with another transaction number, or to
 * find that the key of a machine user is registered.
 */
export function isTakenMeanwhile(error: unknown): boolean {
  const constraint = uniqueViolation(error) ?? '';
  return constraint.endsWith('_transaction_number_key') || constraint.startsWith('machine_user_keys_');
}

/** Whether the lock timeout was on a row of this table, judging by the error's context. */
export function waitedForRowOf(error: unknown, table: string): boolean {
  if (!(error instanceof LockTimeout) || !(error.cause instanceof postgres.PostgresError)) return false;
  return error.cause.where?.includes(table) ?? false;
}

/** Whether the error ended its connection or makes it useless. */
export function endsConnection(error: unknown): boolean {
  if (error instanceof postgres.PostgresError) {
    return error.severity === 'FATAL' || error.severity === 'PANIC' || error.code === READ_ONLY_SERVER;
  }
  return !(error instanceof LockTimeout) && isDriverFailure(error);
}

/** Maps a failure of the driver or the server to our two classes; any other error passes through. */
export function asDatabaseFailure(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable || error instanceof LockTimeout) return error;
  if (error instanceof postgres.PostgresError) {
    hideValues(error);
    if (error.code === LOCK_NOT_AVAILABLE) return new LockTimeout({ cause: error });
    const unavailable = UNAVAILABLE_STATES.test(error.code) || endsConnection(error);
    if (!unavailable) return error;
    // ERROR rejects the statement. A more severe one ends the session, perhaps between its commit and the answer.
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

/** Hides DETAIL and CONTEXT, which hold row values, from loggers: code can still read them, enumeration cannot. */
function hideValues(error: postgres.PostgresError): void {
  for (const field of ['detail', 'where', 'internal_query'] as const) {
    const value = error[field];
    if (value !== undefined) Object.defineProperty(error, field, { value, enumerable: false, configurable: true });
  }
}
