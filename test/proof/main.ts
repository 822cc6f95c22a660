import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { ActionableError, describeFailure } from '../../cli/common/actionable-error.ts';
import { type CrashRunResult, crashRun } from '../harness/faults/crash-run.ts';
import { seedOr } from '../harness/random.ts';
import { PROCESS_KINDS } from '../harness/servers/service-process.ts';
import { testPostgresUrl } from '../harness/servers/shared-postgres.ts';
import { clusterRun, tableOf } from './cluster.ts';
import { proveConsole } from './console.ts';
import { proveFailovers } from './failovers.ts';
import { proveFiles } from './files.ts';
import { proveHelm } from './helm.ts';
import { proveMonths } from './months/months.ts';
import { proveUpgrade } from './upgrade.ts';
import { proveWebhooks } from './webhooks.ts';

/**
 * `npm run proof [-- --seeds 20 --minutes 5 --seed 1 --parity 1000000 --quick --verbose]`: the crash test and the parity test at length.
 * Each seed is a service of its own that is killed part by part under load for so many minutes; then every book must agree. Then so
 * many random transfers each take every way, which must all lead to the same place. One of the others can be asked for in their place:
 * `-- --webhooks 100000`. Exits 0 when all is well.
 */

interface OtherOptions {
  readonly seed: number;
  readonly payments: number;
  /** Without a limit, infinite. */
  readonly minutes: number;
  say(line: string): void;
}

interface OtherProof {
  /** What its number counts. */
  readonly of: string;
  readonly proves: string;
  prove(count: number, options: OtherOptions): Promise<number>;
}

const OTHERS: Readonly<Record<string, OtherProof>> = {
  webhooks: {
    of: 'EVENTS',
    proves: 'So many events are delivered, with a slow, a flaky and a dead receiver.',
    prove: (count, { seed, say }) => proveWebhooks(seed, count, say),
  },
  console: {
    of: 'TRANSFERS',
    proves: 'The pages of the console among so many transfers.',
    prove: (count) => proveConsole(count, (line) => console.log(line)),
  },
  cluster: {
    of: 'PAYMENTS',
    proves: 'So many payments pass a Temporal cluster while its processes and ours go and come.',
    prove: proveCluster,
  },
  upgrade: {
    of: 'SECONDS',
    proves: 'A rolling upgrade and back, with so many seconds for each mixture of releases.',
    prove: (count, { seed, say }) => proveUpgrade(seed, count, say),
  },
  files: {
    of: 'PAYMENTS',
    proves:
      'So many payments by file, or those of --minutes, while every process, the SFTP connection and the bank fail.',
    prove: proveFiles,
  },
  failovers: {
    of: 'N',
    proves: 'So many failovers of Postgres under load.',
    prove: (count, { seed, say }) => proveFailovers(seed, count, say),
  },
  helm: {
    of: 'UPGRADES',
    proves: 'deploy/helm on a control plane of Kubernetes: so many upgrades in a row, releases that fail, and back.',
    prove: (count, { say }) => proveHelm(count, say),
  },
  months: {
    of: 'MONTHS',
    proves:
      'Reads of so many months, of --payments each (10,000), cost no more than those of one; old months are removed under load.',
    prove: (count, { payments }) => proveMonths({ months: count, payments }, (line) => console.log(line)),
  },
};

const USAGE = `npm run proof [-- --seeds N --minutes N --seed FIRST --away SECONDS --parity CASES --quick --verbose]; --seeds 0 or --parity 0 leaves that part out. Or one of:
${Object.entries(OTHERS)
  .map(([name, { of, proves }]) => `  npm run proof -- --${name} ${of} [--seed FIRST]: ${proves}`)
  .join('\n')}`;

const PAYMENTS_A_MONTH = '10000';
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
  readonly other: { readonly proof: OtherProof; readonly count: number } | null;
  readonly payments: number;
  readonly minutesOfOther: number;
  readonly verbose: boolean;
}

async function main(): Promise<number> {
  const options = readOptions();
  const { other, payments, parity: of } = options;
  if (other !== null) {
    return other.proof.prove(other.count, { seed: of.seed, payments, minutes: options.minutesOfOther, say });
  }
  const crashes = options.seeds.length === 0 ? 0 : await proveCrashes(options);
  const parity = options.parity.cases === 0 ? 0 : await proveParity(options);
  return Math.max(crashes, parity);
}

function say(line: string): void {
  console.log(`${new Date().toISOString()} ${line}`);
}

async function proveCluster(payments: number, { seed }: { readonly seed: number }): Promise<number> {
  const result = await clusterRun({ seed, payments, say });
  console.log(['', ...tableOf(result), ''].join('\n'));
  for (const problem of result.problems) console.log(`  ! ${problem}`);
  say(
    result.problems.length === 0
      ? `Nothing lost, doubled or left waiting; all work ended ${Math.round((result.settledAfterMs ?? 0) / 1_000)} s after the load.`
      : `${result.problems.length} problems.`,
  );
  return result.problems.length === 0 ? 0 : 1;
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
      'rejected',
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
      payments: { type: 'string', default: PAYMENTS_A_MONTH },
      parity: { type: 'string' },
      ...Object.fromEntries(Object.keys(OTHERS).map((name) => [name, { type: 'string' as const }])),
      quick: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
    },
  });
  const standard = values.quick ? QUICK : FULL;
  const count = Number(values.seeds ?? standard.seeds);
  const minutes = Number(values.minutes ?? standard.minutes);
  const minutesOfOther = values.minutes === undefined ? Number.POSITIVE_INFINITY : minutes;
  const first = values.seed === undefined ? seedOr(1) : Number(values.seed);
  const awaySeconds = Number(values.away);
  const payments = Number(values.payments);
  const cases = Number(values.parity ?? standard.parityCases);
  const [other = null, ...more] = Object.entries(OTHERS).flatMap(([name, proof]) => {
    const asked: Readonly<Record<string, unknown>> = values;
    return asked[name] === undefined ? [] : [{ proof, count: Number(asked[name]) }];
  });
  const valid =
    [count, cases, payments, other?.count ?? 0].every((number) => Number.isInteger(number) && number >= 0) &&
    more.length === 0 &&
    minutes > 0 &&
    Number.isInteger(first) &&
    awaySeconds >= 0;
  if (!valid) throw new ActionableError(USAGE);
  const seeds = Array.from({ length: count }, (_, index) => first + index);
  const parity = { seed: first, cases };
  return {
    seeds,
    minutes,
    awayMs: awaySeconds * 1_000,
    parity,
    other,
    payments,
    minutesOfOther,
    verbose: values.verbose,
  };
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
  const { requests, acknowledged, rejected, unknown, hung, paymentsIn } = figures;
  const counts = [requests, acknowledged, rejected, unknown, hung, paymentsIn, events, webhooksReceived, snapshots];
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
    console.error(describeFailure(error));
    process.exit(2);
  },
);
