import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { isAlive, logTail, spawnRecorded, stopProcess } from '../../../cli/common/processes.ts';
import { findOnPath } from '../../../dev/common/user-cache.ts';
import { freePort } from '../../../dev/servers/ports.ts';
import { type RunningTemporal, startTemporal } from '../../../dev/servers/temporal-server.ts';
import { timeSkippingServer } from '../../../dev/servers/test-server.ts';
import { SEARCH_ATTRIBUTES } from '../../../workflows/common/messages.ts';
import '../workflows/temporal-runtime.ts';

/** Temporal's number of this type of search attribute. */
const KEYWORD = 2;

export interface TestTemporal {
  /** `host:port`; the same after a restart. */
  address: string;
  namespace: string;
  pid(): number;
  logFile: string;
  /** SIGKILL; nothing is written any more. */
  kill(): Promise<void>;
  stop(): Promise<void>;
  /** Starts again on the same file and port. */
  restart(): Promise<void>;
  /** Removes its database while it is stopped: the next start knows nothing. */
  loseDatabase(): Promise<void>;
  /** Ends it and removes its files. */
  close(): Promise<void>;
}

/** A local Temporal server for one test file: free ports, its database in a temporary folder. */
export async function startTemporalDevServer(
  options: { namespace?: string; dynamicConfig?: Readonly<Record<string, number>> } = {},
): Promise<TestTemporal> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'temporal-test-'));
  const port = await freePort();
  const start = (): Promise<RunningTemporal> =>
    startTemporal({
      databaseFile: join(dataDirectory, 'temporal.db'),
      logFile: join(dataDirectory, 'temporal.log'),
      pidFile: join(dataDirectory, 'temporal.pid'),
      port,
      ...options,
    });
  let running = await start();
  return {
    address: running.address,
    namespace: running.namespace,
    pid: () => running.process.pid,
    logFile: running.logFile,
    kill: () => running.kill(),
    stop: () => running.stop(),
    restart: async () => {
      running = await start();
    },
    loseDatabase: async () => {
      for (const suffix of ['', '-wal', '-shm']) rmSync(join(dataDirectory, `temporal.db${suffix}`), { force: true });
    },
    close: async () => {
      await running.stop();
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}

const TIME_SKIPPING_READY_MS_MAX = 120_000;

/** Temporal's time-skipping test server, for workflows that wait for days. */
export async function timeSkippingEnvironment(): Promise<TestWorkflowEnvironment> {
  const { port, stop } = await startTimeSkippingServer();
  try {
    const environment = await TestWorkflowEnvironment.createTimeSkipping({
      // The SDK insists on starting a process (this one sleeps for "port" seconds), and finds the server on its port.
      server: { port, executable: { type: 'existing-path', path: findOnPath('sleep') ?? '/bin/sleep' } },
    });
    const { teardown } = environment;
    environment.teardown = async () => {
      await teardown.call(environment);
      await stop();
    };
    // This server can register search attributes but not list them, so that the worker does not touch them.
    const searchAttributes = Object.fromEntries(Object.keys(SEARCH_ATTRIBUTES).map((name) => [name, KEYWORD]));
    await environment.connection.operatorService.addSearchAttributes({ namespace: 'default', searchAttributes });
    return environment;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Waits as long as a busy machine needs; the SDK allows a server that it starts only five seconds. */
async function startTimeSkippingServer(): Promise<{ port: number; stop(): Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'time-skipping-test-'));
  const port = await freePort();
  const logFile = join(directory, 'server.log');
  const running = await spawnRecorded({
    command: await timeSkippingServer(),
    arguments: [String(port)],
    environment: process.env,
    logFile,
    pidFile: join(directory, 'server.pid'),
  });
  const stop = async () => {
    await stopProcess(running, { graceMs: 5_000 });
    rmSync(directory, { recursive: true, force: true });
  };
  const deadline = performance.now() + TIME_SKIPPING_READY_MS_MAX;
  while (!(await accepts(port))) {
    if (!isAlive(running) || performance.now() > deadline) {
      const tail = logTail(logFile, 20);
      await stop();
      throw new Error(`the time-skipping test server did not come up: ${tail}`);
    }
    await sleep(100);
  }
  return { port, stop };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      resolve(true);
      socket.destroy();
    });
  });
}
