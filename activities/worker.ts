import { setTimeout as sleep } from 'node:timers/promises';
import { NativeConnection, Worker, type WorkerOptions, type WorkflowBundleOption } from '@temporalio/worker';
import type { Configuration } from '../config/configuration.ts';
import type { TemporalSettings, WorkerVersion } from '../config/temporal.ts';
import { tracing } from '../config/tracing/tracing.ts';
import { TASK_QUEUES, TRACE_HEADER } from '../workflows/common/messages.ts';
import type { ActivityDependencies } from './common/dependencies.ts';
import { tracedWorker } from './common/traces.ts';
import { NameLists } from './compliance/name-lists.ts';
import { activitiesByTaskQueue } from './index.ts';
import { LAG_INTERVAL_MS, measureTaskQueues } from './task-queue-lag.ts';
import { namespacePreparation, PREPARE_INTERVAL_MS } from './temporal-namespace.ts';
import { AFTER_DRAIN, type TaskQueue, WORKER_DEFAULTS, type WorkerSettings } from './worker-settings.ts';
import { workflowBundle } from './workflow-bundle.ts';

const CONNECT_PAUSE_MS_MIN = 500;
const CONNECT_PAUSE_MS_MAX = 5_000;

const NAME_LISTS_INTERVAL_MS = 60_000;

export interface WorkersOptions {
  readonly temporal: TemporalSettings;
  readonly dependencies: ActivityDependencies;
  readonly pools: Configuration['pools'];
  /** Null, the default: Temporal does not tell this release's workers from others. */
  readonly version?: WorkerVersion | null | undefined;
  readonly settings?: WorkerSettings;
  /** The workflow code; by default that of this release. */
  readonly bundle?: WorkflowBundleOption | undefined;
}

interface RunOptions extends WorkersOptions {
  readonly nameLists: NameLists;
}

export interface RunningWorkers {
  /** Resolves once all workers poll; never rejects. */
  readonly ready: Promise<void>;
  /** False while Temporal is away. */
  isPolling(): boolean;
  /** Drains, and resolves when nothing is running. */
  stop(): Promise<void>;
}

/**
 * Runs a worker for each task queue until stopped: connects when Temporal is available, and reconnects when a worker
 * fails.
 */
export function startWorkers(options: WorkersOptions): RunningWorkers {
  const { logger, configuration } = options.dependencies;
  const nameLists = new NameLists(configuration.complianceRules, logger);
  const stopping = new AbortController();
  let markReady = (): void => {};
  const ready = new Promise<void>((resolve) => {
    markReady = resolve;
  });

  let isPolling = false;

  async function run(): Promise<void> {
    let pauseMs = CONNECT_PAUSE_MS_MIN;
    while (!stopping.signal.aborted) {
      try {
        await runOnce({ ...options, nameLists }, stopping.signal, () => {
          pauseMs = CONNECT_PAUSE_MS_MIN;
          isPolling = true;
          markReady();
        }).finally(() => {
          isPolling = false;
        });
      } catch (error) {
        if (stopping.signal.aborted) break;
        logger.warn(
          { address: options.temporal.address, reason: reasonOf(error) },
          'the workers stopped receiving tasks from Temporal; reconnecting',
        );
      }
      await sleep(pauseMs * (0.5 + Math.random() / 2), undefined, { signal: stopping.signal }).catch(() => {});
      pauseMs = Math.min(CONNECT_PAUSE_MS_MAX, pauseMs * 2);
    }
    markReady();
  }

  const running = run();
  // A screening reads a changed list anyway; this reports a broken one before a transfer needs it.
  const refreshing = setInterval(() => void nameLists.refreshAll(), NAME_LISTS_INTERVAL_MS);
  void nameLists.refreshAll();
  return {
    ready,
    isPolling: () => isPolling && !stopping.signal.aborted,
    stop: async () => {
      clearInterval(refreshing);
      stopping.abort();
      await running;
    },
  };
}

/** Runs until the signal, or until one worker fails: then the others stop too. */
async function runOnce(options: RunOptions, signal: AbortSignal, onPolling: () => void): Promise<void> {
  const { temporal, dependencies } = options;
  const connection = await NativeConnection.connect({
    address: temporal.address,
    ...(temporal.tls === undefined ? {} : { tls: temporal.tls }),
    ...(temporal.apiKey === undefined ? {} : { apiKey: temporal.apiKey }),
  });
  const prepare = namespacePreparation(connection, temporal.namespace, dependencies.logger);
  try {
    await prepare();
    const workers = await createWorkers(options, connection);
    const shutDown = () => {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    };
    signal.addEventListener('abort', shutDown, { once: true });
    const preparing = setInterval(() => {
      prepare().catch((error: unknown) => {
        if (signal.aborted) return;
        dependencies.logger.warn({ reason: reasonOf(error) }, 'Temporal’s namespace could not be prepared again');
      });
    }, PREPARE_INTERVAL_MS);
    const measure = () => void measureTaskQueues(connection, temporal.namespace);
    const measuring = setInterval(measure, LAG_INTERVAL_MS);
    measure();
    const runs = workers.map((worker) => worker.run());
    if (signal.aborted) shutDown();
    else onPolling();
    try {
      await Promise.race([Promise.all(runs), ...runs]);
    } finally {
      clearInterval(preparing);
      clearInterval(measuring);
      shutDown();
      await Promise.allSettled(runs);
      signal.removeEventListener('abort', shutDown);
    }
  } finally {
    await connection.close().catch((error: unknown) => {
      dependencies.logger.warn({ reason: reasonOf(error) }, 'the connection to Temporal did not close');
    });
  }
}

async function createWorkers(options: RunOptions, connection: NativeConnection): Promise<Worker[]> {
  const { pools, temporal, dependencies, nameLists, settings = WORKER_DEFAULTS } = options;
  const activities = activitiesByTaskQueue(dependencies, nameLists);
  const traces = tracing();
  const traced = traces === null ? {} : await tracedWorker(traces, TRACE_HEADER);
  const shared = {
    connection,
    namespace: temporal.namespace,
    shutdownGraceTime: `${settings.drainSeconds} seconds`,
    shutdownForceTime: `${settings.drainSeconds + AFTER_DRAIN.cancelSeconds} seconds`,
    ...traced,
    ...versioned(options.version),
  } as const;
  const workflows = async (): Promise<WorkerOptions> => ({
    ...shared,
    taskQueue: TASK_QUEUES.workflows,
    workflowBundle: options.bundle ?? (await workflowBundle(traces === null ? 'untraced' : 'traced')),
    activities: activities[TASK_QUEUES.workflows],
    enableNonLocalActivities: false,
    maxCachedWorkflows: pools.cachedWorkflows,
    maxConcurrentWorkflowTaskExecutions: pools.workflowTasks,
    maxConcurrentLocalActivityExecutions: pools.workflowTasks,
    // How long cached workflows wait for a killed worker.
    stickyQueueScheduleToStartTimeout: '5 seconds',
  });
  const ofActivities = (taskQueue: 'providers' | 'webhooks', atOnce: number): WorkerOptions => ({
    ...shared,
    taskQueue,
    activities: activities[taskQueue],
    maxConcurrentActivityTaskExecutions: atOnce,
  });
  const optionsOf: Readonly<Record<TaskQueue, () => WorkerOptions | Promise<WorkerOptions>>> = {
    workflows,
    providers: () => ofActivities(TASK_QUEUES.providers, pools.providerActivities),
    webhooks: () => ofActivities(TASK_QUEUES.webhooks, pools.webhookActivities),
  };
  const workers: Worker[] = [];
  for (const taskQueue of settings.taskQueues) workers.push(await Worker.create(await optionsOf[taskQueue]()));
  return workers;
}

/**
 * Every run goes on with the release that is current in Temporal, as a row may wait for years and no release's workers stay that long.
 * So workflow code replays what the release before began, with and without versions (docs/upgrade.md).
 */
function versioned(version: WorkersOptions['version']): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (version == null) return {};
  return {
    workerDeploymentOptions: { useWorkerVersioning: true, version, defaultVersioningBehavior: 'AUTO_UPGRADE' },
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 300) : String(error);
}
