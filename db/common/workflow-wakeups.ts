import { eq, isNotNull, type SQL, sql } from 'drizzle-orm';
import { PRIORITIES } from '../../domain/common/waits.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type Given, prepared, type RowOf } from '../query/queries.ts';
import { writing } from '../query/row-writers.ts';
import { workflowWakeups } from './schema.ts';

const ASKED_AGAIN = `generation = workflow_wakeups.generation + 1,
  priority = least(workflow_wakeups.priority, excluded.priority),
  next_attempt_at = least(workflow_wakeups.next_attempt_at, excluded.next_attempt_at), parked_at = NULL,
  traceparent = coalesce(excluded.traceparent, workflow_wakeups.traceparent)`;

interface Wakeup {
  readonly workflowType: string;
  readonly workflowId: string;
  readonly traceparent: string | undefined;
}

// Each once, in one lock order.
const WAKE = writing<Wakeup>({
  name: 'wake-ups',
  stage: 'wake-ups',
  columns: 'id text, type text, traceparent text',
  recordOf: ({ workflowId, workflowType, traceparent }) =>
    JSON.stringify({ id: workflowId, type: workflowType, traceparent }),
  textOf: (rows) => wakeupsOf(`SELECT id, type, min(traceparent) AS traceparent FROM ${rows} GROUP BY id, type`),
});

/** The text that requests wake-ups of the workflows (`id`, `type`, `traceparent`) of a query. */
export function wakeupsOf(query: string): string {
  return `INSERT INTO workflow_wakeups (workflow_id, workflow_type, next_attempt_at, created_at, traceparent)
    SELECT id, type, service_now(), service_now(), traceparent FROM (${query}) AS asked ORDER BY id
    ON CONFLICT (workflow_id) DO UPDATE SET ${ASKED_AGAIN}`;
}

/**
 * Requests, in the transaction of a change and with its commit, that the workflow read its row again. The relay forwards the
 * request to Temporal. A repeated request raises the generation, which keeps the relay from deleting it as already delivered.
 */
export function wake(tx: Transaction, workflowType: string, workflowId: string): void {
  tx.noteWakeup();
  tx.sendEach(WAKE, [{ workflowType, workflowId, traceparent: tx.traceparent }]);
}

/**
 * Wakes the workflow of each row (`type`, `id`) of a query, in one statement and in one lock order. `priority` may refer to the
 * row's columns.
 */
export async function wakeEach(tx: Transaction, rows: SQL, priority: SQL = sql`${PRIORITIES.usual}`): Promise<void> {
  tx.noteWakeup();
  await tx.execute(sql`
    INSERT INTO workflow_wakeups (workflow_id, workflow_type, priority, next_attempt_at, created_at, traceparent)
    SELECT type || '/' || id, type, (${priority})::smallint, service_now(), service_now(), ${tx.traceparent ?? null}::text FROM (${rows}) AS row ORDER BY 1
    ON CONFLICT (workflow_id) DO UPDATE SET ${sql.raw(ASKED_AGAIN)}`);
}

export interface ClaimedWakeup {
  readonly workflowId: string;
  readonly workflowType: string;
  readonly priority: number;
  readonly generation: bigint;
  readonly attemptCount: number;
  readonly claimToken: string;
  /** Of the request that asked for it, if that one is traced. */
  readonly traceparent: string | null;
}

const CLAIMED = `wakeup.workflow_id AS "workflowId", wakeup.workflow_type AS "workflowType", wakeup.priority,
  wakeup.generation, wakeup.attempt_count AS "attemptCount", wakeup.claim_token AS "claimToken", wakeup.traceparent`;
// Rows are found by ctid, so that the work grows with the rows and not with their square: the table is empty most of the time,
// and while the statistics say so, Postgres joins it by nested loops. SKIP LOCKED keeps a delivered wake-up if a
// transaction is requesting it again right now. A row that changed since the statement began is left for the next poll.
const SETTLE_AND_CLAIM = `
  WITH settled AS (
    DELETE FROM workflow_wakeups AS wakeup WHERE ctid = ANY (ARRAY(
      SELECT waiting.ctid FROM workflow_wakeups AS waiting
        JOIN unnest($1::text[], $2::bigint[], $3::uuid[]) AS signalled (workflow_id, generation, claim_token)
          USING (workflow_id, generation, claim_token)
      WHERE waiting.workflow_id = ANY ($1::text[]) FOR UPDATE OF waiting SKIP LOCKED))
    RETURNING ${CLAIMED}
  ), claimed AS (
    UPDATE workflow_wakeups AS wakeup SET claim_token = $4::uuid, claimed_until = service_now() + $5::interval
    WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM workflow_wakeups
      WHERE parked_at IS NULL AND next_attempt_at <= (SELECT service_now())
        AND (claimed_until IS NULL OR claimed_until < (SELECT service_now()))
      ORDER BY priority, next_attempt_at LIMIT $6 FOR UPDATE SKIP LOCKED))
    RETURNING ${CLAIMED}
  )
  SELECT true AS "isSettled", settled.* FROM settled UNION ALL SELECT false, claimed.* FROM claimed`;

interface Claim {
  readonly token: string;
  readonly limit: number;
  readonly leaseMs: number;
}

/**
 * Deletes delivered wake-ups and claims due ones for `leaseMs`, by priority and age, in one round trip. The claimer signals Temporal
 * outside of any transaction; if it dies, the lease ends and another relay takes over. A delivered wake-up that is absent
 * from `settled` was requested again, is locked, or is no longer this relay's: `settleWakeup` finds out which.
 */
export async function settleAndClaimWakeups(
  reader: Reader,
  signalled: readonly ClaimedWakeup[],
  { token, limit, leaseMs }: Claim,
): Promise<{ readonly settled: ReadonlySet<string>; readonly claimed: readonly ClaimedWakeup[] }> {
  const rows = await reader.statement<ClaimedWakeup & { readonly isSettled: boolean }>(SETTLE_AND_CLAIM, [
    signalled.map(({ workflowId }) => workflowId),
    signalled.map(({ generation }) => generation),
    signalled.map(({ claimToken }) => claimToken),
    token,
    `${leaseMs} milliseconds`,
    limit,
  ]);
  return {
    settled: new Set(rows.filter(({ isSettled }) => isSettled).map(({ workflowId }) => workflowId)),
    claimed: rows.filter(({ isSettled }) => !isSettled),
  };
}

/**
 * Deletes a wake-up that Temporal has received, or makes it due again if it was requested again meanwhile. Two statements,
 * because the second must see what the first one waited for.
 */
export async function settleWakeup(reader: Reader, wakeup: ClaimedWakeup): Promise<void> {
  const { workflowId, generation, claimToken } = wakeup;
  const deleted = await reader.execute(sql`
    DELETE FROM workflow_wakeups
    WHERE workflow_id = ${workflowId} AND generation = ${generation} AND claim_token = ${claimToken}::uuid
    RETURNING workflow_id`);
  if (deleted.length === 0) await releaseWakeup(reader, wakeup, 0);
}

/** Returns a claim, due again after `delayMs`. With a `reason` the attempt counts as failed. */
export async function releaseWakeup(
  reader: Reader,
  wakeup: ClaimedWakeup,
  delayMs: number,
  reason: string | null = null,
): Promise<void> {
  await reader.execute(sql`
    UPDATE workflow_wakeups SET claim_token = NULL, claimed_until = NULL, last_error = ${reason},
      attempt_count = attempt_count + ${reason === null ? 0 : 1},
      next_attempt_at = service_now() + ${`${delayMs} milliseconds`}::interval
    WHERE workflow_id = ${wakeup.workflowId} AND claim_token = ${wakeup.claimToken}::uuid`);
}

/** Keeps a wake-up that Temporal found invalid for an operator; only a new request tries it again. */
export async function parkWakeup(reader: Reader, wakeup: ClaimedWakeup, reason: string): Promise<void> {
  await reader.execute(sql`
    UPDATE workflow_wakeups SET claim_token = NULL, claimed_until = NULL, last_error = ${reason},
      attempt_count = attempt_count + 1, parked_at = service_now()
    WHERE workflow_id = ${wakeup.workflowId} AND generation = ${wakeup.generation}
      AND claim_token = ${wakeup.claimToken}::uuid`);
}

const PARKED = prepared((db, given: Given<{ limit: number }>) => {
  const { workflowId, workflowType, parkedAt, attemptCount, lastError } = workflowWakeups;
  return db
    .select({ workflowId, workflowType, parkedAt: sql<Date>`${parkedAt}`, attemptCount, lastError })
    .from(workflowWakeups)
    .where(isNotNull(parkedAt))
    .orderBy(parkedAt)
    .limit(given.limit);
});

export type ParkedWakeup = RowOf<typeof PARKED>;

export function listParkedWakeups(reader: Reader, limit: number): Promise<ParkedWakeup[]> {
  return reader.run(PARKED, { limit });
}

const WAKEUP = prepared((db, given: Given<{ workflowId: string }>) => {
  const { workflowId, createdAt, parkedAt, attemptCount, lastError } = workflowWakeups;
  return db
    .select({ createdAt, parkedAt, attemptCount, lastError })
    .from(workflowWakeups)
    .where(eq(workflowId, given.workflowId));
});

/** A wake-up that Temporal has not received; null if there is none. */
export type PendingWakeup = RowOf<typeof WAKEUP>;

export function findWakeup(reader: Reader, workflowId: string): Promise<PendingWakeup | null> {
  return reader.first(WAKEUP, { workflowId });
}

/** The relay's backlog: the age in seconds of the oldest wake-up that is not parked, and the number of parked ones. */
export async function readRelayBacklog(reader: Reader): Promise<{ lagSeconds: number; parked: number }> {
  const [row] = await reader.execute<{ lagSeconds: number; parked: number }>(sql`
    SELECT coalesce(extract(epoch FROM service_now() - min(created_at) FILTER (WHERE parked_at IS NULL)), 0)::float8
      AS "lagSeconds", (count(*) FILTER (WHERE parked_at IS NOT NULL))::integer AS parked FROM workflow_wakeups`);
  return row ?? { lagSeconds: 0, parked: 0 };
}

/** Which of these workflows have a pending wake-up. */
export async function whichAreWaking(reader: Reader, workflowIds: readonly string[]): Promise<Set<string>> {
  if (workflowIds.length === 0) return new Set();
  const rows = await reader.statement<{ id: string }>(
    `SELECT workflow_id AS id FROM workflow_wakeups WHERE parked_at IS NULL AND workflow_id = ANY ($1::text[])`,
    [workflowIds],
  );
  return new Set(rows.map((row) => row.id));
}
