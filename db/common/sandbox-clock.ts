import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { WEBHOOK_DELIVERY_WORKFLOW } from '../../domain/webhooks/deliveries.ts';
import type { Database, Reader, Transaction } from '../query/database.ts';
import { readClock } from './clock.ts';
import { OPEN_WORK_TYPES, wakeAllOpen } from './open-work.ts';
import { wake, wakeEach } from './workflow-wakeups.ts';

// The test clock of a sandbox. Sessions of a sandbox's database add its offset to every `service_now()`, so all processes
// decide by one clock from the moment that a move is committed.

/** Announces moves. */
const CHANNEL = 'sandbox_clock';

const MAKE_MOVABLE = `DO $$ BEGIN
  EXECUTE format('ALTER DATABASE %I SET service.clock_offset = ''sandbox''', current_database());
END $$`;

/** Makes all later sessions of this database follow the sandbox's clock. Only for a database that `npm start` has created. */
export async function makeClockMovable(database: Database): Promise<void> {
  await database.statement(MAKE_MOVABLE, []);
}

const MOVABLE = `SELECT coalesce(current_setting('service.clock_offset', true), '') = 'sandbox' AS movable`;

/** Whether this session's database is one whose clock may be moved. */
export async function isClockMovable(reader: Reader): Promise<boolean> {
  const [row] = await reader.statement<{ movable: boolean }>(MOVABLE, []);
  return row?.movable ?? false;
}

const AHEAD = 'SELECT ahead_ms::float8 AS "aheadMs" FROM sandbox_clock';

/** By how much the sandbox's clock is ahead of the real one. */
export async function readClockAhead(reader: Reader): Promise<number> {
  const [row] = await reader.statement<{ aheadMs: number }>(AHEAD, []);
  return row?.aheadMs ?? 0;
}

/** The service's time in this process: a sandbox's where `followsSandboxClock`, otherwise the real one. */
export function serviceClock(
  database: Database,
  { followsSandboxClock }: { readonly followsSandboxClock: boolean },
  options: ClockOptions,
): Promise<() => Date> {
  return followsSandboxClock ? followMovedClock(database, options) : requireRealClock(database, options);
}

interface ClockOptions {
  /** The real clock. */
  readonly now: () => Date;
  /** Ends the process: outside a sandbox, money must not be held by a clock that someone has moved. */
  readonly reject: (reason: string) => void;
}

/** Notices a move within moments; decisions ask the database. */
async function followMovedClock(database: Database, { now }: ClockOptions): Promise<() => Date> {
  let aheadMs = 0;
  const read = async () => {
    aheadMs = await readClockAhead(database.reader).catch(() => aheadMs);
  };
  await read();
  // Also called after each connection, and so whenever a notification may have been missed.
  await database.listen(CHANNEL, () => void read());
  return () => new Date(now().getTime() + aheadMs);
}

const CHECK_PAUSE_MS = 1_000;
/** A start waits no longer than this for an unavailable database; the check continues in the background. */
const CHECK_AWAITED_MS = 2_000;

async function requireRealClock(database: Database, { now, reject }: ClockOptions): Promise<() => Date> {
  // While the database is unavailable, nothing else may keep the process alive yet: this wait does.
  const answered = new AbortController();
  const limit = sleep(CHECK_AWAITED_MS, undefined, { signal: answered.signal }).catch(() => {});
  await Promise.race([checkClock(database, reject), limit]);
  answered.abort();
  return now;
}

async function checkClock(database: Database, reject: ClockOptions['reject']): Promise<void> {
  for (;;) {
    const aheadMs = await readClockAhead(database.reader).catch(() => null);
    if (aheadMs === 0) return;
    if (aheadMs !== null) return reject(`${MOVED} It is ${Math.round(aheadMs / 1_000)} seconds ahead.`);
    await sleep(CHECK_PAUSE_MS, undefined, { ref: false });
  }
}

const MOVED =
  'This database is a sandbox’s, whose test clock has been moved: only `npm start` with its own Postgres runs on it.';

const LOCK = 'SELECT FROM sandbox_clock FOR UPDATE';
const MOVE = `UPDATE sandbox_clock SET ahead_ms = ceil(extract(epoch FROM $1::timestamptz - clock_timestamp()) * 1000)
  RETURNING ahead_ms::float8 AS "aheadMs"`;
/** Claims and leases last for real seconds: without this, a move would end them while their holders are still at work. */
const LENGTHEN_LEASES = [
  `UPDATE workflow_wakeups SET claimed_until = claimed_until + $2 * interval '1 millisecond' WHERE claimed_until > $1`,
  `UPDATE webhook_deliveries SET claimed_until = claimed_until + $2 * interval '1 millisecond'
   WHERE status = 'pending' AND claimed_until > $1`,
  `UPDATE webhook_shards SET busy_until = busy_until + $2 * interval '1 millisecond' WHERE busy_until > $1`,
] as const;

/** Moves the clock to the instant that `decide` returns for the present one; `decide` may reject. One move at a time. */
export async function moveSandboxClock(
  database: Database,
  decide: (tx: Transaction, now: Date) => Promise<Date>,
): Promise<{ readonly aheadMs: number }> {
  return database.transaction(async (tx) => {
    await tx.statement(LOCK, []);
    const now = await readClock(tx);
    const to = await decide(tx, now);
    for (const statement of LENGTHEN_LEASES) await tx.statement(statement, [now, to.getTime() - now.getTime()]);
    const [moved] = await tx.statement<{ aheadMs: number }>(MOVE, [to]);
    if (moved === undefined) throw new Error('the clock has no row');
    await tx.statement('SELECT pg_notify($1, $2)', [CHANNEL, '']);
    return moved;
  });
}

const NEXT_CUT_OFF = `
  SELECT min(cut_off_at) AS at FROM outgoing_transfers WHERE status = 'pending' AND cut_off_at > service_now()`;

/** The next cut-off of a pending transfer; null if none has one ahead. */
export async function findNextCutOff(reader: Reader): Promise<Date | null> {
  const [row] = await reader.statement<{ at: Date | null }>(NEXT_CUT_OFF, []);
  return row?.at ?? null;
}

const NEXT_DEADLINE = `
  WITH moment AS MATERIALIZED (SELECT service_now() AS now)
  SELECT min(at) AS at FROM (
    SELECT waiting_until FROM outgoing_transfers WHERE next_check_at IS NOT NULL
    UNION ALL SELECT next_check_at FROM accounts WHERE next_check_at IS NOT NULL
    UNION ALL SELECT expires_at FROM user_sign_ups WHERE next_check_at IS NOT NULL
    UNION ALL SELECT CASE status WHEN 'awaiting-authorisation' THEN request_expires_at WHEN 'awaiting-exchange' THEN code_expires_at
      ELSE expires_at END FROM open_banking_consents WHERE next_check_at IS NOT NULL
    UNION ALL SELECT next_attempt_at FROM webhook_deliveries WHERE status = 'pending'
  ) AS deadline (at) WHERE at > (SELECT now FROM moment)`;

/** When the service next acts on its own; null if nothing waits for a time. */
export async function findNextDeadline(reader: Reader): Promise<Date | null> {
  const [row] = await reader.statement<{ at: Date | null }>(NEXT_DEADLINE, []);
  return row?.at ?? null;
}

const SHARDS = sql`SELECT ${WEBHOOK_DELIVERY_WORKFLOW}::text AS type, shard AS id FROM webhook_shards`;

/**
 * Wakes every workflow that waits: each does what has fallen due and computes its timer again, since Temporal's timers
 * follow the real clock.
 */
export async function wakeAllWaiting(database: Database): Promise<void> {
  for (const type of OPEN_WORK_TYPES) await wakeAllOpen(database, type);
  await database.transaction((tx) => wakeEach(tx, SHARDS));
}

/** Runs the tasks of each day now rather than at Temporal's next schedule, by the same workflows. */
export async function wakeScheduled(database: Database): Promise<void> {
  await database.transaction(async (tx) => {
    for (const type of ['housekeeping', 'reconciliation']) await wake(tx, type, `${type}/sandbox-clock`);
  });
}

const UNDELIVERED = `SELECT count(*)::integer AS undelivered FROM workflow_wakeups
  WHERE parked_at IS NULL AND created_at <= $1`;

/** How many wake-ups from before this instant Temporal has not received. */
export async function countUndeliveredWakeups(reader: Reader, before: Date): Promise<number> {
  const [row] = await reader.statement<{ undelivered: number }>(UNDELIVERED, [before]);
  return row?.undelivered ?? 0;
}
