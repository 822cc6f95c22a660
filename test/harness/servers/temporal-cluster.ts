import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { isAlive, logTail, spawnRecorded, stopProcess } from '../../../scripts/frame/processes.ts';
import { freePort } from '../../../scripts/servers/ports.ts';
import { temporalBinary } from '../../../scripts/servers/temporal-binary.ts';
import { temporalCluster } from '../../../scripts/servers/temporal-cluster.ts';

export interface RunningTemporalCluster {
  /** `host:port` of the frontend. */
  readonly address: string;
  readonly namespace: string;
  close(): Promise<void>;
}

const NAMESPACE = 'default';
const STORES = { temporal: 'temporal', visibility: 'temporal_visibility' } as const;
const SERVICES = ['frontend', 'matching', 'history', 'worker'] as const;
const READY_MS_MAX = 180_000;

const run = promisify(execFile);

/**
 * A production-like Temporal server on Postgres: schema by Temporal's own tool, all four services in one process, and
 * a namespace. `serverUrl` names a Postgres where databases can be created.
 */
export async function startTemporalCluster(options: {
  readonly serverUrl: string;
  readonly directory: string;
  /** Suffix of its databases' names, if several share a server. */
  readonly suffix: string;
}): Promise<RunningTemporalCluster> {
  const { server, sqlTool } = await temporalCluster();
  const url = new URL(options.serverUrl);
  const databases = Object.entries(STORES).map(([schema, name]) => ({ schema, name: `${name}_${options.suffix}` }));
  await onServer(
    url,
    databases.map(({ name }) => `CREATE DATABASE ${name}`),
  );
  for (const { schema, name } of databases) await setUpSchema(sqlTool, url, schema, name);

  const ports = Object.fromEntries(
    await Promise.all(SERVICES.map(async (name) => [name, await servicePorts()] as const)),
  );
  const address = `127.0.0.1:${ports.frontend?.grpcPort}`;
  mkdirSync(options.directory, { recursive: true });
  // JSON is YAML too.
  const configuration = JSON.stringify(serverConfiguration(url, databases, ports, address));
  writeFileSync(join(options.directory, 'real-use.yaml'), configuration, { mode: 0o600 });
  const logFile = join(options.directory, 'temporal-server.log');
  const running = await spawnRecorded({
    command: server,
    arguments: ['--root', options.directory, '--config', '.', '--env', 'real-use', '--allow-no-auth', 'start'],
    environment: { PATH: process.env.PATH, HOME: process.env.HOME },
    cwd: options.directory,
    logFile,
    pidFile: join(options.directory, 'temporal-server.pid'),
  });
  const close = async () => {
    await stopProcess(running, { graceMs: 10_000 });
    await onServer(
      url,
      databases.map(({ name }) => `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
    );
  };
  try {
    await createNamespace(address, () => {
      if (!isAlive(running)) throw new Error(`the Temporal server ended: ${logTail(logFile, 5)}`);
    });
    return { address, namespace: NAMESPACE, close };
  } catch (error) {
    await close();
    throw error;
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

async function servicePorts() {
  return { grpcPort: await freePort(), membershipPort: await freePort(), httpPort: await freePort() };
}

function serverConfiguration(
  url: URL,
  databases: readonly { readonly schema: string; readonly name: string }[],
  ports: Readonly<Record<string, object>>,
  address: string,
) {
  const store = (databaseName: string) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: url.host,
      connectProtocol: 'tcp',
      user: url.username,
      password: decodeURIComponent(url.password),
      maxConns: 10,
      maxIdleConns: 10,
    },
  });
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      numHistoryShards: 4,
      defaultStore: 'temporal',
      visibilityStore: 'visibility',
      datastores: Object.fromEntries(databases.map(({ schema, name }) => [schema, store(name)])),
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: Object.fromEntries(
      Object.entries(ports).map(([name, own]) => [name, { rpc: { ...own, bindOnLocalHost: true } }]),
    ),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress: address },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
  };
}

async function createNamespace(address: string, mustLive: () => void): Promise<void> {
  const cli = await temporalBinary();
  const words = ['operator', 'namespace', 'create', '--namespace', NAMESPACE, '--retention', '720h'];
  const deadline = performance.now() + READY_MS_MAX;
  for (;;) {
    try {
      await run(cli, [...words, '--address', address]);
      return;
    } catch (error) {
      mustLive();
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
