import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { type CrashRunResult, crashRun } from '../harness/faults/crash-run.ts';
import { seedOr } from '../harness/random.ts';
import { testPostgresUrl } from '../harness/servers/shared-postgres.ts';
import { PROCESS_KINDS } from '../harness/servers/whole-service.ts';
import { proveWebhooks } from './webhooks.ts';

/**
 * `npm run proof [-- --seeds 20 --minutes 5 --seed 1 --parity 1000000 --quick --verbose]`: the crash test and the parity test at length.
 * Each seed is a service of its own that is killed part by part under load for so many minutes; then every book must agree. Then so
 * many random transfers each take every way, which must all lead to the same place. `--webhooks 100000` proves the delivery of so many
 * events instead. Exits 0 when all is well.
 */
const USAGE =
  'npm run proof [-- --seeds N --minutes N --seed FIRST --away SECONDS --parity CASES --webhooks EVENTS --quick --verbose]; --seeds 0 or --parity 0 leaves that part out';

/** Faults come about two seconds apart; two thirds of them are kills. */
const KILLS_EACH_PER_MINUTE = 4;
const QUICK = { seeds: 3, minutes: 1.75, parityCases: 10_000 };
const FULL = { seeds: 20, minutes: 5, parityCases: 1_000_000 };
const SETTLE_MS = 900_000;

interface ProofOptions {
  readonly seeds: readonly number[];
  readonly minutes: number;
  readonly awayMs: number;
  readonly parity: { readonly seed: number; readonly cases: number };
  /** How many events; 0 for the other proofs. */
  readonly webhooks: number;
  readonly verbose: boolean;
}

async function main(): Promise<number> {
  const options = readOptions();
  if (options.webhooks > 0) {
    return proveWebhooks(options.parity.seed, options.webhooks, (line) =>
      console.log(`${new Date().toISOString()} ${line}`),
    );
  }
  const crashes = options.seeds.length === 0 ? 0 : await proveCrashes(options);
  const parity = options.parity.cases === 0 ? 0 : await proveParity(options);
  return Math.max(crashes, parity);
}

/** Each processor takes a share of the cases, in a process of its own. */
async function proveParity({ parity: { seed, cases } }: ProofOptions): Promise<number> {
  const processes = availableParallelism();
  console.log(`Parity: ${cases} random transfers from seed ${seed}, each by every way, in ${processes} processes`);
  const share = Math.ceil(cases / processes);
  const environment = { ...process.env, TEST_POSTGRES_URL: await testPostgresUrl() };
  const statuses = await Promise.all(
    Array.from({ length: processes }, async (_, index) => {
      const from = index * share;
      const args = [seed + from, Math.min(share, cases - from)].map(String);
      const child = fork(new URL('parity.ts', import.meta.url), args, { env: environment });
      process.once('exit', () => child.kill());
      const [status] = await once(child, 'exit');
      return status === 0 ? 0 : 1;
    }),
  );
  return Math.max(...statuses);
}

async function proveCrashes({ seeds, minutes, awayMs, verbose }: ProofOptions): Promise<number> {
  const killsEach = Math.ceil(minutes * KILLS_EACH_PER_MINUTE);
  console.log(
    `${seeds.length} seeds from ${seeds[0]}, ${killsEach} kills of each of ${PROCESS_KINDS.join(', ')} per seed`,
  );
  console.log(
    row([
      'seed',
      'kills',
      'requests',
      'done',
      'refused',
      'lost',
      'hung',
      'paid in',
      'events',
      'webhooks',
      'reads',
      'end s',
      'problems',
    ]),
  );
  const results: CrashRunResult[] = [];
  for (const seed of seeds) {
    const result = await crashRun({
      seed,
      callers: 5,
      thinkMs: 200,
      everything: true,
      settleMs: SETTLE_MS,
      temporalAwayMs: awayMs,
      ...(verbose ? { say: (line: string) => console.log(`  ${new Date().toISOString()} ${line}`) } : {}),
      plan: {
        killsEach,
        sessions: killsEach,
        pauses: Math.ceil(killsEach / 2),
        receiverOutages: Math.ceil(killsEach / 3),
        bankFaults: Math.ceil(killsEach / 2),
        links: Math.ceil(killsEach / 2),
        betweenMs: { minimum: 500, maximum: 2_000 },
      },
    });
    results.push(result);
    console.log(lineOf(result));
    for (const problem of result.problems) console.log(`  ! ${problem}`);
  }
  return conclude(results);
}

function readOptions(): ProofOptions {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string' },
      minutes: { type: 'string' },
      seed: { type: 'string' },
      away: { type: 'string', default: '60' },
      parity: { type: 'string' },
      webhooks: { type: 'string', default: '0' },
      quick: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
    },
  });
  const standard = values.quick ? QUICK : FULL;
  const count = Number(values.seeds ?? standard.seeds);
  const minutes = Number(values.minutes ?? standard.minutes);
  const first = values.seed === undefined ? seedOr(1) : Number(values.seed);
  const awaySeconds = Number(values.away);
  const cases = Number(values.parity ?? standard.parityCases);
  const webhooks = Number(values.webhooks);
  const valid =
    [count, cases, webhooks].every((number) => Number.isInteger(number) && number >= 0) &&
    minutes > 0 &&
    Number.isInteger(first) &&
    awaySeconds >= 0;
  if (!valid) throw new Error(USAGE);
  const seeds = Array.from({ length: count }, (_, index) => first + index);
  const parity = { seed: first, cases };
  return { seeds, minutes, awayMs: awaySeconds * 1_000, parity, webhooks, verbose: values.verbose };
}

function lineOf({
  seed,
  faults,
  figures,
  events,
  webhooksReceived,
  snapshots,
  settledAfterMs,
  problems,
}: CrashRunResult) {
  const kills = Object.values(faults.kills).reduce((sum, count) => sum + count, 0);
  const ended = settledAfterMs === null ? 'never' : Math.round(settledAfterMs / 1_000);
  const { requests, acknowledged, refused, unknown, hung, paymentsIn } = figures;
  const counts = [requests, acknowledged, refused, unknown, hung, paymentsIn, events, webhooksReceived, snapshots];
  return row([seed, kills, ...counts, ended, problems.length]);
}

function row(cells: readonly (string | number)[]): string {
  return cells.map((cell) => String(cell).padStart(8)).join(' ');
}

function conclude(results: readonly CrashRunResult[]): number {
  const sum = (of: (result: CrashRunResult) => number) => results.reduce((total, result) => total + of(result), 0);
  const kills = PROCESS_KINDS.map((kind) => `${kind} ${sum(({ faults }) => faults.kills[kind])}`).join(', ');
  const done = results.map(({ faults }) => faults.done);
  const others = ['session', 'pause', 'receiver', 'bank', 'link'].map(
    (kind) => `${kind} ${done.reduce((total, counts) => total + (counts[kind] ?? 0), 0)}`,
  );
  const problems = sum((result) => result.problems.length);
  console.log(`\nkill -9: ${kills}. Other faults: ${others.join(', ')}.`);
  console.log(
    `Acknowledged transfers ${sum(({ figures }) => figures.acknowledged)}, payments in ${sum(({ figures }) => figures.paymentsIn)}, ` +
      `requests ${sum(({ figures }) => figures.requests)}, answers lost and asked for again ${sum(({ figures }) => figures.unknown)}.`,
  );
  const created = (['account', 'client', 'adjustment', 'decision', 'closing', 'recall'] as const).map(
    (purpose) => `${purpose} ${sum(({ done }) => done[purpose] ?? 0)}`,
  );
  console.log(`Acknowledged besides: ${created.join(', ')}.`);
  console.log(
    `Temporal away: ${sum(({ temporalAway }) => temporalAway.requests)} requests, ` +
      `${sum(({ temporalAway }) => temporalAway.acknowledged)} transfers taken, ${sum(({ temporalAway }) => temporalAway.failed)} failed.`,
  );
  console.log(
    `Hung ${sum(({ figures }) => figures.hung)}. Events ${sum(({ events }) => events)}, webhooks received ${sum(({ webhooksReceived }) => webhooksReceived)}. ` +
      `Snapshots ${sum(({ snapshots }) => snapshots)}.`,
  );
  console.log(problems === 0 ? 'Nothing lost, nothing doubled; every book agrees.' : `${problems} problems.`);
  return problems === 0 ? 0 : 1;
}

// On exit, the run ends every process that it started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

main().then(
  (status) => process.exit(status),
  (error: unknown) => {
    console.error(error instanceof Error ? (error.stack ?? error.message) : error);
    process.exit(2);
  },
);
