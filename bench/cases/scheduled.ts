import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { stopProcess } from '../../cli/common/processes.ts';
import { loadConfiguration } from '../../config/configuration.ts';
import type { Bench } from '../bench.ts';
import { type Measurement, median } from '../load/measure.ts';
import { processorTimeMs, residentBytes } from '../load/processor-time.ts';
import {
  complete,
  paidSince,
  payableRequests,
  ROUND_COUNT,
  type Runner,
  runners,
  serviceExternal,
  WARM_UP_COUNT,
} from './external-transfers.ts';

const CALLERS = 16;
const POLL_MS = 500;
/** Most releases that are measured: enough that the first minute has little weight, without taking half an hour. */
const MEASURED_MAX = 5_000;
/** A transfer that begins to wait costs about half as much as one that is paid; this leaves capacity for other load. */
const WAITING_PER_PAID = 1;
const LEAD_MS_MIN = 120_000;
const MEBIBYTE = 1024 ** 2;
const CASE = 'scheduled transfers, released at their minute';
/** Payments of one caller for today. */
const URGENT = { callers: 1, seconds: 60, count: 10, pauseMs: 1_000 };
const URGENT_LIMIT_MS = 3_600_000;
/** How far into the release: more transfers are due then than the worker can pay during the measurement. */
const RELEASING_MS = 40_000;

interface Sample {
  readonly perSecond: number;
  readonly processorMs: number;
}

/**
 * Thousands of transfers wait for the same minute. Measures how much memory of the worker they use, and how fast they are paid afterwards,
 * compared with bare workflows before and after. The minute is the opening of their scheme on the next day. The service's clock is shifted
 * so that all are waiting by then.
 */
export async function benchScheduled(bench: Bench): Promise<Measurement[]> {
  const { stage, options, say } = bench;
  const count = options.scheduled;
  const connection = await Connection.connect({ address: stage.temporal.address });
  const client = new Client({ connection });
  try {
    say('scheduled. warming up …');
    const [floor, service] = runners(bench, serviceExternal(bench, await payableRequests(bench)), client);
    if (floor === undefined || service === undefined) throw new Error('there are two contenders');
    for (const runner of [floor, service]) await complete(bench, runner, WARM_UP_COUNT);
    const floorSamples = await rounds(bench, floor);
    const paid = await complete(bench, service, ROUND_COUNT);
    const unloaded = await urgent(bench, 'without scheduled transfers');

    const leadMs = LEAD_MS_MIN + (count / (WAITING_PER_PAID * paid.perSecond)) * 1_000;
    const { transferDate, opensAtMs } = await shiftClock(bench, leadMs);
    const beforeBytes = residentBytes(stage.worker.pid);
    const startedMs = performance.now();
    const { load } = serviceExternal(bench, await payableRequests(bench, transferDate));
    const created = await bench.callers.run({ ...load, callers: CALLERS, seconds: leadMs / 1_000, count });
    const [waiting, ordered] = await Promise.all([
      untilWaiting(client, created.count, opensAtMs),
      urgent(bench, `when ${created.count} have been ordered for later`),
    ]);
    const grownMiB = Math.round((residentBytes(stage.worker.pid) - beforeBytes) / MEBIBYTE);
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    say(
      `scheduled. ${waiting} wait after ${seconds} s; the worker has grown by ${grownMiB} MiB to ${Math.round(residentBytes(stage.worker.pid) / MEBIBYTE)} MiB`,
    );

    await sleep(Math.max(0, opensAtMs - Date.now()));
    const [released, releasing] = await Promise.all([
      release(service, Math.min(created.count, MEASURED_MAX)),
      sleep(RELEASING_MS).then(() => urgent(bench, `while ${created.count} are released`)),
    ]);
    say(
      `scheduled. the worker has ${Math.round(residentBytes(stage.worker.pid) / MEBIBYTE)} MiB while it releases them`,
    );
    // Transfers that still wait for release must not slow down the floor.
    await stopProcess(stage.worker, { graceMs: 20_000 });
    floorSamples.push(...(await rounds(bench, floor)));
    return [
      measurement('floor', floorSamples),
      measurement(`service, ${created.count} waiting`, [released]),
      ...[unloaded, ordered, releasing],
    ];
  } finally {
    await connection.close();
  }
}

/** How long payments for today take to be completed. */
async function urgent(bench: Bench, contender: string): Promise<Measurement> {
  const [clock] = await bench.stage.sql<{ now: Date }[]>`SELECT service_now() AS now`;
  const { load } = serviceExternal(bench, await payableRequests(bench));
  const startedMs = performance.now();
  await bench.callers.run({ ...load, ...URGENT });
  const { count, p50Ms, p99Ms } = await paidSince(bench, clock?.now ?? new Date(), URGENT_LIMIT_MS);
  const perSecond = (count / (performance.now() - startedMs)) * 1_000;
  bench.say(`scheduled. a payment for today ${contender}: ${Math.round(p50Ms)} ms, 99 of 100 ${Math.round(p99Ms)} ms`);
  const name = 'external payment for today, until completed';
  return { case: name, contender, callers: URGENT.callers, perSecond, p50Ms, p99Ms, processorMs: null };
}

async function rounds(bench: Bench, runner: Runner): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let round = 0; round < bench.options.rounds; round += 1)
    samples.push(await complete(bench, runner, ROUND_COUNT));
  return samples;
}

/** Shifts the service's clock to `leadMs` before the next day's opening. Sessions read it from the database when they begin. */
async function shiftClock({ stage }: Bench, leadMs: number): Promise<{ transferDate: string; opensAtMs: number }> {
  const { schemes } = loadConfiguration(process.env);
  const transferDate = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);
  const opens = schemes.opensAt({ scheme: 'faster-payments', currency: 'GBP' }, transferDate).getTime();
  const opensAtMs = Date.now() + leadMs;
  const offset = `${Math.round(opens - opensAtMs)} milliseconds`;
  const [row] = await stage.sql<{ name: string }[]>`SELECT current_database() AS name`;
  await stage.sql.unsafe(`ALTER DATABASE "${row?.name ?? ''}" SET service.clock_offset = '${offset}'`);
  const sessions = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid';
  await stage.sql.unsafe(`${sessions} <> pg_backend_pid()`);
  // The bench's own sessions use the clock too. This one cannot be used after that.
  await stage.sql.unsafe(`${sessions} = pg_backend_pid()`).catch(() => {});
  await sleep(2_000);
  return { transferDate, opensAtMs };
}

/** Waits until all have their timer; fails if their minute comes first. */
async function untilWaiting(client: Client, count: number, opensAtMs: number): Promise<number> {
  const query = "WorkflowType = 'outgoing-transfer' AND WaitingFor = 'date' AND ExecutionStatus = 'Running'";
  for (;;) {
    const { count: waiting } = await client.workflow.count(query);
    if (waiting >= count) return waiting;
    if (Date.now() > opensAtMs) throw new Error(`only ${waiting} of ${count} waited when their minute came`);
    await sleep(POLL_MS);
  }
}

/** The rate from that minute on, including the jitter. */
async function release(service: Runner, wanted: number): Promise<Sample> {
  const before = await service.ended();
  const processorBeforeMs = processorTimeMs(service.processIds);
  const startedMs = performance.now();
  let ended = 0;
  while (ended < wanted) {
    await sleep(POLL_MS);
    ended = (await service.ended()) - before;
  }
  const elapsedMs = performance.now() - startedMs;
  return {
    perSecond: (ended / elapsedMs) * 1_000,
    processorMs: (processorTimeMs(service.processIds) - processorBeforeMs) / ended,
  };
}

function measurement(contender: string, samples: readonly Sample[]): Measurement {
  return {
    case: CASE,
    contender,
    callers: CALLERS,
    perSecond: median(samples.map(({ perSecond }) => perSecond)),
    p50Ms: null,
    p99Ms: null,
    processorMs: median(samples.map(({ processorMs }) => processorMs)),
  };
}
