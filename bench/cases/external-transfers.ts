import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { PreparedRequest } from '../load/callers.ts';
import { type Contender, compare, type Measurement, median } from '../load/measure.ts';
import { processorTimeMs } from '../load/processor-time.ts';
import type { Bench } from '../main.ts';
import { serviceTransfers } from './transfers.ts';

/**
 * External transfers per round: enough to outweigh the slow start and end. A bare workflow takes about 45 ms of CPU.
 */
export const ROUND_COUNT = 200;
/** Warm-up: a worker runs at half speed for the first few hundred. */
export const WARM_UP_COUNT = 400;
const CALLERS = 16;
const POLL_MS = 50;
const ROUND_LIMIT_MS = 600_000;
/** Pause between POSTs of the latency measurement, so that their workflows do not saturate the machine. */
const PAUSE_MS = 200;
const PAYING_ACCOUNTS = 50;

export interface Runner {
  readonly name: string;
  readonly contender: Contender;
  /** Number ended so far. */
  readonly ended: () => Promise<number>;
  /** Requests of a round that can be sent once only; without it the contender's are drawn at random. */
  readonly prepare?: (count: number) => Promise<PreparedRequest[]>;
  readonly processIds: readonly number[];
}

/**
 * b. External transfers through workflow and bank, against bare workflows with as many steps; and the latency of
 * their POST.
 */
export async function benchExternalTransfers(bench: Bench): Promise<Measurement[]> {
  const connection = await Connection.connect({ address: bench.stage.temporal.address });
  try {
    const external = serviceExternal(bench, await payableRequests(bench));
    bench.say('b. external transfers, completed …');
    const measurements = await completed(bench, runners(bench, external, new Client({ connection })));
    bench.say('b. POST beside workflows …');
    const straight = { ...serviceTransfers(bench, false), name: 'straight-through' };
    const paced = [straight, external].map((one) => ({ ...one, load: { ...one.load, pauseMs: PAUSE_MS } }));
    const run = {
      callers: bench.callers,
      counts: [1],
      seconds: bench.options.seconds * 2,
      rounds: bench.options.rounds,
    };
    measurements.push(...(await compare('POST, Temporal runs', paced, run)));
    return measurements;
  } finally {
    await connection.close();
  }
}

/** The same POST without Temporal: its wake-ups are never processed, so this comes last. */
export async function benchWithoutTemporal(bench: Bench): Promise<Measurement[]> {
  const external = serviceExternal(bench, await payableRequests(bench));
  bench.say('b. POST with Temporal stopped …');
  await bench.stage.stopTemporal();
  const straight = { ...serviceTransfers(bench, false), name: 'straight-through' };
  const { seconds, rounds } = bench.options;
  return compare('POST, Temporal stopped', [straight, external], {
    callers: bench.callers,
    counts: [1, CALLERS],
    seconds,
    rounds,
  });
}

export function runners(bench: Bench, external: Contender, client: Client): readonly Runner[] {
  const { stage } = bench;
  const shared = [stage.postgres.process.pid, stage.temporal.process.pid];
  const countFloor = async () =>
    (await client.workflow.count(`WorkflowType = 'floor' AND ExecutionStatus = 'Completed'`)).count;
  // Counts new ones only: it runs twenty times a second, beside tens of thousands of transfers of other cases.
  const since = new Date();
  const countTransfers = async () => {
    const [row] = await stage.sql<{ ended: number }[]>`
      SELECT count(*)::integer AS ended FROM outgoing_transfers
      WHERE id >= uuidv7_floor(${since}) AND scope = 'external' AND status = 'completed'`;
    return row?.ended ?? 0;
  };
  return [
    {
      name: 'floor',
      contender: {
        name: 'floor',
        processIds: [],
        load: {
          origin: stage.floor.origin,
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          idempotent: false,
          requests: [{ path: '/workflows', body: '{}' }],
        },
      },
      ended: countFloor,
      processIds: [...shared, stage.floor.process.pid, stage.floorWorker.pid],
    },
    {
      name: 'service',
      contender: external,
      ended: countTransfers,
      processIds: [...shared, stage.api.process.pid, stage.worker.pid, stage.sandbox.pid],
    },
  ];
}

async function completed(bench: Bench, all: readonly Runner[]): Promise<Measurement[]> {
  return compareCompleted(bench, 'external transfers, completed', all, CALLERS);
}

/** The runners' rounds in turns, after a warm-up of each. */
export async function compareCompleted(
  bench: Bench,
  of: string,
  all: readonly Runner[],
  callers: number,
): Promise<Measurement[]> {
  const samples = new Map<Runner, { perSecond: number; processorMs: number }[]>(all.map((runner) => [runner, []]));
  for (const runner of all) await complete(bench, runner, WARM_UP_COUNT, callers);
  for (let round = 0; round < bench.options.rounds; round += 1) {
    for (const runner of all) {
      const sample = await complete(bench, runner, ROUND_COUNT, callers);
      bench.say(
        `${of}: ${runner.name} ${Math.round(sample.perSecond)} a second, ${Math.round(sample.processorMs)} ms of CPU`,
      );
      samples.get(runner)?.push(sample);
    }
  }
  return [...samples].map(([{ name }, taken]) => ({
    case: of,
    contender: name,
    callers,
    perSecond: median(taken.map(({ perSecond }) => perSecond)),
    p50Ms: null,
    p99Ms: null,
    processorMs: median(taken.map(({ processorMs }) => processorMs)),
  }));
}

/** How many external transfers were ordered since, and how long they waited to be completed; returns when all are. */
export async function paidSince(
  { stage }: Bench,
  since: Date,
  limitMs: number,
): Promise<{ count: number; p50Ms: number; p99Ms: number }> {
  const startedMs = performance.now();
  for (;;) {
    const [row] = await stage.sql<{ open: number; count: number; p50Ms: number; p99Ms: number }[]>`
      WITH paid AS (
        SELECT status, 1000 * extract(epoch FROM updated_at - created_at) AS waited_ms FROM outgoing_transfers
        WHERE created_at >= ${since} AND scope = 'external'
      )
      SELECT count(*) FILTER (WHERE status <> 'completed')::integer AS open, count(*)::integer AS count,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY waited_ms)::float8 AS "p50Ms",
        percentile_cont(0.99) WITHIN GROUP (ORDER BY waited_ms)::float8 AS "p99Ms" FROM paid`;
    if (row !== undefined && row.open === 0) return row;
    if (performance.now() - startedMs > limitMs) throw new Error('not all payments were completed in time');
    await sleep(PAUSE_MS);
  }
}

/** Has as many completed as wanted, asked for by so many callers at once, and waits for the last. */
export async function complete(
  bench: Bench,
  runner: Runner,
  wanted: number,
  callers = CALLERS,
): Promise<{ perSecond: number; processorMs: number }> {
  const prepared = runner.prepare && { requests: await runner.prepare(wanted), once: true };
  const before = await runner.ended();
  const processorBeforeMs = processorTimeMs(runner.processIds);
  const startedMs = performance.now();
  const extent = { callers, seconds: ROUND_LIMIT_MS / 1000, count: wanted };
  const { count } = await bench.callers.run({ ...runner.contender.load, ...prepared, ...extent });
  while ((await runner.ended()) < before + count) {
    if (performance.now() - startedMs > ROUND_LIMIT_MS) throw new Error(`${runner.name}: not all ended in time`);
    await sleep(POLL_MS);
  }
  const elapsedMs = performance.now() - startedMs;
  const processorMs = (processorTimeMs(runner.processIds) - processorBeforeMs) / count;
  return { perSecond: count / (elapsedMs / 1000), processorMs };
}

export function serviceExternal(bench: Bench, requests: readonly PreparedRequest[]): Contender {
  return {
    ...serviceTransfers(bench, false),
    name: 'service',
    load: { ...serviceTransfers(bench, false).load, requests },
  };
}

/** External payments by some of the accounts' clients to a beneficiary; dated ahead if a date is given. */
export async function payableRequests(bench: Bench, transferDate?: string): Promise<PreparedRequest[]> {
  const paying = bench.accounts.slice(0, PAYING_ACCOUNTS);
  const rows = await bench.stage.sql<{ clientId: string; bankAccountId: string }[]>`
    WITH made AS (
      INSERT INTO beneficiaries (id, client_id, full_name, created_at)
      SELECT uuidv7(), client_id, 'Bench Payee', service_now()
      FROM unnest(${paying.map(({ clientId }) => clientId)}::uuid[]) AS client_id RETURNING id, client_id
    ), accounts AS (
      INSERT INTO beneficiary_bank_accounts (id, beneficiary_id, status, account_holder_name, country, currency,
        account_number, routing_codes, created_at)
      SELECT uuidv7(), id, 'active', 'Bench Payee', 'GB', 'GBP', '31926819', '{"sort-code": "601613"}', service_now()
      FROM made RETURNING id, beneficiary_id
    )
    SELECT made.client_id AS "clientId", accounts.id AS "bankAccountId"
    FROM accounts JOIN made ON made.id = accounts.beneficiary_id`;
  return rows.map(({ clientId, bankAccountId }) => {
    const accountId = paying.find((account) => account.clientId === clientId)?.accountId;
    const outgoingTransfer = {
      clientId,
      currency: 'GBP',
      amount: 1,
      scope: 'external',
      scheme: 'faster-payments',
      description: 'Bench',
      ...(transferDate === undefined ? {} : { transferDate }),
      source: { type: 'client-account', accountId },
      destination: { type: 'beneficiary-bank-account', beneficiaryBankAccountId: bankAccountId },
    };
    const body = JSON.stringify({ workflow: { code: 'client.direct' }, data: { outgoingTransfer } });
    return { path: '/outgoing-transfers', body };
  });
}
