import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import postgres from 'postgres';
import { MIGRATION_LOCK } from '../../db/migrate.ts';
import { type RunningPostgres, startPostgres } from '../../dev/servers/postgres.ts';
import type { Ran } from '../deployment/chart.ts';
import type { Json } from '../harness/api.ts';
import { startTemporalDevServer } from '../harness/servers/temporal.ts';
import { until } from '../harness/stage.ts';
import { BROKEN_MIGRATION, BROKEN_START } from './kubernetes/images.ts';
import { NAMESPACE, type Release, type Running, startRelease } from './kubernetes/release.ts';

const DEPLOYMENTS = ['books-api', 'books-console', 'books-loops', 'books-worker-all'];
const WAIT_MS_MAX = 180_000;

interface Run {
  readonly release: Release;
  readonly server: RunningPostgres;
  /** Revisions of the release, failed ones too, with their tags. */
  readonly tags: string[];
  problem(text: string): void;
}

interface Step {
  readonly what: string;
  /** Does it and says what helm said. */
  act(run: Run): Promise<Ran>;
}

/**
 * deploy/helm on a control plane of Kubernetes, with so many upgrades in a row. API server, controllers, helm, image, Postgres and Temporal
 * are real; a kubelet of ours runs the containers as processes of this machine. Prints a line for each step; returns an exit status.
 */
export async function proveHelm(upgrades: number, say: (line: string) => void): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'helm-'));
  const server = await startPostgres({ dataDirectory: join(folder, 'postgres') });
  const temporal = await startTemporalDevServer();
  const problems: string[] = [];
  let release: Release | null = null;
  try {
    const { address: temporalAddress, namespace: temporalNamespace } = temporal;
    const addresses = { databaseUrl: server.url, ownerUrl: server.ownerUrl, temporalAddress, temporalNamespace };
    release = await startRelease({ folder, ...addresses });
    const run: Run = { release, server, tags: [], problem: (text) => void problems.push(text) };
    console.log('| | helm | Seconds | Pods replaced | Payment after it, s |');
    console.log('|---|---|--:|--:|--:|');
    for (const step of stepsOf(upgrades)) {
      const found = problems.length;
      console.log(await take(step, run));
      for (const problem of problems.slice(found)) console.log(`  ! ${step.what}: ${problem}`);
    }
    const killed = release.kubelet.ended.filter(({ status }) => status !== 0);
    for (const { pod, status } of killed) problems.push(`${pod} ended with ${status ?? 'SIGKILL'}`);
    say(`${release.kubelet.ended.length} processes were taken away, ${killed.length} of them not in order.`);
    say(problems.length === 0 ? 'All went as it should.' : `${problems.length} problems: ${problems.join('; ')}`);
    if (problems.length > 0) console.log(release.log());
    return problems.length === 0 ? 0 : 1;
  } finally {
    await release?.close();
    await temporal.close();
    await server.stop();
    execFileSync('chmod', ['-R', 'u+w', folder]);
    rmSync(folder, { recursive: true, force: true });
  }
}

function stepsOf(upgrades: number): Step[] {
  return [
    { what: 'Installation', act: install },
    ...Array.from({ length: upgrades }, (_, index) => ({
      what: `Upgrade ${index + 1} in a row`,
      act: (run: Run) => upgraded(run, `${index + 2}`),
    })),
    { what: 'Upgrade; its migration waits for a lock', act: migrateWhileLocked },
    { what: 'A migration that fails', act: (run) => stopped(run, BROKEN_MIGRATION, [], 'division by zero') },
    {
      what: 'A configuration that a process rejects',
      act: (run) => stopped(run, 'rejected', ['configuration.rollLimit="many"'], 'rollLimit must be a whole number'),
    },
    { what: 'A release whose API does not start', act: doesNotStart },
    { what: 'The next upgrade', act: (run) => upgraded(run, 'next', ['configuration.rollLimit=2']) },
    { what: 'Rollback', act: rollback },
  ];
}

/** The step, then a payment; a line of the table. */
async function take({ what, act }: Step, run: Run): Promise<string> {
  const { release, problem } = run;
  const before = await release.running();
  const from = performance.now();
  const { status } = await act(run);
  const seconds = (performance.now() - from) / 1_000;
  const after = await release.running();
  const replaced = before.pods.filter((name) => !after.pods.includes(name)).length;
  const paying = performance.now();
  await release.pay().catch((error) => problem(`no payment: ${error}`));
  const paid = (performance.now() - paying) / 1_000;
  const cells = [what, status === 0 ? 'done' : 'failed', seconds.toFixed(0), replaced, paid.toFixed(1)];
  return `| ${cells.join(' | ')} |`;
}

async function install(run: Run): Promise<Ran> {
  const { release, problem } = run;
  const ran = await upgraded(run, '1');
  if (ran.status !== 0) throw new Error(`${ran.errors}\n${release.log()}`);
  const migration = [...release.kubelet.output].find(([pod]) => pod.startsWith('books-migrate'))?.[1] ?? '';
  for (const said of ['The API can start with these settings.', 'Applied 0001_baseline.sql'])
    if (!migration.includes(said)) problem(`the migration has not said "${said}"`);
  const names = (await release.list('deployments')).map(({ metadata }) => metadata.name);
  if (!isDeepStrictEqual(names, DEPLOYMENTS)) problem(`Deployments are ${names.join()}`);
  const allows = async () =>
    (await release.list('poddisruptionbudgets', 'apis/policy/v1')).map(({ status }) => status.disruptionsAllowed);
  await until(allows, (counts) => isDeepStrictEqual(counts, [1, 1, 1, 1]), WAIT_MS_MAX);
  await runMonths(run);
  return ran;
}

/** The weekly Job, as the CronJob would make it. */
async function runMonths({ release, problem }: Run): Promise<void> {
  const [{ spec }] = await release.list('cronjobs', 'apis/batch/v1');
  const jobs = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`;
  await release.plane.call('POST', jobs, { ...spec.jobTemplate, metadata: { name: 'months-now' } });
  const read = () => release.plane.call('GET', `${jobs}/months-now`);
  const { status } = await until(read, ({ status: { succeeded, failed } }) => (succeeded ?? failed) > 0, WAIT_MS_MAX);
  if (status.succeeded !== 1) problem('the Job of months failed');
  await release.plane.call('DELETE', `${jobs}/months-now`, { propagationPolicy: 'Background' });
}

/** An upgrade that goes through: every pod is replaced, and the tasks go to its workers. */
async function upgraded(run: Run, tag: string, changes: readonly string[] = []): Promise<Ran> {
  const before = await lookAt(run);
  run.tags.push(tag);
  const ran = await run.release.upgrade(tag, { changes });
  await checkReplaced(run, before, ran, { tag, revision: run.tags.length });
  return ran;
}

interface Before extends Running {
  /** How many pods had printed something. */
  readonly printed: number;
}

const lookAt = async ({ release }: Run): Promise<Before> => ({
  ...(await release.running()),
  printed: release.kubelet.output.size,
});

async function checkReplaced(
  { release, problem }: Run,
  before: Before,
  ran: Ran,
  { tag, revision }: { readonly tag: string; readonly revision: number },
): Promise<void> {
  if (ran.status !== 0) problem(ran.errors);
  const { images, jobs } = await release.running();
  for (const image of images) if (!image.endsWith(`:${tag}`)) problem(`${image} runs`);
  const isReplaced = ({ pods }: Running) => pods.every((name) => !before.pods.includes(name));
  await until(release.running, isReplaced, WAIT_MS_MAX).catch(() => problem('pods of the release before run'));
  const job = `books-worker-version-${revision}`;
  if (!jobs.includes(job)) problem(`Jobs are ${jobs.join()}`);
  const said = [...release.kubelet.output].slice(before.printed).find(([pod]) => pod.startsWith(job))?.[1] ?? 'nothing';
  if (!said.includes(`Workers of ${tag} get all tasks.`)) problem(`${job} said ${said}`);
}

async function migrateWhileLocked(run: Run): Promise<Ran> {
  const { release, server, problem } = run;
  const before = await release.running();
  // Another session holds the lock of migrations; a third sees the migration wait for it.
  const [holder, watcher] = [1, 2].map(() => postgres(server.ownerUrl, { max: 1, onnotice: () => {} }));
  if (holder === undefined || watcher === undefined) throw new Error('no session');
  await holder`SELECT pg_advisory_lock(${MIGRATION_LOCK})`;
  const upgrading = upgraded(run, 'locked');
  const waiting = () => watcher`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
  await until(waiting, ({ length }) => length > 0, WAIT_MS_MAX);
  await release.pay();
  if (!isDeepStrictEqual(await release.running(), before)) problem('something changed while the migration waited');
  await Promise.all([holder.end(), watcher.end()]);
  return upgrading;
}

/** An upgrade that a hook stops: what ran goes on, and nothing new is made. */
async function stopped(run: Run, tag: string, changes: readonly string[], reason: string): Promise<Ran> {
  const { release, problem } = run;
  const before = await release.running();
  run.tags.push(tag);
  const ran = await release.upgrade(tag, { changes });
  if (ran.status === 0 || !ran.errors.includes('pre-upgrade hooks failed')) problem(`helm said ${ran.errors}`);
  if (!release.log().includes(reason)) problem(`nothing said "${reason}"`);
  const after = await release.running();
  if (!isDeepStrictEqual(after, before)) problem(`it changed ${JSON.stringify(after)}`);
  return ran;
}

/** No old API goes; one that is lost comes again, with the configuration that it had. */
async function doesNotStart(run: Run): Promise<Ran> {
  const { release, problem } = run;
  const oldApis = async () =>
    (await release.list('pods', 'api/v1')).filter(
      ({ metadata, spec, status }: Json) =>
        metadata.labels['app.kubernetes.io/component'] === 'api' &&
        metadata.deletionTimestamp === undefined &&
        !spec.containers[0].image.endsWith(`:${BROKEN_START}`) &&
        status.conditions?.some(({ type, status: is }: Json) => type === 'Ready' && is === 'True'),
    );
  const before = await oldApis();
  run.tags.push(BROKEN_START);
  const ran = await release.upgrade(BROKEN_START, { changes: ['configuration.rollLimit=3'], timeout: '120s' });
  if (ran.status === 0) problem('helm took it');
  const names = (pods: Json[]) => pods.map(({ metadata }) => metadata.name).sort();
  if (!isDeepStrictEqual(names(await oldApis()), names(before))) problem('an old API went');
  const [lost] = before;
  await release.plane.call('DELETE', `/api/v1/namespaces/${NAMESPACE}/pods/${lost.metadata.name}`);
  const isBack = (pods: Json[]) => pods.length === before.length && !names(pods).includes(lost.metadata.name);
  await until(oldApis, isBack, WAIT_MS_MAX).catch(() => problem('an old API that was lost did not come again'));
  return ran;
}

/** To the revision before all that failed, whose Job helm makes again. */
async function rollback(run: Run): Promise<Ran> {
  const { release, tags } = run;
  const before = await lookAt(run);
  const revision = tags.indexOf('locked') + 1;
  const ran = await release.rollback(revision);
  tags.push('locked');
  await checkReplaced(run, before, ran, { tag: 'locked', revision });
  return ran;
}
