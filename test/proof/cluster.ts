import { setTimeout as sleep } from 'node:timers/promises';
import { temporalSettings } from '../../config/temporal.ts';
import { lazyTemporalClient } from '../../loops/temporal.ts';
import { closeLinks, type ServiceUnderLoad, settleAndCheck, startUnderLoad } from '../harness/faults/crash-run.ts';
import { executeOn } from '../harness/servers/postgres.ts';
import type { ServiceProcess } from '../harness/servers/service-process.ts';
import type { WholeService } from '../harness/servers/whole-service.ts';
import { until } from '../harness/stage.ts';

export interface ClusterRunOptions {
  readonly seed: number;
  /** External payments, shared equally by the parts. */
  readonly payments: number;
  /** By default all, in their order. */
  readonly parts?: readonly PartName[];
  readonly say: (line: string) => void;
}

/** What was seen in one part of the run. */
export interface PartResult {
  readonly name: PartName;
  readonly seconds: number;
  readonly requests: number;
  /** Without an answer, or with a 500. */
  readonly failed: number;
  /** Answered with 503, as on a machine with too much to do: nothing that happens here stops Postgres. */
  readonly unavailable: number;
  readonly payments: number;
  /** The longest time without a completed external payment, and how long those without a fault of the bank took. */
  readonly pauseSeconds: number;
  readonly p50Seconds: number;
  readonly p99Seconds: number;
  /** Leases of Temporal that went to another process, or were renewed. */
  readonly shardsMoved: number;
  readonly queuesMoved: number;
}

export interface ClusterRunResult {
  readonly parts: readonly PartResult[];
  readonly settledAfterMs: number | null;
  readonly problems: readonly string[];
}

/** What the parts do. Processes that were added are taken away by a later part. */
interface Run {
  readonly service: WholeService;
  readonly added: ServiceProcess[];
  readonly problems: string[];
  /** When the added processes served. */
  addedAt: Date;
}

const killed = (name: string) => async (run: Run) => {
  const process = run.service.processes.find((one) => one.name === name);
  if (process === undefined) throw new Error(`no ${name} runs`);
  await process.kill();
};

const PARTS = {
  'no fault': async () => {},
  'one of two history processes killed': killed('temporal-history-1'),
  'a history process joins': async ({ service }: Run) => void (await service.add('history')),
  'one of two matching processes killed': killed('temporal-matching-1'),
  'a matching process joins': async ({ service }: Run) => void (await service.add('matching')),
  'an API and a worker join': async (run: Run) => {
    run.added.push(...(await Promise.all([run.service.add('api'), run.service.add('worker')])));
    run.addedAt = new Date();
  },
  'both are taken away': async (run: Run) => {
    await checkTheyWorked(run);
    for (const process of run.added.splice(0)) {
      if (!(await run.service.takeAway(process))) run.problems.push(`${process.name} did not end in time`);
    }
  },
} satisfies Record<string, (run: Run) => Promise<void>>;
export type PartName = keyof typeof PARTS;
export const PART_NAMES = Object.keys(PARTS) as readonly PartName[];

/** A process that is dead counts as gone after some seconds: less would not see what follows. */
const PART_MS_MIN = 15_000;
const SETTLE_MS = 600_000;
const LOAD = { callers: 5, thinkMs: 200, everything: false, temporal: 'cluster' } as const;

/**
 * Payments through a Temporal cluster whose services are processes of their own, while processes of it and of ours are killed, join and
 * leave. Every request must be answered, and all books must agree.
 */
export async function clusterRun({ seed, payments, parts = PART_NAMES, say }: ClusterRunOptions) {
  const under = await startUnderLoad({ seed, ...LOAD });
  let keep: 'logs' | undefined = 'logs';
  say(`seed ${seed} runs in ${under.service.directory}`);
  try {
    const run: Run = { service: under.service, added: [], problems: [], addedAt: new Date() };
    const seen: Omit<PartResult, keyof Paid>[] = [];
    const begins: Date[] = [];
    for (const name of parts) {
      begins.push(new Date());
      seen.push(await part(under, run, name, Math.ceil(payments / parts.length)));
      say(`${name}: ${JSON.stringify(seen.at(-1))}`);
    }
    begins.push(new Date());
    const settled = await settleAndCheck(under, SETTLE_MS, say);
    const completed = await readCompleted(under.service);
    const results = seen.map((one, index): PartResult => {
      const [from = new Date(), to = new Date()] = begins.slice(index, index + 2);
      return { ...one, ...paidBetween(completed, from, to) };
    });
    const problems = [...run.problems, ...settled.problems, ...results.flatMap(problemsOf)];
    if (problems.length === 0) keep = undefined;
    else problems.push(`the logs are in ${under.service.directory}`);
    const result: ClusterRunResult = { parts: results, settledAfterMs: settled.settledAfterMs, problems };
    return result;
  } finally {
    await under.load.stop().catch(() => {});
    await under.service.close(keep);
    await closeLinks(under.links);
  }
}

async function part({ service, load }: ServiceUnderLoad, run: Run, name: PartName, payments: number) {
  const { figures } = load;
  const before = { ...figures, payments: await countPayments(service), leases: await readLeases(service) };
  const beganAt = performance.now();
  await PARTS[name](run);
  const paid = async () => (await countPayments(service)) - before.payments;
  while (performance.now() - beganAt < PART_MS_MIN || (await paid()) < payments) await sleep(500);
  const seconds = (performance.now() - beganAt) / 1_000;
  return {
    name,
    seconds,
    requests: figures.requests - before.requests,
    failed: figures.lost - before.lost + figures.serverErrors - before.serverErrors,
    unavailable: figures.unavailable - before.unavailable,
    ...moved(before.leases, await readLeases(service)),
  };
}

async function countPayments({ database }: WholeService): Promise<number> {
  const [row] = await database.reader.statement<{ count: number }>(
    `SELECT count(*)::integer AS count FROM outgoing_transfers WHERE scope = 'external'`,
    [],
  );
  return row?.count ?? 0;
}

/** Of every shard and task queue, how often it has been taken over. */
interface Leases {
  readonly shards: ReadonlyMap<string, string>;
  readonly queues: ReadonlyMap<string, string>;
}

async function readLeases({ temporalStoreUrl }: WholeService): Promise<Leases> {
  if (temporalStoreUrl === null) throw new Error('no Temporal cluster runs');
  const read = async (statement: string) => {
    const rows = await executeOn<{ id: string; range: string }>(temporalStoreUrl, statement);
    return new Map(rows.map(({ id, range }) => [id, range]));
  };
  return {
    shards: await read('SELECT shard_id::text AS id, range_id::text AS range FROM shards'),
    queues: await read(`SELECT encode(task_queue_id, 'hex') AS id, range_id::text AS range FROM task_queues`),
  };
}

function moved(before: Leases, after: Leases): Pick<PartResult, 'shardsMoved' | 'queuesMoved'> {
  const count = (of: keyof Leases) =>
    [...after[of]].filter(([id, range]) => before[of].has(id) && before[of].get(id) !== range).length;
  return { shardsMoved: count('shards'), queuesMoved: count('queues') };
}

interface Completed {
  readonly createdAt: Date;
  readonly completedAt: Date;
  /** One that waits for nothing but us: the bank settles it at once, and it is small, so that there is money for it. */
  readonly isPlain: boolean;
}

async function readCompleted({ database }: WholeService): Promise<Completed[]> {
  const rows = await database.reader.statement<{ createdAt: Date; completedAt: Date; isPlain: boolean }>(
    `SELECT created_at AS "createdAt", occurred_at AS "completedAt", amount_minor % 100 = 50 AND amount_minor < 5000 AS "isPlain"
     FROM events JOIN outgoing_transfers AS paid ON paid.id = resource_id, json_array_elements(entries) AS entry
     WHERE module = 'outgoing-transfers' AND scope = 'external' AND entry ->> 'type' = 'outgoing-transfer-completed'
     ORDER BY occurred_at`,
    [],
  );
  return [...rows];
}

type Paid = Pick<PartResult, 'payments' | 'pauseSeconds' | 'p50Seconds' | 'p99Seconds'>;

function paidBetween(all: readonly Completed[], from: Date, to: Date): Paid {
  const completed = all.filter(({ completedAt }) => completedAt >= from && completedAt < to);
  const instants = [from, ...completed.map(({ completedAt }) => completedAt), to].map((at) => at.getTime());
  const pauses = instants.slice(1).map((at, index) => at - (instants[index] ?? at));
  const took = all
    .filter(({ createdAt, isPlain }) => isPlain && createdAt >= from && createdAt < to)
    .map(({ createdAt, completedAt }) => completedAt.getTime() - createdAt.getTime())
    .sort((one, other) => one - other);
  const at = (share: number) => (took[Math.floor((took.length - 1) * share)] ?? Number.NaN) / 1_000;
  return {
    payments: completed.length,
    pauseSeconds: Math.max(...pauses) / 1_000,
    p50Seconds: at(0.5),
    p99Seconds: at(0.99),
  };
}

/** What a part must have shown. */
function problemsOf({ name, requests, failed, payments, shardsMoved, queuesMoved }: PartResult): string[] {
  const problems: string[] = [];
  if (requests === 0 || payments === 0) problems.push(`${name}: ${requests} requests, ${payments} payments`);
  if (failed > 0) problems.push(`${name}: ${failed} requests failed`);
  if (/history/.test(name) && shardsMoved === 0) problems.push(`${name}: no shard moved`);
  if (/matching/.test(name) && queuesMoved === 0) problems.push(`${name}: no task queue moved`);
  return problems;
}

const SAMPLE = 60;

/** The added API has taken requests, and the added worker has done steps of workflows. */
async function checkTheyWorked({ service, added, addedAt, problems }: Run): Promise<void> {
  const worker = added.find(({ kind }) => kind === 'worker');
  const lazy = lazyTemporalClient(temporalSettings({ TEMPORAL_ADDRESS: service.temporalAddress }));
  try {
    const didSome = async () => {
      const rows = await service.database.reader.statement<{ id: string }>(
        `SELECT id FROM outgoing_transfers WHERE scope = 'external' AND status = 'completed' AND created_at > $1
         ORDER BY id DESC LIMIT ${SAMPLE}`,
        [addedAt],
      );
      const histories = await Promise.all(
        rows.map(({ id }) => lazy.client.workflow.getHandle(`outgoing-transfer/${id}`).fetchHistory()),
      );
      return histories.some(({ events }) =>
        events?.some(({ activityTaskStartedEventAttributes: started }) =>
          started?.identity?.startsWith(`${worker?.pid}@`),
        ),
      );
    };
    await until(didSome, (did) => did).catch(() => problems.push('the added worker did nothing'));
  } finally {
    await lazy.close();
  }
  const [url = ''] = service.apiMetricsUrls.slice(-1);
  const text = await (await fetch(url)).text();
  const answered = [...text.matchAll(/^http_request_duration_seconds_count\{.*\} (\d+)$/gm)];
  const count = answered.reduce((sum, [, value]) => sum + Number(value), 0);
  if (count === 0) problems.push('the added API answered no request');
}

/** The table of the run, as docs/scale.md shows it. */
export function tableOf({ parts }: ClusterRunResult): string[] {
  const one = (value: number) => value.toFixed(1);
  return [
    '| What happens | Seconds | Requests | Failed | 503 | Payments | Longest pause s | p50 s | p99 s | Shards moved | Queues moved |',
    '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|',
    ...parts.map(
      (of) =>
        `| ${of.name} | ${one(of.seconds)} | ${of.requests} | ${of.failed} | ${of.unavailable} | ${of.payments} | ${one(of.pauseSeconds)} | ${one(of.p50Seconds)} | ${one(of.p99Seconds)} | ${of.shardsMoved} | ${of.queuesMoved} |`,
    ),
  ];
}
