import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ActionableError, describeFailure } from '../cli/common/actionable-error.ts';
import { setting } from '../cli/common/data-directory.ts';
import { type Endpoints, writeEndpoints } from '../cli/common/endpoints.ts';
import { installationName } from '../cli/common/local-secrets.ts';
import { parentProcesses, watchParentProcesses } from '../cli/common/parent-processes.ts';
import { takeFileLock } from '../cli/common/processes.ts';
import { migrate, roleOf } from '../db/migrate.ts';
import { MigrationRejected } from '../db/migration-files.ts';
import { freePort, isPortFree } from './servers/ports.ts';
import { startPostgres } from './servers/postgres.ts';
import { startTemporal } from './servers/temporal-server.ts';
import { askTemporal, killWhenStuck } from './servers/temporal-watch.ts';
import { environmentOfChildren } from './start/child-environment.ts';
import { openFilesAccount } from './start/development-bank.ts';
import { consentWalk } from './start/development-person.ts';
import { prepareOwnDatabase } from './start/own-database.ts';
import { bundlesOf, childProcess, waitUntilReady } from './start/start-children.ts';
import {
  httpUrl,
  prepareDataDirectory,
  readStartEnvironment,
  type StartEnvironment,
} from './start/start-environment.ts';
import { type FileNames, fileNames } from './start/start-files.ts';
import { startSteps } from './start/start-steps.ts';
import { type ChildName, StoppedWhileStarting, Supervisor } from './start/supervisor.ts';

const STOP_TAKES_AT_MOST_MS = 25_000;

const { say, begin, step, end } = startSteps(process.stdout);
/** Those that `start` waits for. */
const STEPS = 5;

/** `npm start`: everything on one machine. */
async function main(): Promise<void> {
  // The data directory is for our user only.
  process.umask(0o077);
  const environment = readStartEnvironment(process.env);
  prepareDataDirectory(environment.dataDirectory);
  const files = fileNames(environment.dataDirectory);
  await takeDataDirectory(environment.dataDirectory, files);
  const supervisor = new Supervisor(files.pid, say);
  let starting: Promise<unknown> = Promise.resolve();
  let stop: Promise<void> | undefined;
  const stopOnce = (reason: string): void => {
    stop ??= (async () => {
      end();
      say(`${reason}: stopping …`);
      writeFileSync(files.stopping, '');
      await supervisor.stopAll();
      // By now even a child just spawned is recorded.
      await Promise.race([starting.catch(() => {}), sleep(1_000)]);
      await supervisor.stopAll();
      releaseDataDirectory(files);
      say('Everything is stopped.');
      process.exit(0);
    })();
  };
  process.on('SIGINT', () => stopOnce('Interrupted'));
  process.on('SIGTERM', () => stopOnce('Asked to end'));
  process.on('SIGHUP', () => stopOnce('The terminal is gone'));
  watchParentProcesses(parentProcesses(), () => stopOnce('The process that started this is gone'));
  try {
    starting = start(environment, supervisor, files);
    await starting;
  } catch (error) {
    end();
    if (stop !== undefined || error instanceof StoppedWhileStarting) return;
    await supervisor.stopAll();
    releaseDataDirectory(files);
    throw error;
  }
}

/** One start per data directory. Waits while an earlier one stops: npm often exits before its start. */
async function takeDataDirectory(directory: string, files: FileNames): Promise<void> {
  const deadline = performance.now() + STOP_TAKES_AT_MOST_MS;
  let announced = false;
  for (;;) {
    const holder = takeFileLock(files.lock);
    if (holder === undefined) break;
    if (!existsSync(files.stopping) || performance.now() > deadline) {
      throw new ActionableError(
        `A service already runs on ${directory} (process ${holder.pid}). Stop it, or set DATA_DIR and the ports for a second one.`,
      );
    }
    if (!announced) say('Waiting for the earlier start to end …');
    announced = true;
    await sleep(200);
  }
  rmSync(files.stopping, { force: true });
}

function releaseDataDirectory(files: FileNames): void {
  rmSync(files.stopping, { force: true });
  rmSync(files.lock, { force: true });
}

async function start(environment: StartEnvironment, supervisor: Supervisor, files: FileNames): Promise<void> {
  const startedAt = performance.now();
  begin(STEPS);
  await supervisor.stopLeftOvers();
  await requireFreePorts(environment);
  const [{ url: databaseUrl, ownerUrl }, temporal] = await Promise.all([
    step(provideDatabase(environment, supervisor, files)),
    step(provideTemporal(environment, supervisor, files)),
  ]);
  say('Bringing the database up to date …');
  await step(migrateOrExplain(environment, ownerUrl, databaseUrl));
  const hasOwnDatabase = environment.databaseUrl === undefined;
  if (hasOwnDatabase) await prepareOwnDatabase(environment, databaseUrl, ownerUrl);
  const endpoints: Endpoints = {
    apiUrl: environment.apiUrl,
    publicUrl: environment.publicUrl,
    sandboxUrl: `http://127.0.0.1:${environment.sandboxPort}`,
    apiMetricsUrl: metricsUrl(environment, environment.metricsPort ?? (await freePort())),
    workerMetricsUrl: metricsUrl(environment, await freePort()),
    databaseUrl,
    temporalAddress: temporal.address,
    temporalNamespace: environment.temporalNamespace,
    uiUrl: temporal.uiUrl,
    audience: environment.audience ?? installationName(environment.dataDirectory),
    hasDevelopmentUsers: hasOwnDatabase,
  };
  writeEndpoints(environment.dataDirectory, endpoints);
  await step(startOwnProcesses(environment, endpoints, supervisor, files));
  supervisor.serviceIsUp();
  const walk = await step(
    hasOwnDatabase ? consentWalk(environment.dataDirectory, endpoints, supervisor) : Promise.resolve(''),
  );
  end();
  if (supervisor.stopping) throw new StoppedWhileStarting();
  sayReady(environment, endpoints, walk, Math.round((performance.now() - startedAt) / 1000));
}

async function migrateOrExplain(environment: StartEnvironment, ownerUrl: string, databaseUrl: string): Promise<void> {
  try {
    await migrate(ownerUrl, undefined, { onProgress: say, serviceRole: roleOf(databaseUrl) });
  } catch (error) {
    if (environment.databaseUrl === undefined || error instanceof MigrationRejected) throw error;
    throw new ActionableError(
      `The Postgres of DATABASE_URL cannot be used: ${describeFailure(error)}. Start it or correct DATABASE_URL, or unset it for the embedded one.`,
      { cause: error },
    );
  }
}

async function provideDatabase(
  environment: StartEnvironment,
  supervisor: Supervisor,
  files: FileNames,
): Promise<{ url: string; ownerUrl: string }> {
  const { databaseUrl: given, migrationDatabaseUrl } = environment;
  if (given !== undefined) return { url: given, ownerUrl: migrationDatabaseUrl ?? given };
  say('Starting Postgres …');
  let known: { url: string; ownerUrl: string; port: number } | undefined;
  await supervisor.launch('postgres', async () => {
    const running = await startPostgres({
      dataDirectory: join(environment.dataDirectory, 'postgres'),
      logFile: files.log('postgres'),
      pidFile: files.pid('postgres'),
      onProgress: say,
      // Other processes know the port by now, so a restart must reuse it.
      ...(known === undefined ? {} : { port: known.port }),
    });
    known = running;
    return running.process;
  });
  if (known === undefined) throw new Error('Postgres runs without an address.');
  return known;
}

async function provideTemporal(
  environment: StartEnvironment,
  supervisor: Supervisor,
  files: FileNames,
): Promise<{ address: string; uiUrl: string | null }> {
  if (environment.temporalAddress !== undefined) return { address: environment.temporalAddress, uiUrl: null };
  say('Starting Temporal …');
  const { temporalPort: port, temporalUiPort: uiPort } = environment;
  await supervisor.launch('temporal', async () => {
    const running = await startTemporal({
      databaseFile: join(environment.dataDirectory, 'temporal.db'),
      logFile: files.log('temporal'),
      pidFile: files.pid('temporal'),
      port,
      uiPort,
      namespace: environment.temporalNamespace,
      onProgress: say,
    });
    void killWhenStuck(running, async () => supervisor.restarts && askTemporal(running), say);
    return running.process;
  });
  return { address: `127.0.0.1:${port}`, uiUrl: `http://127.0.0.1:${uiPort}` };
}

async function startOwnProcesses(
  environment: StartEnvironment,
  endpoints: Endpoints,
  supervisor: Supervisor,
  files: FileNames,
): Promise<void> {
  const childEnvironment = await environmentOfChildren(environment, endpoints);
  const bundles = bundlesOf(process.argv[1]);
  say('Starting the sandbox, the worker, the API and the console …');
  const launch = (name: ChildName, entry: string, metrics?: string) =>
    supervisor.launch(name, () => {
      // The sandbox acts for other companies, and must not have our keys; the console needs none.
      const own =
        metrics === undefined
          ? { ...childEnvironment, ENCRYPTION_KEY: '', SFTP_PASSPHRASE: '', METRICS_PORT: '0' }
          : { ...childEnvironment, METRICS_PORT: new URL(metrics).port || '80' };
      return childProcess({ entry, bundles, environment: own, logFile: files.log(name), pidFile: files.pid(name) });
    });
  const sandbox = await launch('sandbox', 'sandbox/main.ts');
  const worker = await launch('worker', 'activities/main.ts', endpoints.workerMetricsUrl);
  const api = await launch('api', 'api/main.ts', endpoints.apiMetricsUrl);
  const operating = await launch('console', 'console/main.ts');
  const children = [
    { name: 'sandbox', process: sandbox, logFile: files.log('sandbox') },
    { name: 'worker', process: worker, logFile: files.log('worker') },
    { name: 'api', process: api, logFile: files.log('api') },
    { name: 'console', process: operating, logFile: files.log('console') },
  ];
  const { sandboxPort, consolePort } = environment;
  const consoleUrl = httpUrl('127.0.0.1', consolePort);
  await waitUntilReady({ apiUrl: endpoints.apiUrl, sandboxPort, consoleUrl, children });
  await openFilesAccount(endpoints.sandboxUrl);
}

async function requireFreePorts(environment: StartEnvironment): Promise<void> {
  const wanted: [string, string, number][] = [
    ['PORT', 'the API', environment.port],
    ['SANDBOX_PORT', 'the sandbox', environment.sandboxPort],
    ['CONSOLE_PORT', 'the console', environment.consolePort],
  ];
  if (environment.metricsPort !== undefined)
    wanted.push(['METRICS_PORT', "the API's metrics", environment.metricsPort]);
  if (environment.temporalAddress === undefined) {
    wanted.push(
      ['TEMPORAL_PORT', 'Temporal', environment.temporalPort],
      ['TEMPORAL_UI_PORT', "Temporal's UI", environment.temporalUiPort],
    );
  }
  for (const [variable, user, port] of wanted) {
    if (await isPortFree(port)) continue;
    throw new ActionableError(
      `Port ${port}, wanted for ${user}, is in use. Stop what listens there, or set ${variable} to a free port.`,
    );
  }
}

function metricsUrl({ metricsHost }: StartEnvironment, port: number): string {
  return `${httpUrl(metricsHost, port)}/metrics`;
}

function sayReady(environment: StartEnvironment, endpoints: Endpoints, walk: string, seconds: number): void {
  const run = `${setting(process.env, 'DATA_DIR') === undefined ? '' : `DATA_DIR=${shellQuoted(environment.dataDirectory)} `}npm --prefix ${shellQuoted(process.cwd())} run -s`;
  const next = endpoints.hasDevelopmentUsers
    ? `Try it:
  curl -s -H "Authorization: Bearer $(${run} token)" ${endpoints.apiUrl}/clients`
    : `DATABASE_URL names a Postgres of your own, so no development user is registered there. Register a machine user:
  ${run} operate -- machine-user register NAME --role operator --key PUBLIC_KEY_FILE
Its tokens carry "aud": "${endpoints.audience}".`;
  process.stdout.write(`
Ready after ${seconds} s.

  API            ${endpoints.apiUrl}
  Console        ${environment.consoleUrl}${setting(process.env, 'CONSOLE_ISSUER') === undefined ? ' (pick who you are)' : ''}
  Documentation  ${endpoints.apiUrl}/docs
  Temporal's UI  ${endpoints.uiUrl ?? 'of your own Temporal server'}
  Sandbox        ${endpoints.sandboxUrl} (e-mails: ${endpoints.sandboxUrl}/mail)
  Metrics        ${endpoints.apiMetricsUrl} (worker: ${endpoints.workerMetricsUrl})
  Data and logs  ${environment.dataDirectory}

${next}
${walk}
Ctrl-C stops everything; the next start continues where it stopped.
`);
}

function shellQuoted(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

// A closed terminal or pipe must not end us before the children have stopped.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

main().catch((error: unknown) => {
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exit(1);
});
