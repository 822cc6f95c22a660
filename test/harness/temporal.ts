import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { freePort } from '../../scripts/ports.ts';
import { type RunningTemporal, startTemporal } from '../../scripts/temporal-server.ts';
import { timeSkippingServer } from '../../scripts/test-server.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/messages.ts';

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

/** A real local Temporal server of one test file's own: free ports, its database in a temporary folder. */
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

/** Temporal's test server, where waiting takes no time: for workflows that wait for days. */
export async function timeSkippingEnvironment(): Promise<TestWorkflowEnvironment> {
  const environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: await timeSkippingServer() } },
  });
  // This server can register search attributes but not list them, so that the worker leaves them alone.
  const searchAttributes = Object.fromEntries(Object.keys(SEARCH_ATTRIBUTES).map((name) => [name, KEYWORD]));
  await environment.connection.operatorService.addSearchAttributes({ namespace: 'default', searchAttributes });
  return environment;
}
