import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { ActionableError, errorMessage } from '../../cli/common/actionable-error.ts';
import { isAlive, logTail, type RunningProcess, spawnRecorded, stopProcess } from '../../cli/common/processes.ts';
import { freePort, isPortFree } from './ports.ts';
import { temporalBinary } from './temporal-binary.ts';

const START_TIMEOUT_MS = 60_000;
const STOP_GRACE_MS = 5_000;
/** Retention of closed workflows; the local server's default is one day. */
const RETENTION = '30 days';
const RETENTION_SECONDS = 30 * 24 * 60 * 60;

export interface StartTemporalOptions {
  /** The server's database; created if missing. */
  databaseFile: string;
  logFile: string;
  pidFile: string;
  /** gRPC port; default: a free one. */
  port?: number;
  /** Port of the UI; absent: no UI. */
  uiPort?: number;
  /** Default: `default`. Created when missing. */
  namespace?: string;
  onProgress?: (line: string) => void;
  /** Dynamic settings by name, for tests of limits. */
  dynamicConfig?: Readonly<Record<string, number>>;
}

export interface RunningTemporal {
  /** `host:port` for clients and workers. */
  address: string;
  namespace: string;
  uiUrl: string | undefined;
  process: RunningProcess;
  logFile: string;
  stop(): Promise<void>;
  /** Crashes it: kills the server with SIGKILL. */
  kill(): Promise<void>;
}

/** Starts a local Temporal server on one file, so that everything waiting survives a stop or kill. */
export async function startTemporal(options: StartTemporalOptions): Promise<RunningTemporal> {
  const databaseFile = resolve(options.databaseFile);
  mkdirSync(dirname(databaseFile), { recursive: true });
  const binary = await temporalBinary(options.onProgress);
  const port = options.port ?? (await freePort());
  const namespace = options.namespace ?? 'default';
  const { logFile } = options;
  await requireFree(port, 'TEMPORAL_PORT');
  if (options.uiPort !== undefined) await requireFree(options.uiPort, 'TEMPORAL_UI_PORT');
  const running = await spawnRecorded({
    command: binary,
    arguments: [
      ...(await serverArguments(databaseFile, port, options.uiPort, namespace)),
      ...Object.entries(options.dynamicConfig ?? {}).flatMap(([key, value]) => [
        '--dynamic-config-value',
        `${key}=${value}`,
      ]),
    ],
    // Its version check would call an outside host, and our TEMPORAL_* settings are not for it.
    environment: { PATH: process.env.PATH, HOME: process.env.HOME, TEMPORAL_VERSION_CHECK_DISABLED: '1' },
    cwd: dirname(databaseFile),
    logFile,
    pidFile: options.pidFile,
  });
  const address = `127.0.0.1:${port}`;
  try {
    await waitUntilServing(address, namespace, running, logFile);
  } catch (error) {
    await stopProcess(running, { graceMs: 1_000 });
    throw error;
  }
  return {
    address,
    namespace,
    uiUrl: options.uiPort === undefined ? undefined : `http://127.0.0.1:${options.uiPort}`,
    process: running,
    logFile,
    stop: async () => {
      await stopProcess(running, { graceMs: STOP_GRACE_MS });
    },
    kill: async () => {
      await stopProcess(running, { graceMs: 5_000, signal: 'SIGKILL' });
    },
  };
}

async function requireFree(port: number, variable: string): Promise<void> {
  if (await isPortFree(port)) return;
  throw new ActionableError(
    `Port ${port}, wanted for Temporal, is in use. Stop what listens there, or set ${variable} to a free port.`,
  );
}

async function serverArguments(
  databaseFile: string,
  port: number,
  uiPort: number | undefined,
  namespace: string,
): Promise<string[]> {
  return [
    'server',
    'start-dev',
    ...['--ip', '127.0.0.1'],
    ...['--port', String(port)],
    ...['--http-port', String(await freePort())],
    ...['--metrics-port', String(await freePort())],
    ...(uiPort === undefined ? ['--headless'] : ['--ui-ip', '127.0.0.1', '--ui-port', String(uiPort)]),
    ...['--namespace', namespace],
    ...['--db-filename', databaseFile],
    // Twice the throughput of the default journal; survives a kill of the server.
    ...['--sqlite-pragma', 'journal_mode=WAL'],
    ...['--sqlite-pragma', 'synchronous=NORMAL'],
    // A single server needs no partitions, and tasks in an unpolled partition wait two seconds. All are still read,
    // as an older start may have left tasks there.
    ...['--dynamic-config-value', 'matching.numTaskqueueWritePartitions=1'],
    // Tasks by priority; the default from 1.31 on.
    ...['--dynamic-config-value', 'matching.useNewMatcher=true'],
    ...['--log-level', 'warn'],
    ...['--log-format', 'json'],
  ];
}

async function waitUntilServing(
  address: string,
  namespace: string,
  running: RunningProcess,
  logFile: string,
): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      await setRetention(address, namespace);
      return;
    } catch (error) {
      if (!isAlive(running)) throw endedError(logFile);
      if (performance.now() > deadline)
        throw new ActionableError(`Temporal did not answer in time (${errorMessage(error)}); its log is ${logFile}.`);
    }
    await sleep(100);
  }
}

async function setRetention(address: string, namespace: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: 2_000 });
  try {
    await connection.withDeadline(Date.now() + 5_000, async () => {
      const described = await connection.workflowService.describeNamespace({ namespace });
      if (Number(described.config?.workflowExecutionRetentionTtl?.seconds ?? 0) === RETENTION_SECONDS) return;
      await connection.workflowService.updateNamespace({
        namespace,
        config: { workflowExecutionRetentionTtl: msToTs(RETENTION) },
      });
    });
  } finally {
    await connection.close();
  }
}

function endedError(logFile: string): ActionableError {
  const tail = logTail(logFile, 30);
  if (/disk is full|no space left/i.test(tail)) {
    return new ActionableError(
      'The disk is full: Temporal cannot start. Free some space, or set DATA_DIR to a folder on another disk.',
    );
  }
  if (/address already in use/i.test(tail)) {
    return new ActionableError(
      'A port that Temporal wanted is in use. Set TEMPORAL_PORT and TEMPORAL_UI_PORT to free ports.',
    );
  }
  return new ActionableError(
    `Temporal ended while it started: ${tail.split('\n').at(-1) ?? 'no output'} (log: ${logFile})`,
  );
}
