import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { Bench } from '../bench.ts';
import { Callers, type LoadResult } from '../load/callers.ts';
import type { Measurement } from '../load/measure.ts';
import { paidSince, payableRequests, serviceExternal } from './external-transfers.ts';
import { serviceTransfers } from './transfers.ts';

/** How long payments are measured, before and after the consents begin to expire; all should expire within this time. */
const MEASURED_MS = 30_000;
const WARM_UP_MS = 15_000;
/** Allows time for all workflows to start, which are faster than this even on a busy machine. */
const STARTED_PER_SECOND = 8;
/** Callers pause, so that latency is measured and not the capacity of the machine. */
const STRAIGHT = { callers: 1, pauseMs: 50 };
const EXTERNAL = { callers: 4, pauseMs: 1_000 };
const POLL_MS = 500;
const LIMIT_MS = 600_000;

/** Payments of one period: straight through, and through workflow and bank. */
interface Period {
  readonly straight: LoadResult;
  readonly external: { readonly count: number; readonly p50Ms: number; readonly p99Ms: number };
}

/**
 * Thousands of consents expire at the same instant. Measures when each has expired, and how long payments take meanwhile, compared
 * with the same payments just before.
 */
export async function benchConsents(bench: Bench): Promise<Measurement[]> {
  const { stage, options, say } = bench;
  const count = options.consents;
  const connection = await Connection.connect({ address: stage.temporal.address });
  const client = new Client({ connection });
  const others = new Callers();
  try {
    const leadMs = WARM_UP_MS + 2 * MEASURED_MS + (count / STARTED_PER_SECOND) * 1_000;
    const expiresAt = new Date(Date.now() + leadMs);
    await request(bench, count, expiresAt);
    const startedMs = performance.now();
    await untilWaiting(client, count, expiresAt.getTime() - WARM_UP_MS - MEASURED_MS);
    say(`consents. ${count} wait after ${Math.round((performance.now() - startedMs) / 1_000)} s`);

    await sleep(expiresAt.getTime() - WARM_UP_MS - MEASURED_MS - Date.now());
    await period(bench, others, WARM_UP_MS);
    const before = await period(bench, others, expiresAt.getTime() - Date.now());
    const during = await period(bench, others, MEASURED_MS);
    await untilExpired(bench, count);
    const open = await client.workflow.count(RUNNING);
    const afterSeconds = Math.round((Date.now() - expiresAt.getTime()) / 1_000);
    say(`consents. ${await describe(bench, expiresAt)}; ${open.count} workflows still run after ${afterSeconds} s`);
    say(`consents. 99 of 100 external payments and straight-through ones wait at most ${ratios(before, during)}`);
    return [...measurements('before', before), ...measurements(`while ${count} consents expire`, during)].toSorted(
      (one, other) => one.case.localeCompare(other.case),
    );
  } finally {
    others.close();
    await connection.close();
  }
}

/** Consent requests of one third party, written as by POST. */
async function request({ stage: { sql } }: Bench, count: number, expiresAt: Date): Promise<void> {
  const party = randomUUID();
  await sql`
    INSERT INTO third_party_providers (id, name, website, application_name, application_description, application_website, redirect_uris, jwks,
      status, created_at, updated_at, active_since)
    VALUES (${party}, 'Bench', 'https://bench.example', 'Bench', 'Bench', 'https://bench.example', '{https://bench.example/}', '{"keys": []}',
      'active', service_now(), service_now(), service_now())`;
  await sql`
    WITH requested AS (
      INSERT INTO open_banking_consents (id, third_party_provider_id, status, scope, redirect_uri, state, nonce, request_expires_at,
        next_check_at, created_at)
      SELECT uuidv7(), ${party}, 'awaiting-authorisation', 'accounts', 'https://bench.example/', 's', 'n', ${expiresAt},
        ${expiresAt}::timestamptz + interval '1 minute', service_now() FROM generate_series(1, ${count}::integer) RETURNING id
    )
    INSERT INTO workflow_wakeups (workflow_id, workflow_type, next_attempt_at, created_at)
    SELECT 'consent/' || id, 'consent', service_now(), service_now() FROM requested`;
  await sql`ANALYZE open_banking_consents`;
}

const RUNNING = "WorkflowType = 'consent' AND ExecutionStatus = 'Running'";

async function untilWaiting(client: Client, count: number, latestMs: number): Promise<void> {
  for (;;) {
    const { count: waiting } = await client.workflow.count(`${RUNNING} AND WaitingFor = 'account-holder'`);
    if (waiting >= count) return;
    if (Date.now() > latestMs) throw new Error(`only ${waiting} of ${count} waited in time`);
    await sleep(POLL_MS);
  }
}

/** Makes both kinds of payments concurrently for this time, and waits until the last is completed. */
async function period(bench: Bench, others: Callers, lengthMs: number): Promise<Period> {
  const { stage, callers } = bench;
  const seconds = lengthMs / 1_000;
  const [clock] = await stage.sql<{ now: Date }[]>`SELECT service_now() AS now`;
  const { load } = serviceExternal(bench, await payableRequests(bench));
  const [straight] = await Promise.all([
    callers.run({ ...serviceTransfers(bench, false).load, ...STRAIGHT, seconds }),
    others.run({ ...load, ...EXTERNAL, seconds }),
  ]);
  return { straight, external: await paidSince(bench, clock?.now ?? new Date(), LIMIT_MS) };
}

const EXPIRED = `SELECT count(*)::integer AS count FROM open_banking_consents WHERE status = 'expired'`;

async function untilExpired({ stage }: Bench, count: number): Promise<void> {
  const startedMs = performance.now();
  for (;;) {
    const [row] = await stage.sql.unsafe<{ count: number }[]>(EXPIRED);
    if ((row?.count ?? 0) >= count) return;
    if (performance.now() - startedMs > LIMIT_MS) throw new Error(`only ${row?.count} of ${count} have expired`);
    await sleep(POLL_MS);
  }
}

/** Counts events, of which each consent has one. */
async function describe({ stage: { sql } }: Bench, expiresAt: Date): Promise<string> {
  const [row] = await sql<{ events: number; resources: number; half: number; last: number }[]>`
    SELECT count(*)::integer AS events, count(DISTINCT resource_id)::integer AS resources,
      percentile_disc(0.5) WITHIN GROUP (ORDER BY after)::float8 AS half, max(after)::float8 AS last
    FROM (SELECT resource_id, extract(epoch FROM occurred_at - ${expiresAt}) AS after FROM events
      WHERE module = 'open-banking-consents' AND entries::text LIKE '%"consent-expired"%') AS expired`;
  if (row === undefined || row.events !== row.resources) throw new Error('a consent has expired twice');
  return `${row.events} expired, half of them after ${row.half.toFixed(1)} s, the last after ${row.last.toFixed(1)} s`;
}

function ratios(before: Period, during: Period): string {
  const [external, straight] = [
    during.external.p99Ms / before.external.p99Ms,
    during.straight.p99Ms / before.straight.p99Ms,
  ];
  return `${external.toFixed(2)} and ${straight.toFixed(2)} times as long as before`;
}

function measurements(contender: string, { straight, external }: Period): Measurement[] {
  const perSecond = (count: number) => (count / MEASURED_MS) * 1_000;
  const of = (name: string, callers: number, { count, p50Ms, p99Ms }: Period['external']): Measurement => ({
    case: `consents: ${name}`,
    contender,
    callers,
    perSecond: perSecond(count),
    p50Ms,
    p99Ms,
    processorMs: null,
  });
  return [
    of('external payment, until completed', EXTERNAL.callers, external),
    of('straight-through payment', STRAIGHT.callers, straight),
  ];
}
