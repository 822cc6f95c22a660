import { pino } from 'pino';
import { type RunningWorkers, startWorkers } from '../../../activities/worker.ts';
import { OPERATIONS } from '../../../cli/operations/operations.ts';
import type { Initiator } from '../../../db/common/audit-entries.ts';
import { DomainError } from '../../../domain/common/errors.ts';
import type { PollingLoop } from '../../../loops/polling.ts';
import { lazyTemporalClient, type TemporalClient } from '../../../loops/temporal.ts';
import { workflowWakeupRelay } from '../../../loops/workflow-wakeups.ts';
import { type Json, startApi, type TestApi, type TestApiOptions } from '../api.ts';
import { createTestDatabase, type TestDatabase } from '../servers/postgres.ts';
import { startTemporalDevServer, type TestTemporal } from '../servers/temporal.ts';
import { type ScriptedProvider, scriptedProvider } from './scripted-provider.ts';
import './temporal-runtime.ts';

/** The API, a worker and a relay on one database and one Temporal server, with operators' commands. */
export interface OperatedService {
  readonly api: TestApi;
  readonly testDatabase: TestDatabase;
  readonly temporal: TemporalClient;
  readonly provider: ScriptedProvider;
  /** May be stopped and started again. */
  readonly relay: Restartable;
  /** Calls while no worker polls. */
  pauseWorkers(during: () => Promise<void>): Promise<void>;
  /** Another API on the same database, with other rules. */
  apiWith(options: TestApiOptions): Promise<TestApi>;
  /** Runs a command with `--json`; the answer is what it printed last. */
  operate(name: string, given: readonly string[], options?: OperateOptions): Promise<{ status: number; answer: Json }>;
  /** Runs a command as text; a rejection is its message. */
  lines(name: string, given: readonly string[], options?: OperateOptions): Promise<{ status: number; lines: string[] }>;
  stop(): Promise<void>;
}

interface Restartable {
  start(): void;
  stop(): Promise<void>;
}

export interface OperateOptions {
  readonly answerTimeoutMs?: number;
  readonly temporal?: TemporalClient;
}

export const OPERATOR: Initiator = { actor: 'night-operator', requestId: null };

const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });

/** A stopped loop cannot be restarted, so each start creates another. */
function restartable(create: () => PollingLoop): Restartable {
  let running: PollingLoop | undefined;
  return {
    start: () => {
      running = create();
      running.start();
    },
    stop: async () => {
      await running?.stop();
      running = undefined;
    },
  };
}

/** `now`: the service's time at the start, which then advances. The test starts the relay. */
export async function operatedService(name: string, now: string): Promise<OperatedService> {
  const testDatabase = await createTestDatabase(name);
  const server: TestTemporal = await startTemporalDevServer();
  const provider = scriptedProvider();
  const providers = new Map([['sandbox-bank', provider]]);
  const offset = `${Math.round((Date.parse(now) - Date.now()) / 1_000)} seconds`;
  const shared: TestApiOptions = {
    clockOffset: () => offset,
    providers,
    configuration: (configuration) => ({ ...configuration, prices: [] }),
  };
  const api = await startApi(testDatabase, shared);
  const address = { address: server.address, namespace: server.namespace };
  const temporal = lazyTemporalClient(address);
  const relay = restartable(() => workflowWakeupRelay({ database: api.database, client: temporal.client, logger }));
  const { configuration, environment, keyring } = api.services;
  const work = async (): Promise<RunningWorkers> => {
    const { database, url: publicUrl } = api;
    const dependencies = { database, providers, configuration, logger, publicUrl, mail: environment.mail, keyring };
    const started = startWorkers({ temporal: address, dependencies, pools: configuration.pools });
    await started.ready;
    return started;
  };
  let workers = await work();
  const others: TestApi[] = [];
  const run = async (command: string, given: readonly string[], options: OperateOptions = {}) => {
    const lines: string[] = [];
    const operation = OPERATIONS[command];
    if (operation === undefined) throw new Error(`no command ${command}`);
    const context = { database: api.database, providers, temporal, initiator: OPERATOR, ...options };
    const status = await operation.run({ ...context, arguments: given, print: (line) => lines.push(line) });
    return { status, lines };
  };
  return {
    api,
    testDatabase,
    temporal,
    provider,
    relay,
    pauseWorkers: async (during) => {
      await workers.stop();
      try {
        await during();
      } finally {
        workers = await work();
      }
    },
    apiWith: async (options) => {
      const other = await startApi(testDatabase, { ...shared, users: api.users, ...options });
      others.push(other);
      return other;
    },
    operate: async (command, given, options) => {
      const { status, lines } = await run(command, [...given, '--json'], options);
      return { status, answer: JSON.parse(lines.at(-1) ?? 'null') };
    },
    lines: async (command, given, options) => {
      try {
        return await run(command, given, options);
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        return { status: 1, lines: [error.problems[0].message] };
      }
    },
    stop: async () => {
      await relay.stop();
      await workers.stop();
      await temporal.close();
      for (const other of [...others, api]) await other.stop();
      await server.close();
      await testDatabase.drop();
    },
  };
}
