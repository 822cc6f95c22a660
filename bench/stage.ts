import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { isAlive, logTail, type RunningProcess, stopProcess } from '../cli/common/processes.ts';
import { loadConfiguration, localConfigurationFiles } from '../config/configuration.ts';
import { migrate, roleOf } from '../db/migrate.ts';
import { freePort } from '../dev/servers/ports.ts';
import { type RunningPostgres, startPostgres } from '../dev/servers/postgres.ts';
import { developmentToken, registerDevelopmentUsers } from '../dev/start/development-users.ts';
import { childProcess } from '../dev/start/start-children.ts';
import { type StageTemporal, startDevelopmentServer } from './temporal.ts';

/** A process of the bench that serves HTTP. */
export interface Served {
  readonly origin: string;
  readonly process: RunningProcess;
}

export interface Stage {
  readonly postgres: RunningPostgres;
  readonly temporal: StageTemporal;
  readonly sql: postgres.Sql;
  readonly api: Served;
  readonly worker: RunningProcess;
  readonly sandbox: RunningProcess;
  readonly sandboxUrl: string;
  readonly floor: Served;
  readonly floorWorker: RunningProcess;
  readonly token: string;
  /** Signs the sandbox bank's callbacks. */
  readonly bankSecret: string;
  /** Another database of the same Postgres, and an API that serves it. */
  secondApi(name: string): Promise<{ api: Served; sql: postgres.Sql }>;
  /** Another database of the same Postgres, empty. */
  otherDatabase(name: string): Promise<{ url: string; sql: postgres.Sql }>;
  stopTemporal(): Promise<void>;
  close(): Promise<void>;
}

/** The `aud` of the bench's tokens. */
const AUDIENCE = 'financial-accounts-service-bench';

const START_LIMIT_MS = 60_000;
const STOP_GRACE_MS = 5_000;

/** Segments of 16 MiB: more than is written between two checkpoints. */
const WAL_FILES = 64;

/**
 * Preallocates WAL segments, as in a Postgres that has been in use. A new one pauses 60 ms to fill and sync each, once a second
 * under full load, which would distort the measurements.
 */
async function makeWalFiles(sql: postgres.Sql): Promise<void> {
  for (let made = 0; made < WAL_FILES; made += 1) {
    await sql`SELECT pg_logical_emit_message(false, 'bench', '')`;
    await sql`SELECT pg_switch_wal()`;
  }
  await sql`CHECKPOINT`;
}

/** Of the stages that stand. */
const closers = new Set<() => Promise<void>>();

/** Ends every process that the bench has started: they outlive it otherwise. */
export async function closeStages(): Promise<void> {
  await Promise.all([...closers].map((close) => close()));
}

/** Starts every process on free ports, in a folder that is removed at the end; `variables` are of all processes of ours. */
export async function startStage(
  say: (line: string) => void,
  startTemporal: (directory: string, say: (line: string) => void) => Promise<StageTemporal> = startDevelopmentServer,
  variables: Readonly<Record<string, string>> = {},
): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-'));
  const connections: postgres.Sql[] = [];
  say('Starting Postgres and Temporal …');
  const settings = { min_wal_size: `${WAL_FILES * 16}MB` };
  const database = await startPostgres({ dataDirectory: join(directory, 'postgres'), settings, onProgress: say });
  const temporal = await startTemporal(directory, say);
  const environment = await environmentOf(directory, database.url, temporal);
  const launcher = new Launcher(directory, { ...environment, ...variables });
  const close = async (): Promise<void> => {
    closers.delete(close);
    for (const sql of connections) await sql.end({ timeout: 1 });
    await launcher.stop();
    await temporal.stop();
    await database.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  closers.add(close);
  const connect = (url: string): postgres.Sql => {
    const sql = postgres(url, { max: 2, onnotice: () => {} });
    connections.push(sql);
    return sql;
  };
  const otherDatabase = async (name: string) => {
    const url = withDatabase(database.url, name);
    const ownerUrl = withDatabase(database.ownerUrl, name);
    await connect(database.ownerUrl).unsafe(`create database ${name}`);
    await migrate(ownerUrl, undefined, { serviceRole: roleOf(url) });
    return { url, sql: connect(ownerUrl) };
  };
  try {
    await makeWalFiles(connect(database.ownerUrl));
    await migrate(database.ownerUrl, undefined, { serviceRole: roleOf(database.url) });
    await registerDevelopmentUsers(directory, database.url);
    say('Starting the sandbox, the worker, the API and the floors …');
    return {
      postgres: database,
      temporal,
      sql: connect(database.ownerUrl),
      sandbox: await launcher.launch('sandbox', 'sandbox/main.ts'),
      sandboxUrl: launcher.environment.SANDBOX_URL ?? '',
      worker: await launcher.launch('worker', 'activities/main.ts'),
      floorWorker: await launcher.launch('floor-worker', 'bench/floor/floor-worker.ts'),
      floor: await launcher.serve('floor', 'bench/floor/floor-server.ts', await freePort(), {
        // The floor creates tables that no migration has.
        DATABASE_URL: database.ownerUrl,
      }),
      api: await launcher.serve('api', 'api/main.ts', Number(launcher.environment.PORT)),
      bankSecret: launcher.environment.SANDBOX_BANK_SECRET ?? '',
      token: await developmentToken(directory, { audience: AUDIENCE, hasDevelopmentUsers: true }, { now: new Date() }),
      secondApi: async (name) => {
        const { url, sql } = await otherDatabase(name);
        await registerDevelopmentUsers(directory, url);
        const api = await launcher.serve(`api-${name}`, 'api/main.ts', await freePort(), { DATABASE_URL: url });
        return { api, sql };
      },
      otherDatabase,
      stopTemporal: () => temporal.stop(),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function withDatabase(databaseUrl: string, name: string): string {
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function environmentOf(
  directory: string,
  databaseUrl: string,
  temporal: StageTemporal,
): Promise<NodeJS.ProcessEnv> {
  const [port, sandboxPort] = [await freePort(), await freePort()];
  return {
    ...process.env,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    SANDBOX_PORT: String(sandboxPort),
    SANDBOX_URL: `http://127.0.0.1:${sandboxPort}`,
    SANDBOX_BANK_SECRET: randomBytes(32).toString('hex'),
    DATA_DIR: directory,
    AUDIENCE,
    CONFIG_FILE: localConfigurationFiles(process.env),
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    METRICS_PORT: '0',
    FLOOR_CONNECTIONS: String(loadConfiguration(process.env).pools.apiDatabaseConnections),
  };
}

/** Starts processes with one environment, and stops them all. */
class Launcher {
  readonly environment: NodeJS.ProcessEnv;
  readonly #directory: string;
  readonly #started: RunningProcess[] = [];

  constructor(directory: string, environment: NodeJS.ProcessEnv) {
    this.#directory = directory;
    this.environment = environment;
  }

  async launch(name: string, entry: string, overrides: NodeJS.ProcessEnv = {}): Promise<RunningProcess> {
    const running = await childProcess({
      entry,
      environment: { ...this.environment, ...overrides },
      logFile: join(this.#directory, `${name}.log`),
      pidFile: join(this.#directory, `${name}.pid`),
    });
    this.#started.push(running);
    return running;
  }

  /** Starts a process and waits until it answers. */
  async serve(name: string, entry: string, port: number, overrides: NodeJS.ProcessEnv = {}): Promise<Served> {
    const running = await this.launch(name, entry, { ...overrides, PORT: String(port) });
    await untilAnswering(port, running, join(this.#directory, `${name}.log`));
    return { origin: `http://127.0.0.1:${port}`, process: running };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#started.map((running) => stopProcess(running, { graceMs: STOP_GRACE_MS })));
  }
}

async function untilAnswering(port: number, running: RunningProcess, logFile: string): Promise<void> {
  const endsMs = performance.now() + START_LIMIT_MS;
  for (;;) {
    try {
      await (await fetch(`http://127.0.0.1:${port}/health/live`)).arrayBuffer();
      return;
    } catch (error) {
      if (!isAlive(running) || performance.now() > endsMs) {
        throw new Error(`a process of the bench did not start: ${logTail(logFile, 5)}`, { cause: error });
      }
    }
    await sleep(100);
  }
}
