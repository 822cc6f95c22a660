import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningProcess } from '../../../cli/common/processes.ts';
import { createDatabase } from '../../../db/client.ts';
import { migrate, roleOf } from '../../../db/migrate.ts';
import type { Database } from '../../../db/query/database.ts';
import type { SandboxWithFiles } from '../../../dev/servers/file-bank-exchange.ts';
import { freePort } from '../../../dev/servers/ports.ts';
import { type RunningPostgres, startPostgres } from '../../../dev/servers/postgres.ts';
import { createTemporalCluster, type TemporalService } from '../../../dev/servers/temporal-cluster.ts';
import { startTemporal } from '../../../dev/servers/temporal-server.ts';
import { type Entry, entryProcess } from '../../tools/run/entries.ts';
import { createTestMachineUser, TEST_AUDIENCE } from '../api.ts';
import { startTcpProxy, type TcpProxy } from '../faults/tcp-proxy.ts';
import { TEST_ENCRYPTION_KEY } from '../keyring.ts';
import { type Receiver, startReceiver } from '../webhooks/webhooks.ts';
import { Child, type ProcessFiles, type ProcessKind, type ServiceProcess } from './service-process.ts';

/** Addresses of proxies, which replace the real ones for a process. */
export interface Detours {
  readonly databaseUrl?: (url: string) => Promise<string>;
  readonly temporalAddress?: (address: string) => Promise<string>;
  readonly sandboxUrl?: (url: string) => Promise<string>;
}

export interface WholeServiceOptions {
  readonly processesEach?: 1 | 2;
  /** A Postgres that the caller runs; default: one of its own, which can be killed. */
  readonly postgres?: { readonly url: string; readonly ownerUrl: string };
  /** Replaces the configuration's `webhooks.attemptDelaysSeconds`. */
  readonly attemptDelaysSeconds?: readonly number[];
  /** Variables of our processes besides. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly detours?: { readonly api?: Detours; readonly worker?: Detours };
  /**
   * `cluster`: a Temporal cluster whose services are processes of their own, two of history and matching each, on a Postgres of its own.
   * By default, the development server.
   */
  readonly temporal?: 'cluster';
  /** Whether the loops run in a process of their own. */
  readonly loopsApart?: boolean;
  /** Adds to the configuration and to the environment of our processes, once the sandbox runs. */
  readonly prepare?: (sandbox: SandboxWithFiles) => Promise<Preparation>;
  /** Starts an entry of ours; by default of this release. */
  readonly startEntry?: typeof entryProcess;
}

/** What a service is started with besides. */
export interface Preparation {
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string>>;
}

/** A connection between processes that can be cut or left half open. */
export interface Link {
  readonly name: string;
  readonly proxy: TcpProxy;
}

/** Proxies each connection between our processes and their dependencies; adds the links to the list. */
export function linkedDetours(links: Link[]): NonNullable<WholeServiceOptions['detours']> {
  const through = (name: string) => async (url: string) => {
    const { hostname, port } = new URL(url);
    const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
    links.push({ name, proxy });
    return url.replace(`:${port}`, `:${proxy.port}`);
  };
  const detours = (kind: 'api' | 'worker'): Detours => {
    const toTemporal = through(`${kind} to temporal`);
    return {
      databaseUrl: through(`${kind} to postgres`),
      temporalAddress: async (address) => (await toTemporal(`tcp://${address}`)).replace('tcp://', ''),
      sandboxUrl: through(`${kind} to sandbox`),
    };
  };
  return { api: detours('api'), worker: detours('worker') };
}

/** The service as in production: each part a process of its own, on free ports, logging to files. */
export interface WholeService {
  readonly directory: string;
  /** Of the APIs that a balancer would have now. */
  readonly apiUrls: readonly string[];
  readonly apiMetricsUrls: readonly string[];
  readonly sandboxUrl: string;
  readonly databaseUrl: string;
  /** As the owner of the tables. */
  readonly ownerUrl: string;
  readonly temporalAddress: string;
  /** The main database of the Temporal cluster; null if there is none. */
  readonly temporalStoreUrl: string | null;
  /** Token of an operator who is also an admin and decides reviews. */
  readonly token: string;
  /** Of a machine user that made no payment, for decisions about their reviews. */
  readonly reviewerToken: string;
  /** The test's own connections, which survive kills. */
  readonly database: Database;
  readonly receiver: Receiver;
  readonly processes: readonly ServiceProcess[];
  process(kind: ProcessKind, index?: number): ServiceProcess;
  /** One more of them, once it serves. */
  add(kind: 'api' | 'worker' | TemporalService): Promise<ServiceProcess>;
  /** As a deployment does it: the balancer first, then the order to stop. Whether it ended by itself in time. */
  takeAway(process: ServiceProcess): Promise<boolean>;
  /** Ends everything and removes its files; `keep` leaves the logs for analysing a failure. */
  close(keep?: 'logs'): Promise<void>;
}

const EUROS_REVIEWED = { mode: 'none', byCurrency: { EUR: 'external' } };

/** Short retries, so that tests need not wait; prices, so that the books have fees; one currency with reviews. */
const CONFIGURATION = {
  compliance: { incoming: EUROS_REVIEWED, outgoing: EUROS_REVIEWED },
  retryPauseSeconds: 2,
  prices: [
    { direction: 'outgoing', scheme: 'internal', currency: 'GBP', ratio: '0.01', minimum: '0.01', maximum: '0.20' },
    { direction: 'outgoing', scheme: 'faster-payments', currency: 'GBP', fixed: '0.25' },
    { direction: 'incoming', scheme: 'faster-payments', currency: 'GBP', fixed: '0.05' },
  ],
  webhooks: {
    attemptDelaysSeconds: [0, 1, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4],
    timeoutMs: 3_000,
    allowLoopback: true,
    allowPlainHttp: true,
  },
};

const BANK_SECRET = 'a secret that tests and bank share';

/** What is not kept with the logs. */
const DATA = ['postgres', 'temporal-postgres', 'temporal.db', 'temporal.db-wal', 'temporal.db-shm'];

/** Starts everything, and cleans up if the start fails. */
export async function startWholeService(options: WholeServiceOptions = {}): Promise<WholeService> {
  const directory = mkdtempSync(join(tmpdir(), 'whole-service-'));
  const processes: Child[] = [];
  const closers: (() => Promise<void>)[] = [];
  // Leaves no process behind if this one ends early: they are in groups of their own and would keep running.
  const killAll = () => {
    for (const child of processes) child.killNow();
  };
  process.once('exit', killAll);
  const close: WholeService['close'] = async (keep) => {
    process.off('exit', killAll);
    for (const step of closers.splice(0).reverse()) await step();
    await Promise.all(processes.map((child) => child.end()));
    const files = keep === 'logs' ? DATA : [''];
    for (const file of files) rmSync(join(directory, file), { recursive: true, force: true });
  };
  try {
    return await start(directory, processes, closers, options, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function start(
  directory: string,
  processes: Child[],
  closers: (() => Promise<void>)[],
  options: WholeServiceOptions,
  close: WholeService['close'],
): Promise<WholeService> {
  mkdirSync(join(directory, 'run'));
  const configurationFile = join(directory, 'configuration.json');
  const { attemptDelaysSeconds = CONFIGURATION.webhooks.attemptDelaysSeconds } = options;
  const webhooks = { ...CONFIGURATION.webhooks, attemptDelaysSeconds };
  const configured = { ...CONFIGURATION, webhooks };
  writeFileSync(configurationFile, JSON.stringify(configured));
  const launch: Launch = async (kind, name, run) => {
    const child = new Child(kind, name, directory, run);
    processes.push(child);
    await child.start();
    return child;
  };

  const [postgres, temporal] = await Promise.all([
    options.postgres ?? launchPostgres(directory, 'postgres', launch),
    options.temporal === 'cluster' ? launchCluster(directory, launch) : launchDevelopmentServer(directory, launch),
  ]);
  await migrate(postgres.ownerUrl, undefined, { serviceRole: roleOf(postgres.url) });
  const database = createDatabase({
    url: postgres.url,
    maxConnections: 4,
    applicationName: 'checks',
    deadlineMs: 60_000,
  });
  closers.push(() => database.close());
  const { token } = await createTestMachineUser(database, TEST_AUDIENCE, ['operator', 'compliance', 'admin']);
  const { token: reviewerToken } = await createTestMachineUser(database, TEST_AUDIENCE, ['compliance']);
  const receiver = await startReceiver();
  closers.push(() => receiver.close());

  const count = options.processesEach ?? 2;
  const apiPorts = await Promise.all(Array.from({ length: count }, freePort));
  const sandboxPort = await freePort();
  const sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
  const addresses = { databaseUrl: postgres.url, temporalAddress: temporal.address, sandboxUrl };
  const shared: NodeJS.ProcessEnv = {
    ...withoutOurs(process.env),
    CONFIG_FILE: configurationFile,
    AUDIENCE: TEST_AUDIENCE,
    SANDBOX_PORT: String(sandboxPort),
    SANDBOX_SFTP_PORT: String(await freePort()),
    SANDBOX_BANK_SECRET: BANK_SECRET,
    ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
    METRICS_PORT: '0',
    ...(options.loopsApart === true ? { API_LOOPS: 'off' } : {}),
    PUBLIC_URL: `http://127.0.0.1:${apiPorts[0]}`,
    DATA_DIR: directory,
    ...options.environment,
  };
  const run = async (entry: Entry, detours: Detours, change: NodeJS.ProcessEnv) => {
    const environment = { ...shared, ...(await environmentOf(addresses, detours)), ...change };
    const { startEntry = entryProcess } = options;
    return (files: ProcessFiles) => startEntry({ entry, environment, ...files });
  };
  const { detours = {} } = options;
  const apiMetricsUrls: string[] = [];
  const launchApi = async (index: number, port: number) => {
    const metricsPort = await freePort();
    apiMetricsUrls[index] = `http://127.0.0.1:${metricsPort}/metrics`;
    const change = { PORT: String(port), METRICS_PORT: String(metricsPort) };
    return launch('api', `api-${index}`, await run('api/main.ts', detours.api ?? {}, change));
  };
  const launchWorker = async (index: number) =>
    launch('worker', `worker-${index}`, await run('activities/main.ts', detours.worker ?? {}, { PORT: '0' }));
  const sandbox = launch('sandbox', 'sandbox', await run('sandbox/main.ts', {}, {}));
  if (options.prepare !== undefined) {
    await sandbox;
    const { configuration, environment } = await options.prepare({ url: sandboxUrl, dataDirectory: directory });
    writeFileSync(configurationFile, JSON.stringify({ ...configured, ...configuration }));
    Object.assign(shared, environment);
  }
  await Promise.all([
    sandbox,
    ...(options.loopsApart === true
      ? [launch('loops', 'loops', await run('loops/main.ts', detours.api ?? {}, {}))]
      : []),
    ...apiPorts.flatMap((port, index) => [launchWorker(index), launchApi(index, port)]),
  ]);
  return {
    directory,
    ...addresses,
    ownerUrl: postgres.ownerUrl,
    temporalStoreUrl: temporal.storeUrl,
    ...growing({ processes, apiPorts, launchApi, launchWorker, launchTemporal: temporal.add }),
    apiMetricsUrls,
    token,
    reviewerToken,
    database,
    receiver,
    processes,
    process: (kind, index = 0) => {
      const found = processes.filter((child) => child.kind === kind)[index];
      if (found === undefined) throw new Error(`no ${kind} ${index} runs`);
      return found;
    },
    close,
  };
}

/** What a balancer needs to stop sending requests to an API. */
const BALANCER_MS = 1_000;

/** The APIs that callers reach, and how processes are added and taken away. */
function growing(of: {
  readonly processes: ServiceProcess[];
  readonly apiPorts: readonly number[];
  readonly launchApi: (index: number, port: number) => Promise<Child>;
  readonly launchWorker: (index: number) => Promise<Child>;
  readonly launchTemporal: (service: TemporalService) => Promise<Child>;
}): Pick<WholeService, 'apiUrls' | 'add' | 'takeAway'> {
  const urlOf = (port: number) => `http://127.0.0.1:${port}`;
  const apiUrls = of.apiPorts.map(urlOf);
  const urls = new Map<ServiceProcess, string>();
  let next = apiUrls.length;
  return {
    apiUrls,
    add: async (kind) => {
      if (kind !== 'api' && kind !== 'worker') return of.launchTemporal(kind);
      const index = next;
      next += 1;
      if (kind === 'worker') return of.launchWorker(index);
      const port = await freePort();
      const api = await of.launchApi(index, port);
      urls.set(api, urlOf(port));
      apiUrls.push(urlOf(port));
      return api;
    },
    takeAway: async (process) => {
      const at = apiUrls.indexOf(urls.get(process) ?? '');
      if (at >= 0) {
        apiUrls.splice(at, 1);
        await sleep(BALANCER_MS);
      }
      const endedByItself = await process.stop();
      of.processes.splice(of.processes.indexOf(process), 1);
      return endedByItself;
    },
  };
}

type Launch = (
  kind: ProcessKind,
  name: string,
  run: (files: ProcessFiles) => Promise<RunningProcess>,
) => Promise<Child>;

async function launchPostgres(directory: string, name: string, launch: Launch): Promise<RunningPostgres> {
  const started: { postgres?: RunningPostgres } = {};
  await launch('postgres', name, async (files) => {
    const port = started.postgres === undefined ? {} : { port: started.postgres.port };
    started.postgres = await startPostgres({ dataDirectory: join(directory, name), ...files, ...port });
    return started.postgres.process;
  });
  if (started.postgres === undefined) throw new Error('Postgres runs without an address');
  return started.postgres;
}

interface LaunchedTemporal {
  readonly address: string;
  readonly storeUrl: string | null;
  add(service: TemporalService): Promise<Child>;
}

async function launchDevelopmentServer(directory: string, launch: Launch): Promise<LaunchedTemporal> {
  const port = await freePort();
  await launch('temporal', 'temporal', async (files) => {
    return (await startTemporal({ databaseFile: join(directory, 'temporal.db'), port, ...files })).process;
  });
  const add = async () => {
    throw new Error('the development server is one process');
  };
  return { address: `127.0.0.1:${port}`, storeUrl: null, add };
}

const CLUSTER: readonly TemporalService[] = ['frontend', 'history', 'history', 'matching', 'matching', 'worker'];

/** Its Postgres comes first among the processes, then the frontend. */
async function launchCluster(directory: string, launch: Launch): Promise<LaunchedTemporal> {
  const store = await launchPostgres(directory, 'temporal-postgres', launch);
  const cluster = await createTemporalCluster({
    serverUrl: store.ownerUrl,
    directory: join(directory, 'temporal'),
    suffix: 'whole_service',
  });
  const counts = new Map<TemporalService, number>();
  const running: RunningProcess[] = [];
  const add = async (service: TemporalService) => {
    const index = counts.get(service) ?? 0;
    counts.set(service, index + 1);
    const name = `temporal-${service}-${index}`;
    return launch('temporal', name, async (files) => {
      const process = await cluster.start({ name, services: [service], ...files });
      running.push(process);
      return process;
    });
  };
  for (const service of CLUSTER) await add(service);
  await cluster.ready(running);
  return { address: cluster.address, storeUrl: cluster.stores.temporal, add };
}

type Addresses = Pick<WholeService, 'databaseUrl' | 'temporalAddress' | 'sandboxUrl'>;

async function environmentOf(addresses: Addresses, detours: Detours): Promise<NodeJS.ProcessEnv> {
  const straight = async (address: string) => address;
  return {
    DATABASE_URL: await (detours.databaseUrl ?? straight)(addresses.databaseUrl),
    TEMPORAL_ADDRESS: await (detours.temporalAddress ?? straight)(addresses.temporalAddress),
    SANDBOX_URL: await (detours.sandboxUrl ?? straight)(addresses.sandboxUrl),
  };
}

/** Removes the tests' own environment. */
function withoutOurs(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const ours = /^(VITEST|NODE_ENV$|NODE_OPTIONS$|TEMPORAL_NAMESPACE$|CALLBACK_URL$|COMPLIANCE_|AUTHORIZATION_RULE$)/;
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !ours.test(name)));
}
