import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { loadConfiguration } from '../config/configuration.ts';
import { migrate } from '../db/migrate.ts';
import { developmentToken, registerDevelopmentUsers } from '../scripts/development-users.ts';
import { freePort } from '../scripts/ports.ts';
import { type RunningPostgres, startPostgres } from '../scripts/postgres.ts';
import { isAlive, logTail, type RunningProcess, stopProcess } from '../scripts/processes.ts';
import { childProcess } from '../scripts/start-children.ts';
import { type RunningTemporal, startTemporal } from '../scripts/temporal-server.ts';

/** One process of the bench that serves HTTP. */
export interface Served {
  readonly origin: string;
  readonly process: RunningProcess;
}

export interface Stage {
  readonly postgres: RunningPostgres;
  readonly temporal: RunningTemporal;
  readonly sql: postgres.Sql;
  readonly api: Served;
  readonly worker: RunningProcess;
  readonly sandbox: RunningProcess;
  readonly floor: Served;
  readonly floorWorker: RunningProcess;
  readonly token: string;
  /** Another database of the same Postgres, and an API that serves it. */
  secondApi(name: string): Promise<{ api: Served; sql: postgres.Sql }>;
  stopTemporal(): Promise<void>;
  close(): Promise<void>;
}

const START_LIMIT_MS = 60_000;
const STOP_GRACE_MS = 5_000;

/** Starts everything as processes of their own, on free ports, in a folder that is removed at the end. */
export async function startStage(say: (line: string) => void): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-'));
  const started: RunningProcess[] = [];
  const connections: postgres.Sql[] = [];
  say('Starting Postgres and Temporal …');
  const database = await startPostgres({ dataDirectory: join(directory, 'postgres'), onProgress: say });
  const temporal = await startTemporal({
    databaseFile: join(directory, 'temporal.db'),
    logFile: join(directory, 'temporal.log'),
    pidFile: join(directory, 'temporal.pid'),
    onProgress: say,
  });
  const close = async (): Promise<void> => {
    for (const sql of connections) await sql.end({ timeout: 1 });
    await Promise.all(started.map((running) => stopProcess(running, { graceMs: STOP_GRACE_MS })));
    await temporal.stop();
    await database.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  const connect = (url: string): postgres.Sql => {
    const sql = postgres(url, { max: 2, onnotice: () => {} });
    connections.push(sql);
    return sql;
  };

  try {
    await migrate(database.url);
    await registerDevelopmentUsers(directory, database.url);
    const { audience, pools } = loadConfiguration(process.env);
    const token = await developmentToken(directory, { role: undefined, audience, now: new Date() });

    const [port, sandboxPort, floorPort] = [await freePort(), await freePort(), await freePort()];
    const environment: NodeJS.ProcessEnv = {
      ...process.env,
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      SANDBOX_PORT: String(sandboxPort),
      SANDBOX_URL: `http://127.0.0.1:${sandboxPort}`,
      SANDBOX_BANK_SECRET: randomBytes(32).toString('hex'),
      DATA_DIR: directory,
      FLOOR_CONNECTIONS: String(pools.apiDatabaseConnections),
    };
    const launch = async (name: string, entry: string, overrides: NodeJS.ProcessEnv = {}): Promise<RunningProcess> => {
      const running = await childProcess({
        entry,
        environment: { ...environment, ...overrides },
        logFile: join(directory, `${name}.log`),
        pidFile: join(directory, `${name}.pid`),
      });
      started.push(running);
      return running;
    };
    const serve = async (name: string, entry: string, servedPort: number, overrides: NodeJS.ProcessEnv = {}) => {
      const running = await launch(name, entry, { ...overrides, PORT: String(servedPort) });
      await untilAnswering(servedPort, running, join(directory, `${name}.log`));
      return { origin: `http://127.0.0.1:${servedPort}`, process: running };
    };

    say('Starting the sandbox, the worker, the API and the floors …');
    const sandbox = await launch('sandbox', 'sandbox/main.ts');
    const worker = await launch('worker', 'activities/main.ts');
    const floorWorker = await launch('floor-worker', 'bench/floor-worker.ts');
    const floor = await serve('floor', 'bench/floor-server.ts', floorPort);
    const api = await serve('api', 'api/main.ts', port);
    return {
      postgres: database,
      temporal,
      sql: connect(database.url),
      api,
      worker,
      sandbox,
      floor,
      floorWorker,
      token,
      secondApi: async (name) => {
        const url = new URL(database.url);
        url.pathname = `/${name}`;
        await connect(database.url).unsafe(`create database ${name}`);
        await migrate(url.href);
        await registerDevelopmentUsers(directory, url.href);
        const second = await serve(`api-${name}`, 'api/main.ts', await freePort(), { DATABASE_URL: url.href });
        return { api: second, sql: connect(url.href) };
      },
      stopTemporal: () => temporal.stop(),
      close,
    };
  } catch (error) {
    await close();
    throw error;
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
