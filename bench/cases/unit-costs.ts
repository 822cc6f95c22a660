import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { createAccounts } from '../accounts.ts';
import type { Bench } from '../bench.ts';
import { median } from '../load/measure.ts';
import { processorTimeMs } from '../load/processor-time.ts';
import { type Stage, startStage } from '../stage.ts';
import { startCluster } from '../temporal.ts';
import { complete, payableRequests, serviceExternal, serviceRunner } from './external-transfers.ts';
import { serviceTransfers } from './transfers.ts';

/** What one transfer costs, beyond what the same processes need when idle; of the row `idle`, what a second costs. */
export interface UnitCosts {
  readonly name: string;
  /** Null where it says nothing. */
  readonly perSecond: number | null;
  readonly processorMs: Readonly<Record<Part, number>>;
  readonly stores: Readonly<Record<Store, StoreCosts>>;
  /** Of the loops that one process at a time runs: the work that no further process or node can share. */
  readonly inTurnMs: number;
}

interface StoreCosts {
  readonly walBytes: number;
  readonly inserted: number;
  readonly updated: number;
  readonly deleted: number;
  readonly diskBytes: number;
}

const PARTS = ['api', 'worker', 'postgres', 'temporal', 'temporalPostgres'] as const;
type Part = (typeof PARTS)[number];
/** Our Postgres and Temporal's. */
type Store = 'ours' | 'temporal';

const CALLERS = 16;
const INTERNAL_COUNT = 5_000;
const EXTERNAL_COUNT = 150;
/** CPU time falls while the first few hundred are made. */
const WARM_UP_COUNT = 200;
const PACED_CALLERS = 4;
const PAUSE_MS = 1_000;
const LIMIT_SECONDS = 600;
const IDLE_MS = 30_000;
/** Until Postgres has the row counts of sessions that do nothing. */
const SETTLE_MS = 12_000;

/**
 * CPU, WAL, rows and disk per internal and external transfer, without subscribers: with the development server, and with a Temporal
 * cluster on Postgres, each under a service of its own. In turns.
 */
export async function benchUnitCosts(bench: Bench): Promise<UnitCosts[]> {
  const stage = await startStage(bench.say, startCluster);
  try {
    for (const { sql } of [bench.stage, stage]) {
      await sql`ALTER SYSTEM SET track_functions = 'pl'`;
      await sql`SELECT pg_reload_conf()`;
    }
    const other: Bench = { ...bench, stage, accounts: await createAccounts(stage.sql), floorAccounts: [] };
    const subjects = [
      { name: 'internal', of: bench, run: internal(bench), count: INTERNAL_COUNT },
      { name: 'external, development server', of: bench, run: await external(bench), count: EXTERNAL_COUNT },
      { name: 'external, cluster', of: other, run: await external(other), count: EXTERNAL_COUNT },
    ];
    bench.say('unit costs: warm-up …');
    for (const { run } of subjects) await run.costs(WARM_UP_COUNT);
    const idle = new Map<Bench, UnitCosts>();
    for (const [of, name] of [
      [bench, 'idle second, development server'],
      [other, 'idle second, cluster'],
    ] as const) {
      bench.say(`unit costs: ${name} …`);
      await sleep(SETTLE_MS);
      idle.set(of, await idleSecond(name, of.stage));
    }
    const costs = subjects.map((): Costs[] => []);
    const rates = subjects.map((): number[] => []);
    for (let round = 0; round < bench.options.rounds; round += 1) {
      for (const [index, { name, of, run, count }] of subjects.entries()) {
        const found = await costsOf(of.stage, run, count, idle.get(of));
        bench.say(`unit costs: ${name} ${JSON.stringify(found)}`);
        costs[index]?.push(found);
      }
    }
    for (let round = 0; round < bench.options.rounds; round += 1) {
      for (const [index, { name, run }] of subjects.entries()) {
        const rate = await run.rate();
        bench.say(`unit costs: ${name} ${rate.toFixed(1)} a second`);
        rates[index]?.push(rate);
      }
    }
    return [
      ...subjects.map(({ name }, index) => ({
        name,
        perSecond: median(rates[index] ?? []),
        ...medians(costs[index] ?? []),
      })),
      ...idle.values(),
    ];
  } finally {
    await stage.close();
  }
}

interface Run {
  /** Makes that many. */
  costs(count: number): Promise<void>;
  /** How many a second are made at full speed. */
  rate(): Promise<number>;
}

function internal(bench: Bench): Run {
  const { load } = serviceTransfers(bench, false);
  const run = (count: number) => bench.callers.run({ ...load, callers: CALLERS, seconds: LIMIT_SECONDS, count });
  return {
    costs: async (count) => void (await run(count)),
    rate: async () => INTERNAL_COUNT / ((await run(INTERNAL_COUNT)).elapsedMs / 1_000),
  };
}

/** At a steady pace, so that no payment is tried again because the machine is busy with others: `perSecond` is of a run at full speed. */
async function external(bench: Bench): Promise<Run> {
  const contender = serviceExternal(bench, await payableRequests(bench));
  const atFullSpeed = serviceRunner(bench, contender);
  const paced = { ...atFullSpeed, contender: { ...contender, load: { ...contender.load, pauseMs: PAUSE_MS } } };
  return {
    costs: async (count) => void (await complete(bench, paced, count, PACED_CALLERS)),
    rate: async () => (await complete(bench, atFullSpeed, EXTERNAL_COUNT, CALLERS)).perSecond,
  };
}

interface Reading {
  readonly atMs: number;
  readonly processorMs: Readonly<Record<Part, number>>;
  readonly stores: Readonly<Record<Store, StoreCosts>>;
  readonly inTurnMs: number;
}

/** The event sequencer and the counting of transfers. */
const IN_TURN = ['number_events', 'count_transfers'];

const NOTHING: StoreCosts = { walBytes: 0, inserted: 0, updated: 0, deleted: 0, diskBytes: 0 };

async function read(stage: Stage): Promise<Reading> {
  const { api, worker, temporal } = stage;
  const processIds: Readonly<Record<Part, readonly number[]>> = {
    api: [api.process.pid],
    worker: [worker.pid],
    postgres: [stage.postgres.process.pid],
    temporal: temporal.processIds,
    temporalPostgres: temporal.store === null ? [] : [temporal.store.processId],
  };
  const [inTurn] = await stage.sql<{ ms: number }[]>`
    SELECT coalesce(sum(total_time), 0)::float8 AS ms FROM pg_stat_user_functions WHERE funcname = ANY (${IN_TURN})`;
  return {
    atMs: performance.now(),
    processorMs: eachPart((part) => processorTimeMs(processIds[part])),
    stores: {
      ours: await readStore([stage.postgres.ownerUrl]),
      temporal: temporal.store === null ? NOTHING : await readStore(temporal.store.urls),
    },
    inTurnMs: inTurn?.ms ?? 0,
  };
}

/** The databases are of one server, which has one WAL. */
async function readStore(urls: readonly string[]): Promise<StoreCosts> {
  const databases = await Promise.all(urls.map(readDatabase));
  const sum = (of: (one: StoreCosts) => number) => databases.reduce((total, one) => total + of(one), 0);
  return {
    walBytes: databases[0]?.walBytes ?? 0,
    inserted: sum(({ inserted }) => inserted),
    updated: sum(({ updated }) => updated),
    deleted: sum(({ deleted }) => deleted),
    diskBytes: sum(({ diskBytes }) => diskBytes),
  };
}

async function readDatabase(url: string): Promise<StoreCosts> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    const [row] = await sql<StoreCosts[]>`
      SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS "walBytes", sum(n_tup_ins)::float8 AS inserted,
        sum(n_tup_upd)::float8 AS updated, sum(n_tup_del)::float8 AS deleted,
        pg_database_size(current_database())::float8 AS "diskBytes"
      FROM pg_stat_user_tables`;
    return row ?? NOTHING;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function idleSecond(name: string, stage: Stage): Promise<UnitCosts> {
  const before = await read(stage);
  await sleep(IDLE_MS);
  const after = await read(stage);
  return { name, perSecond: null, ...shared(before, after, (after.atMs - before.atMs) / 1_000) };
}

async function costsOf(stage: Stage, run: Run, count: number, idle: UnitCosts | undefined): Promise<Costs> {
  const before = await read(stage);
  await run.costs(count);
  await untilCounted(stage);
  await sleep(SETTLE_MS);
  const after = await read(stage);
  const seconds = (after.atMs - before.atMs) / 1_000;
  return shared(before, after, count, idle, seconds / count);
}

/** The counting comes later, and is part of what a transfer costs. */
async function untilCounted({ sql }: Stage): Promise<void> {
  const deadline = performance.now() + LIMIT_SECONDS * 1_000;
  for (;;) {
    const [row] = await sql<{ counted: boolean }[]>`
      SELECT last_id >= (SELECT id FROM outgoing_transfers ORDER BY id DESC LIMIT 1) AS counted
      FROM transfer_counting WHERE direction = 'outgoing'`;
    if (row?.counted === true) return;
    if (performance.now() > deadline) throw new Error('the transfers were not counted in time');
    await sleep(500);
  }
}

type Costs = Pick<UnitCosts, 'processorMs' | 'stores' | 'inTurnMs'>;

/** The difference, less what the idle processes would have needed meanwhile, for each of so many. */
function shared(before: Reading, after: Reading, count: number, idle?: Costs, idleSeconds = 0): Costs {
  const net = (was: number, is: number, idleEach = 0) => (is - was) / count - idleEach * idleSeconds;
  return {
    processorMs: eachPart((part) => net(before.processorMs[part], after.processorMs[part], idle?.processorMs[part])),
    stores: eachStore((store) =>
      eachCost((cost) => net(before.stores[store][cost], after.stores[store][cost], idle?.stores[store][cost])),
    ),
    inTurnMs: net(before.inTurnMs, after.inTurnMs, idle?.inTurnMs),
  };
}

function medians(rounds: readonly Costs[]): Costs {
  return {
    processorMs: eachPart((part) => median(rounds.map(({ processorMs }) => processorMs[part]))),
    stores: eachStore((store) => eachCost((cost) => median(rounds.map(({ stores }) => stores[store][cost])))),
    inTurnMs: median(rounds.map(({ inTurnMs }) => inTurnMs)),
  };
}

function eachPart<Value>(of: (part: Part) => Value): Readonly<Record<Part, Value>> {
  return {
    api: of('api'),
    worker: of('worker'),
    postgres: of('postgres'),
    temporal: of('temporal'),
    temporalPostgres: of('temporalPostgres'),
  };
}

function eachStore<Value>(of: (store: Store) => Value): Readonly<Record<Store, Value>> {
  return { ours: of('ours'), temporal: of('temporal') };
}

function eachCost(of: (cost: keyof StoreCosts) => number): StoreCosts {
  return {
    walBytes: of('walBytes'),
    inserted: of('inserted'),
    updated: of('updated'),
    deleted: of('deleted'),
    diskBytes: of('diskBytes'),
  };
}

export function unitCostTable(all: readonly UnitCosts[]): string[] {
  const rows = ({ inserted, updated, deleted }: StoreCosts) =>
    [inserted, updated, deleted].map((count) => count.toFixed(1)).join(' / ');
  return [
    '| | a second | CPU ms: API | worker | Postgres | Temporal | its Postgres | in turn ms | WAL KB: ours | Temporal’s | rows made / changed / removed: ours | Temporal’s | disk KB: ours | Temporal’s |',
    '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|',
    ...all.map(({ name, perSecond, processorMs, inTurnMs, stores: { ours, temporal } }) => {
      const cells = [
        name,
        perSecond === null ? '' : Math.round(perSecond).toLocaleString('en'),
        ...PARTS.map((part) => processorMs[part].toFixed(2)),
        inTurnMs.toFixed(3),
        ...[ours, temporal].map(({ walBytes }) => (walBytes / 1_000).toFixed(1)),
        ...[ours, temporal].map(rows),
        ...[ours, temporal].map(({ diskBytes }) => (diskBytes / 1_000).toFixed(1)),
      ];
      return `| ${cells.join(' | ')} |`;
    }),
  ];
}
