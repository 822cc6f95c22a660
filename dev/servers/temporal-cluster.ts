import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { isAlive, logTail, type RunningProcess, spawnRecorded, stopProcess } from '../../cli/common/processes.ts';
import { goPrograms } from './go-programs.ts';
import { freePort } from './ports.ts';
import { temporalBinary } from './temporal-binary.ts';

/** The release of docker-compose.yml and of `npm start`'s Temporal CLI. */
export const TEMPORAL_SERVER_VERSION = '1.29.1';

/** The server, and the tool that sets up its schema in Postgres. */
export interface TemporalPrograms {
  readonly server: string;
  readonly sqlTool: string;
}

/** Paths of the two programs: cached, or built with Go. */
export async function temporalPrograms(onProgress: (line: string) => void = () => {}): Promise<TemporalPrograms> {
  const pathOf = await goPrograms(
    {
      title: 'Temporal server',
      neededFor: 'a Temporal cluster',
      version: TEMPORAL_SERVER_VERSION,
      packages: {
        'temporal-server': 'go.temporal.io/server/cmd/server',
        'temporal-sql-tool': 'go.temporal.io/server/cmd/tools/sql',
      },
    },
    onProgress,
  );
  return { server: pathOf('temporal-server'), sqlTool: pathOf('temporal-sql-tool') };
}

/** As in docker-compose.yml. A cluster keeps the number that it began with; each shard belongs to one history process at a time. */
export const HISTORY_SHARDS = 512;

export const TEMPORAL_SERVICES = ['frontend', 'history', 'matching', 'worker'] as const;
export type TemporalService = (typeof TEMPORAL_SERVICES)[number];

/** A production-like cluster on Postgres, whose processes find each other by its database. */
export interface TemporalCluster {
  /** `host:port` of the frontend. */
  readonly address: string;
  readonly namespace: string;
  /** Of its databases. */
  readonly stores: Readonly<Record<keyof typeof STORES, string>>;
  /**
   * Starts a process with these services, which joins those that run. The first frontend has the cluster's address; a process that is
   * started again under its name has its ports again.
   */
  start(process: {
    readonly name: string;
    readonly services: readonly TemporalService[];
    readonly logFile: string;
    readonly pidFile: string;
  }): Promise<RunningProcess>;
  /** Resolves when all have joined, and the namespace is there; rejects once one of the processes has ended. */
  ready(processes: readonly RunningProcess[]): Promise<void>;
  /** Removes its databases. */
  drop(): Promise<void>;
}

export interface TemporalClusterOptions {
  /** A Postgres where databases can be created. */
  readonly serverUrl: string;
  /** For the files of its configuration. */
  readonly directory: string;
  /** Suffix of its databases' names, if several share a server. */
  readonly suffix: string;
}

const NAMESPACE = 'default';
const STORES = { temporal: 'temporal', visibility: 'temporal_visibility' } as const;
const READY_MS_MAX = 180_000;

const run = promisify(execFile);

/** Makes the databases and their schema by Temporal's own tool; no process runs yet. */
export async function createTemporalCluster(options: TemporalClusterOptions): Promise<TemporalCluster> {
  const { server, sqlTool } = await temporalPrograms();
  const url = new URL(options.serverUrl);
  const databases = Object.entries(STORES).map(([schema, name]) => ({ schema, name: `${name}_${options.suffix}` }));
  await onServer(
    url,
    databases.map(({ name }) => `CREATE DATABASE ${name}`),
  );
  for (const { schema, name } of databases) await setUpSchema(sqlTool, url, schema, name);
  mkdirSync(options.directory, { recursive: true });
  writeFileSync(join(options.directory, DYNAMIC_CONFIGURATION_FILE), JSON.stringify(DYNAMIC_CONFIGURATION));

  const storeUrl = (name: string) => Object.assign(new URL(url), { pathname: `/${name}_${options.suffix}` }).href;
  const first = await portsOf(TEMPORAL_SERVICES);
  const address = `127.0.0.1:${first.frontend?.grpcPort}`;
  const taken = new Set<TemporalService>();
  const portsByName = new Map<string, Ports>();
  const members = new Set<string>();
  /** Every process must know of all services: those that it does not run, by ports that it does not use. */
  const portsFor = async (name: string, services: readonly TemporalService[]): Promise<Ports> => {
    const known = portsByName.get(name);
    if (known !== undefined) return known;
    const further = services.filter((service) => taken.has(service));
    for (const service of services) taken.add(service);
    const ports = { ...first, ...(await portsOf(further)) };
    portsByName.set(name, ports);
    return ports;
  };
  return {
    address,
    namespace: NAMESPACE,
    stores: { temporal: storeUrl(STORES.temporal), visibility: storeUrl(STORES.visibility) },
    start: async ({ name, services, logFile, pidFile }) => {
      const ports = await portsFor(name, services);
      // JSON is YAML too.
      const configuration = JSON.stringify(serverConfiguration({ ...options, url, databases, ports, address }));
      writeFileSync(join(options.directory, `${name}.yaml`), configuration, { mode: 0o600 });
      const isFirst = portsByName.size === 1;
      const where = ['--root', options.directory, '--config', '.', '--env', name, '--allow-no-auth'];
      const running = await spawnRecorded({
        command: server,
        arguments: [...where, 'start', ...services.flatMap((service) => ['--service', service])],
        environment: { PATH: process.env.PATH, HOME: process.env.HOME },
        cwd: options.directory,
        logFile,
        pidFile,
      });
      // Of several that found no record of the cluster and make it at the same time, one ends.
      if (isFirst) await until(storeUrl(STORES.temporal), 'SELECT FROM cluster_metadata_info', 1, [running]);
      for (const service of services) members.add(`${name} ${service}`);
      return running;
    },
    ready: async (processes) => {
      await until(storeUrl(STORES.temporal), JOINED, members.size, processes);
      await createNamespace(address, processes);
    },
    drop: () =>
      onServer(
        url,
        databases.map(({ name }) => `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
      ),
  };
}

/** All four services in one process, and a namespace. */
export async function startTemporalInOneProcess(
  options: TemporalClusterOptions,
): Promise<Pick<TemporalCluster, 'address' | 'namespace'> & { close(): Promise<void> }> {
  const cluster = await createTemporalCluster(options);
  const logFile = join(options.directory, 'temporal-server.log');
  const running = await cluster.start({
    name: 'temporal-server',
    services: TEMPORAL_SERVICES,
    logFile,
    pidFile: join(options.directory, 'temporal-server.pid'),
  });
  const close = async () => {
    await stopProcess(running, { graceMs: 10_000 });
    await cluster.drop();
  };
  try {
    await cluster.ready([running]);
    return { address: cluster.address, namespace: cluster.namespace, close };
  } catch (error) {
    await close();
    throw new Error(`the Temporal server did not start: ${logTail(logFile, 5)}`, { cause: error });
  }
}

/** As docker-compose.yml does it in the image of the admin tools. */
async function setUpSchema(sqlTool: string, url: URL, schema: string, database: string): Promise<void> {
  const endpoint = ['--plugin', 'postgres12', '--endpoint', url.hostname, '--port', url.port, '--user', url.username];
  const onDatabase = [...endpoint, '--database', database];
  const env = { ...process.env, SQL_PASSWORD: decodeURIComponent(url.password) };
  await run(sqlTool, [...onDatabase, 'setup-schema', '--version', '0.0'], { env });
  await run(sqlTool, [...onDatabase, 'update-schema', '--schema-name', `postgresql/v12/${schema}`], { env });
}

interface ServicePorts {
  readonly grpcPort: number;
  readonly membershipPort: number;
  readonly httpPort: number;
}

type Ports = Readonly<Partial<Record<TemporalService, ServicePorts>>>;

async function portsOf(services: readonly TemporalService[]): Promise<Ports> {
  const ports: Partial<Record<TemporalService, ServicePorts>> = {};
  for (const service of services) {
    ports[service] = { grpcPort: await freePort(), membershipPort: await freePort(), httpPort: await freePort() };
  }
  return ports;
}

const DYNAMIC_CONFIGURATION_FILE = 'dynamic-config.yaml';
/** As docker-compose.yml has it: tasks by priority; the default from 1.31 on. */
const DYNAMIC_CONFIGURATION = { 'matching.useNewMatcher': [{ value: true }] };

/** Of each process and store: seven processes together need 70 of each of two databases. */
const CONNECTIONS = 10;

function serverConfiguration(of: {
  readonly url: URL;
  readonly directory: string;
  readonly databases: readonly { readonly schema: string; readonly name: string }[];
  readonly ports: Ports;
  readonly address: string;
}) {
  const store = (databaseName: string) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: of.url.host,
      connectProtocol: 'tcp',
      user: of.url.username,
      password: decodeURIComponent(of.url.password),
      maxConns: CONNECTIONS,
      maxIdleConns: CONNECTIONS,
    },
  });
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      numHistoryShards: HISTORY_SHARDS,
      defaultStore: 'temporal',
      visibilityStore: 'visibility',
      datastores: Object.fromEntries(of.databases.map(({ schema, name }) => [schema, store(name)])),
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: Object.fromEntries(
      Object.entries(of.ports).map(([name, own]) => [name, { rpc: { ...own, bindOnLocalHost: true } }]),
    ),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress: of.address },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: join(of.directory, DYNAMIC_CONFIGURATION_FILE), pollInterval: '60s' },
  };
}

const JOINED = `SELECT FROM cluster_membership WHERE last_heartbeat > now() AT TIME ZONE 'UTC' - interval '20 seconds'`;

/** Until so many rows are there. */
async function until(
  url: string,
  statement: string,
  count: number,
  processes: readonly RunningProcess[],
): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const deadline = performance.now() + READY_MS_MAX;
  try {
    while ((await sql.unsafe(statement)).length < count) {
      if (!processes.every(isAlive)) throw new Error('a process of the Temporal cluster ended');
      if (performance.now() > deadline) throw new Error('the Temporal cluster did not start in time');
      await sleep(200);
    }
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function createNamespace(address: string, processes: readonly RunningProcess[]): Promise<void> {
  const cli = await temporalBinary();
  const words = ['operator', 'namespace', 'create', '--namespace', NAMESPACE, '--retention', '720h'];
  const deadline = performance.now() + READY_MS_MAX;
  for (;;) {
    try {
      await run(cli, [...words, '--address', address]);
      return;
    } catch (error) {
      if (!processes.every(isAlive)) throw new Error('a process of the Temporal cluster ended', { cause: error });
      if (performance.now() > deadline) throw error;
    }
    await sleep(500);
  }
}

async function onServer(url: URL, statements: readonly string[]): Promise<void> {
  const maintenance = new URL(url);
  maintenance.pathname = '/postgres';
  const sql = postgres(maintenance.href, { max: 1, onnotice: () => {} });
  try {
    for (const statement of statements) await sql.unsafe(statement);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
