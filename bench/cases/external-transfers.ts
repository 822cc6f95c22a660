import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { Bench } from '../bench.ts';
import type { PreparedRequest } from '../load/callers.ts';
import { type Contender, compare, type Measurement, median } from '../load/measure.ts';
import { processorTimeMs } from '../load/processor-time.ts';
import { serviceTransfers } from './transfers.ts';

/**
 * External transfers per round: enough to outweigh the slow start and end. A bare workflow takes about 45 ms of CPU.
 */
export const ROUND_COUNT = 200;
/** Warm-up: a worker runs at half speed for its first few hundred transfers. */
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
  /** The number completed so far. */
  readonly ended: () => Promise<number>;
  /** Prepares the requests of a round if each can be sent only once; otherwise the contender's requests are drawn at random. */
  readonly prepare?: (count: number) => Promise<PreparedRequest[]>;
  readonly processIds: readonly number[];
}

/**
 * b. External transfers through workflow and bank, compared with bare workflows with as many steps; and the latency of
 * their POST.
 */
export async function benchExternalTransfers(bench: Bench): Promise<Measurement[]> {
  const connection = await Connection.connect({ address: bench.stage.temporal.address });
  try {
    const external = serviceExternal(bench, await payableRequests(bench));
    bench.say('b. external transfers, completed …');
    const measurements = await completed(bench, runners(bench, external, new Client({ connection })));
    bench.say('b. POST during workflows …');
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

/** The same POST without Temporal. It comes last, because its wake-ups are never processed. */
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
  const shared = [stage.postgres.process.pid, ...stage.temporal.processIds];
  const countFloor = async () =>
    (await client.workflow.count(`WorkflowType = 'floor' AND ExecutionStatus = 'Completed'`)).count;
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
    serviceRunner(bench, external),
  ];
}

export function serviceRunner({ stage }: Bench, external: Contender): Runner {
  const { postgres, temporal, api, worker, sandbox, sql } = stage;
  // Counts only new ones: it runs twenty times a second, and other cases have made tens of thousands of transfers.
  const since = new Date();
  return {
    name: 'service',
    contender: external,
    ended: async () => {
      const [row] = await sql<{ ended: number }[]>`
        SELECT count(*)::integer AS ended FROM outgoing_transfers
        WHERE id >= uuidv7_floor(${since}) AND scope = 'external' AND status = 'completed'`;
      return row?.ended ?? 0;
    },
    processIds: [postgres.process.pid, ...temporal.processIds, api.process.pid, worker.pid, sandbox.pid],
  };
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

/** Waits until all external transfers created since then are completed; returns their number and how long they took. */
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

/** Sends the wanted number of requests with concurrent callers, and waits until all are completed. */
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

/** External payments by some of the accounts' clients to a beneficiary; dated ahead if a date is given. The amount decides what the bank does. */
export async function payableRequests(bench: Bench, transferDate?: string, amount = 1): Promise<PreparedRequest[]> {
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
      amount,
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
