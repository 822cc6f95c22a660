import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, type Database } from '../../../db/driver/client.ts';
import { migrate, roleOf } from '../../../db/migrate.ts';
import { isAlive, logTail, type RunningProcess, signalProcess, stopProcess } from '../../../scripts/frame/processes.ts';
import { freePort } from '../../../scripts/servers/ports.ts';
import { type RunningPostgres, startPostgres } from '../../../scripts/servers/postgres.ts';
import { startTemporal } from '../../../scripts/servers/temporal-server.ts';
import { childProcess } from '../../../scripts/start/start-children.ts';
import { createTestMachineUser, TEST_AUDIENCE } from '../api.ts';
import { startTcpProxy, type TcpProxy } from '../faults/tcp-proxy.ts';
import { TEST_ENCRYPTION_KEY } from '../keyring.ts';
import { type Receiver, startReceiver } from '../webhooks/webhooks.ts';

/** Processes that can be killed. `api` and `worker` are two each. */
export const PROCESS_KINDS = ['api', 'worker', 'temporal', 'postgres', 'sandbox'] as const;
export type ProcessKind = (typeof PROCESS_KINDS)[number];

/** Addresses of proxies, which replace the real ones for a process. */
export interface Detours {
  readonly databaseUrl?: (url: string) => Promise<string>;
  readonly temporalAddress?: (address: string) => Promise<string>;
  readonly sandboxUrl?: (url: string) => Promise<string>;
}

export interface WholeServiceOptions {
  readonly processesEach?: 1 | 2;
  /** Replaces the configuration's `webhooks.attemptDelaysSeconds`. */
  readonly attemptDelaysSeconds?: readonly number[];
  readonly detours?: { readonly api?: Detours; readonly worker?: Detours };
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

/** One process of the service, which can be killed and restarted on the same port and files. */
export interface ServiceProcess {
  readonly kind: ProcessKind;
  readonly name: string;
  readonly logFile: string;
  /** How often it was killed. */
  readonly kills: number;
  readonly isUp: boolean;
  /** Of the running process; undefined while there is none. */
  readonly pid: number | undefined;
  /** Sends SIGKILL, and resolves when it has ended. */
  kill(): Promise<void>;
  /** Starts it again; resolves when it serves. */
  start(): Promise<void>;
  /** Stops it (SIGSTOP) for this long. */
  pause(durationMs: number): Promise<void>;
}

/** The service as in production: each part a process of its own, on free ports, logging to files. */
export interface WholeService {
  readonly directory: string;
  readonly apiUrls: readonly string[];
  readonly apiMetricsUrls: readonly string[];
  readonly sandboxUrl: string;
  readonly databaseUrl: string;
  /** As the owner of the tables. */
  readonly ownerUrl: string;
  readonly temporalAddress: string;
  /** Token of an operator who is also an admin and decides reviews. */
  readonly token: string;
  /** The test's own connections, which survive kills. */
  readonly database: Database;
  readonly receiver: Receiver;
  readonly processes: readonly ServiceProcess[];
  process(kind: ProcessKind, index?: number): ServiceProcess;
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
const READY_MS_MAX = 180_000;

/** Starts everything, and cleans up if the start fails. */
export async function startWholeService(options: WholeServiceOptions = {}): Promise<WholeService> {
  const directory = mkdtempSync(join(tmpdir(), 'whole-service-'));
  const processes: Child[] = [];
  const closers: (() => Promise<void>)[] = [];
  // Leaves no process behind if we are ended early: they are in groups of their own and would live on.
  const killAll = () => {
    for (const child of processes) child.killNow();
  };
  process.once('exit', killAll);
  const close: WholeService['close'] = async (keep) => {
    process.off('exit', killAll);
    for (const step of closers.splice(0).reverse()) await step();
    await Promise.all(processes.map((child) => child.end()));
    const files = keep === 'logs' ? ['postgres', 'temporal.db', 'temporal.db-wal', 'temporal.db-shm'] : [''];
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
  writeFileSync(configurationFile, JSON.stringify({ ...CONFIGURATION, webhooks }));
  const launch = async (kind: ProcessKind, name: string, run: (files: Files) => Promise<RunningProcess>) => {
    const child = new Child(kind, name, directory, run);
    processes.push(child);
    await child.start();
  };

  const { postgres, temporalAddress } = await startFoundations(directory, launch);
  await migrate(postgres.ownerUrl, undefined, { serviceRole: roleOf(postgres.url) });
  const database = createDatabase({ url: postgres.url, maxConnections: 4, applicationName: 'checks' });
  closers.push(() => database.close());
  const { token } = await createTestMachineUser(database, TEST_AUDIENCE, ['operator', 'compliance', 'admin']);
  const receiver = await startReceiver();
  closers.push(() => receiver.close());

  const count = options.processesEach ?? 2;
  const ports = await Promise.all(Array.from({ length: count }, freePort));
  const metricsPorts = await Promise.all(Array.from({ length: count }, freePort));
  const sandboxPort = await freePort();
  const addresses = { databaseUrl: postgres.url, temporalAddress, sandboxUrl: `http://127.0.0.1:${sandboxPort}` };
  const shared = {
    ...withoutOurs(process.env),
    CONFIG_FILE: configurationFile,
    AUDIENCE: TEST_AUDIENCE,
    SANDBOX_PORT: String(sandboxPort),
    SANDBOX_BANK_SECRET: BANK_SECRET,
    ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
    METRICS_PORT: '0',
    PUBLIC_URL: `http://127.0.0.1:${ports[0]}`,
    DATA_DIR: directory,
  };
  const run = async (entry: string, detours: Detours, change: NodeJS.ProcessEnv) => {
    const environment = { ...shared, ...(await environmentOf(addresses, detours)), ...change };
    return (files: Files) => childProcess({ entry, environment, ...files });
  };
  const { api = {}, worker = {} } = options.detours ?? {};
  const starts = [launch('sandbox', 'sandbox', await run('sandbox/main.ts', {}, {}))];
  for (const [index, port] of ports.entries()) {
    starts.push(launch('worker', `worker-${index}`, await run('activities/main.ts', worker, { PORT: '0' })));
    starts.push(
      launch(
        'api',
        `api-${index}`,
        await run('api/main.ts', api, { PORT: String(port), METRICS_PORT: String(metricsPorts[index]) }),
      ),
    );
  }
  await Promise.all(starts);
  return {
    directory,
    ...addresses,
    ownerUrl: postgres.ownerUrl,
    apiUrls: ports.map((port) => `http://127.0.0.1:${port}`),
    apiMetricsUrls: metricsPorts.map((port) => `http://127.0.0.1:${port}/metrics`),
    token,
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

type Launch = (kind: ProcessKind, name: string, run: (files: Files) => Promise<RunningProcess>) => Promise<void>;

async function startFoundations(directory: string, launch: Launch) {
  let postgres: RunningPostgres | undefined;
  const temporalPort = await freePort();
  await Promise.all([
    launch('postgres', 'postgres', async (files) => {
      const port = postgres === undefined ? {} : { port: postgres.port };
      postgres = await startPostgres({ dataDirectory: join(directory, 'postgres'), ...files, ...port });
      return postgres.process;
    }),
    launch('temporal', 'temporal', async (files) => {
      const databaseFile = join(directory, 'temporal.db');
      return (await startTemporal({ databaseFile, port: temporalPort, ...files })).process;
    }),
  ]);
  if (postgres === undefined) throw new Error('Postgres runs without an address');
  return { postgres: postgres as RunningPostgres, temporalAddress: `127.0.0.1:${temporalPort}` };
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

interface Files {
  readonly logFile: string;
  readonly pidFile: string;
}

/** The log line by which our own processes report ready; the others are ready when their start resolves. */
const READY = { api: 'api ready', worker: 'worker ready', sandbox: 'sandbox ready', temporal: null, postgres: null };

class Child implements ServiceProcess {
  readonly kind: ProcessKind;
  readonly name: string;
  readonly logFile: string;
  kills = 0;
  isUp = false;
  readonly #pidFile: string;
  readonly #run: (files: Files) => Promise<RunningProcess>;
  #running: RunningProcess | null = null;

  constructor(kind: ProcessKind, name: string, directory: string, run: (files: Files) => Promise<RunningProcess>) {
    this.kind = kind;
    this.name = name;
    this.logFile = join(directory, 'logs', `${name}.log`);
    this.#pidFile = join(directory, 'run', `${name}.pid`);
    this.#run = run;
  }

  get pid(): number | undefined {
    return this.#running?.pid;
  }

  async start(): Promise<void> {
    const before = this.#readyCount();
    const running = await this.#run({ logFile: this.logFile, pidFile: this.#pidFile });
    this.#running = running;
    const deadline = performance.now() + READY_MS_MAX;
    while (READY[this.kind] !== null && this.#readyCount() === before) {
      if (!isAlive(running) || performance.now() > deadline) {
        throw new Error(`${this.name} did not become ready: ${logTail(this.logFile, 5)}`);
      }
      await sleep(50);
    }
    this.isUp = true;
  }

  async kill(): Promise<void> {
    if (this.#running === null) return;
    this.isUp = false;
    this.kills += 1;
    await this.#end('SIGKILL', 5_000);
  }

  killNow(): void {
    if (this.#running !== null) signalProcess(this.#running, 'SIGKILL');
  }

  async pause(durationMs: number): Promise<void> {
    const running = this.#running;
    if (running === null) return;
    signalProcess(running, 'SIGSTOP');
    await sleep(durationMs);
    signalProcess(running, 'SIGCONT');
  }

  async end(): Promise<void> {
    if (this.kind === 'postgres') await this.#end('SIGINT', 8_000);
    else await this.#end('SIGKILL', 5_000);
  }

  async #end(signal: NodeJS.Signals, graceMs: number): Promise<void> {
    const running = this.#running;
    if (running === null) return;
    this.#running = null;
    await stopProcess(running, { graceMs, signal });
    // Until it is reaped its number seems alive.
    await running.ended;
  }

  #readyCount(): number {
    const words = READY[this.kind];
    return words === null ? 0 : logTail(this.logFile, 1_000_000).split(`"${words}"`).length - 1;
  }
}
