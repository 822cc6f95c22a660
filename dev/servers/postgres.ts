import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { ActionableError } from '../../cli/common/actionable-error.ts';
import {
  commandLine,
  identify,
  isAlive,
  logTail,
  type ProcessIdentity,
  type RunningProcess,
  readPidFile,
  spawnRecorded,
  stopProcess,
} from '../../cli/common/processes.ts';
import { freePort, isPortFree } from './ports.ts';
import { initialiseCluster, type PostgresBinaries, postgresBinaries } from './postgres-cluster.ts';
import { readOrCreatePassword, readOrCreateServicePassword } from './postgres-passwords.ts';
import { makePassable, type PostgresUser, postgresUser } from './postgres-user.ts';

const DATABASE_NAME = 'financial_accounts';
/** The role of the service's processes; the superuser `postgres` owns the tables and migrates. */
const SERVICE_ROLE = 'financial_accounts';
const START_TIMEOUT_MS = 60_000;
const STOP_GRACE_MS = 8_000;

/**
 * Durability as in production: fsync and synchronous_commit stay on. Errors are terse and statements unlogged:
 * details and literals would put personal data into the log.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: `${bufferMebibytes()}MB`,
  max_wal_size: '2GB',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
};

/** An eighth of the machine's or container's memory, between 128 MiB and 1 GiB, as other processes share it. */
function bufferMebibytes(): number {
  const limit = process.constrainedMemory();
  const bytes = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.min(1_024, Math.max(128, Math.floor(bytes / 1024 ** 2 / 8)));
}

export interface StartPostgresOptions {
  /** Contains the cluster (`cluster/`), its passwords and its port; created if missing. */
  dataDirectory: string;
  /** Default: `postgres.log` in the data directory. */
  logFile?: string;
  /** Default: `postgres.pid` in the data directory. */
  pidFile?: string;
  /** Default: the recorded port if free, otherwise another free one. */
  port?: number;
  /** Settings of postgresql.conf that override or extend ours. */
  settings?: Readonly<Record<string, string>>;
  /** Called with progress messages of slow steps. */
  onProgress?: (line: string) => void;
}

export interface RunningPostgres {
  /** Url of the application's database, as the role that the service's processes run as. */
  url: string;
  /** The URL of the superuser that owns its tables and migrates. */
  ownerUrl: string;
  port: number;
  process: RunningProcess;
  logFile: string;
  /** Ends sessions, writes a checkpoint, and ends. */
  stop(): Promise<void>;
  /** Crashes it: kills the postmaster with SIGKILL. */
  kill(): Promise<void>;
}

/** Starts the embedded Postgres 18 on an existing or new cluster, and recovers from a kill or crash. */
export async function startPostgres(options: StartPostgresOptions): Promise<RunningPostgres> {
  const directory = resolve(options.dataDirectory);
  const clusterDirectory = join(directory, 'cluster');
  const logFile = options.logFile ?? join(directory, 'postgres.log');
  const pidFile = options.pidFile ?? join(directory, 'postgres.pid');
  if (mkdirSync(directory, { recursive: true }) !== undefined) chmodSync(directory, 0o711);
  const user = postgresUser();
  const binaries = await postgresBinaries();
  if (user !== undefined) makePassable([directory, binaries.postgres], user, options.onProgress);
  const password = readOrCreatePassword(directory);
  const servicePassword = readOrCreateServicePassword(directory);
  if (!existsSync(join(clusterDirectory, 'PG_VERSION'))) {
    options.onProgress?.('Creating the Postgres cluster …');
    await initialiseCluster({ clusterDirectory, password, binaries, user });
  }
  await stopLeftOver(clusterDirectory);
  const port = await choosePort(directory, options.port);
  const settings = { ...SETTINGS, ...options.settings };
  const running = await launchUntilReady({
    clusterDirectory,
    logFile,
    pidFile,
    port,
    binaries,
    user,
    settings,
    password,
    servicePassword,
  });
  const ownerUrl = urlOf('postgres', password, port);
  writeFileSync(join(directory, 'port'), `${port}\n`);
  return {
    url: urlOf(SERVICE_ROLE, servicePassword, port),
    ownerUrl,
    port,
    process: running,
    logFile,
    stop: async () => {
      await stopPostgresProcess(running);
    },
    kill: async () => {
      await stopProcess(running, { graceMs: 5_000, signal: 'SIGKILL' });
    },
  };
}

function urlOf(role: string, password: string, port: number): string {
  return `postgres://${role}:${password}@127.0.0.1:${port}/${DATABASE_NAME}`;
}

/** Also in a cluster from before this role existed. Its rights are granted with the migration. */
async function provideServiceRole(sql: postgres.Sql, password: string): Promise<void> {
  const existing = await sql`select 1 from pg_roles where rolname = ${SERVICE_ROLE}`;
  const verb = existing.length === 0 ? 'create' : 'alter';
  await sql.unsafe(`${verb} role ${SERVICE_ROLE} login password '${password}'`);
}

/**
 * SIGINT is Postgres's fast shutdown: ends sessions, keeps everything committed. Its children end with the
 * postmaster.
 */
export async function stopPostgresProcess(identity: ProcessIdentity): Promise<boolean> {
  return stopProcess(identity, { graceMs: STOP_GRACE_MS, signal: 'SIGINT' });
}

interface LaunchOptions {
  clusterDirectory: string;
  logFile: string;
  pidFile: string;
  port: number;
  binaries: PostgresBinaries;
  user: PostgresUser | undefined;
  settings: Readonly<Record<string, string>>;
  password: string;
  servicePassword: string;
}

/** Sessions of a killed postmaster take a moment to end; until then a new one does not start. */
const KILLED_SESSIONS_END_WITHIN_MS = 15_000;

async function launchUntilReady(options: LaunchOptions): Promise<RunningProcess> {
  const deadline = performance.now() + KILLED_SESSIONS_END_WITHIN_MS;
  for (;;) {
    const running = await launch(options);
    try {
      await waitUntilReady(
        `postgres://postgres:${options.password}@127.0.0.1:${options.port}/postgres`,
        running,
        options,
      );
      return running;
    } catch (error) {
      const waitsForSessions =
        !isAlive(running) && /pre-existing shared memory block/.test(logTail(options.logFile, 4));
      await stopProcess(running, { graceMs: 1_000, signal: 'SIGINT' });
      if (!waitsForSessions || performance.now() > deadline) throw error;
      await sleep(300);
    }
  }
}

async function launch(options: LaunchOptions): Promise<RunningProcess> {
  const settings = Object.entries(options.settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return spawnRecorded({
    command: options.binaries.postgres,
    arguments: ['-D', options.clusterDirectory, '-p', String(options.port), ...settings],
    environment: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
    // The server's user may have no access to our working directory.
    cwd: options.clusterDirectory,
    logFile: options.logFile,
    pidFile: options.pidFile,
    ...(options.user ?? {}),
  });
}

async function waitUntilReady(
  maintenanceUrl: string,
  running: RunningProcess,
  { logFile, servicePassword }: LaunchOptions,
): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const sql = postgres(maintenanceUrl, { max: 1, connect_timeout: 5, onnotice: () => {} });
    try {
      const [{ isStandby } = { isStandby: false }] = await sql<{ isStandby: boolean }[]>`
        select pg_is_in_recovery() as "isStandby"`;
      // It has what its primary has.
      if (isStandby) return;
      const existing = await sql`select 1 from pg_database where datname = ${DATABASE_NAME}`;
      if (existing.length === 0) await sql.unsafe(`create database ${DATABASE_NAME}`);
      await provideServiceRole(sql, servicePassword);
      return;
    } catch (error) {
      if (!isAlive(running)) throw endedError(logFile);
      if (performance.now() > deadline)
        throw new ActionableError(`Postgres did not answer in time; its log is ${logFile}.`, { cause: error });
    } finally {
      await sql.end({ timeout: 1 });
    }
    await sleep(100);
  }
}

function endedError(logFile: string): ActionableError {
  const tail = logTail(logFile, 12);
  if (/No space left on device/.test(tail)) {
    return new ActionableError(
      'The disk is full: Postgres cannot start. Free some space, or set DATA_DIR to a folder on another disk.',
    );
  }
  const fatal = tail.split('\n').findLast((line) => /FATAL|PANIC/.test(line)) ?? tail.split('\n').at(-1);
  return new ActionableError(`Postgres ended while it started: ${fatal?.trim() ?? 'no output'} (log: ${logFile})`);
}

/**
 * A process still running on our cluster is left over from a killed start: ends it and removes its lock file.
 * Postgres does not start while any process has the number in that file: an unrelated one (after a reboot, or in a
 * container) or the killed server itself, which a container without an init never reaps.
 */
async function stopLeftOver(clusterDirectory: string): Promise<void> {
  const lockFile = join(clusterDirectory, 'postmaster.pid');
  if (!existsSync(lockFile)) return;
  const pid = Number(readFileSync(lockFile, 'utf8').split('\n')[0]);
  const identity = Number.isInteger(pid) && pid > 0 ? identify(pid) : undefined;
  if (identity !== undefined && commandLine(pid)?.includes(clusterDirectory) === true) {
    await stopPostgresProcess(identity);
    // If it cannot be ended, the lock stays and Postgres reports it.
    if (isAlive(identity)) return;
  }
  rmSync(lockFile, { force: true });
}

async function choosePort(directory: string, wanted: number | undefined): Promise<number> {
  if (wanted !== undefined) {
    if (!(await isPortFree(wanted))) {
      throw new ActionableError(
        `Port ${wanted}, wanted for Postgres, is in use. Stop what listens there, or leave the port out.`,
      );
    }
    return wanted;
  }
  const portFile = join(directory, 'port');
  const recorded = existsSync(portFile) ? Number(readFileSync(portFile, 'utf8')) : 0;
  if (Number.isInteger(recorded) && recorded > 0 && (await isPortFree(recorded))) return recorded;
  return freePort();
}

export interface FoundPostgres {
  ownerUrl: string;
  process: ProcessIdentity;
}

/** The Postgres that already runs on this data directory, if there is one. */
export function findRunningPostgres(dataDirectory: string): FoundPostgres | undefined {
  const directory = resolve(dataDirectory);
  const identity = readPidFile(join(directory, 'postgres.pid'));
  if (identity === undefined || !isAlive(identity)) return undefined;
  try {
    const password = readFileSync(join(directory, 'password'), 'utf8').trim();
    const port = Number(readFileSync(join(directory, 'port'), 'utf8'));
    return { ownerUrl: urlOf('postgres', password, port), process: identity };
  } catch {
    return undefined;
  }
}
