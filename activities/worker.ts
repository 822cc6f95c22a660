import { setTimeout as sleep } from 'node:timers/promises';
import { NativeConnection, Worker, type WorkerOptions, type WorkflowBundleOption } from '@temporalio/worker';
import type { Configuration } from '../config/configuration.ts';
import type { TemporalSettings } from '../config/temporal.ts';
import { TASK_QUEUES } from '../workflows/frame/messages.ts';
import { NameLists } from './compliance/name-lists.ts';
import type { ActivityDependencies } from './frame/dependencies.ts';
import { activitiesByTaskQueue } from './index.ts';
import { namespacePreparation, PREPARE_INTERVAL_MS } from './temporal-namespace.ts';
import { workflowBundle } from './workflow-bundle.ts';

const CONNECT_PAUSE_MS_MIN = 500;
const CONNECT_PAUSE_MS_MAX = 5_000;

const NAME_LISTS_INTERVAL_MS = 60_000;

/** Running activities may finish within the first; then they are cancelled, and abandoned after the second. */
const SHUTDOWN = { shutdownGraceTime: '5 seconds', shutdownForceTime: '15 seconds' } as const;

export interface WorkersOptions {
  readonly temporal: TemporalSettings;
  readonly dependencies: ActivityDependencies;
  readonly pools: Configuration['pools'];
  /** The code of the workflows; this release's unless given. */
  readonly bundle?: WorkflowBundleOption | undefined;
}

interface RunOptions extends WorkersOptions {
  readonly nameLists: NameLists;
}

export interface RunningWorkers {
  /** Resolves once all workers poll; never rejects. */
  readonly ready: Promise<void>;
  /** Drains, and resolves when nothing is running. */
  stop(): Promise<void>;
}

/**
 * Runs the workers of the three task queues until stopped: connects when Temporal is available, and starts over when
 * a worker fails.
 */
export function startWorkers(options: WorkersOptions): RunningWorkers {
  const { logger, configuration } = options.dependencies;
  const nameLists = new NameLists(configuration.complianceRules, logger);
  const stopping = new AbortController();
  let markReady = (): void => {};
  const ready = new Promise<void>((resolve) => {
    markReady = resolve;
  });

  async function run(): Promise<void> {
    let pauseMs = CONNECT_PAUSE_MS_MIN;
    while (!stopping.signal.aborted) {
      try {
        await runOnce({ ...options, nameLists }, stopping.signal, () => {
          pauseMs = CONNECT_PAUSE_MS_MIN;
          markReady();
        });
      } catch (error) {
        if (stopping.signal.aborted) break;
        logger.warn(
          { address: options.temporal.address, reason: reasonOf(error) },
          'no work from Temporal; trying again',
        );
      }
      await sleep(pauseMs * (0.5 + Math.random() / 2), undefined, { signal: stopping.signal }).catch(() => {});
      pauseMs = Math.min(CONNECT_PAUSE_MS_MAX, pauseMs * 2);
    }
    markReady();
  }

  const running = run();
  // A judgement reads a changed list anyway; this tells operators of a broken one before a transfer needs it.
  const looking = setInterval(() => void nameLists.refreshAll(), NAME_LISTS_INTERVAL_MS);
  void nameLists.refreshAll();
  return {
    ready,
    stop: async () => {
      clearInterval(looking);
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
    const runs = workers.map((worker) => worker.run());
    if (signal.aborted) shutDown();
    else onPolling();
    try {
      await Promise.race([Promise.all(runs), ...runs]);
    } finally {
      clearInterval(preparing);
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
  const { pools, temporal, dependencies, nameLists } = options;
  const activities = activitiesByTaskQueue(dependencies, nameLists);
  const shared = { connection, namespace: temporal.namespace, ...SHUTDOWN };
  const workflows: WorkerOptions = {
    ...shared,
    taskQueue: TASK_QUEUES.workflows,
    workflowBundle: options.bundle ?? (await workflowBundle()),
    activities: activities[TASK_QUEUES.workflows],
    enableNonLocalActivities: false,
    maxCachedWorkflows: pools.cachedWorkflows,
    maxConcurrentWorkflowTaskExecutions: pools.workflowTasks,
    maxConcurrentLocalActivityExecutions: pools.workflowTasks,
    // How long cached workflows wait for a killed worker.
    stickyQueueScheduleToStartTimeout: '5 seconds',
  };
  const providers: WorkerOptions = {
    ...shared,
    taskQueue: TASK_QUEUES.providers,
    activities: activities[TASK_QUEUES.providers],
    maxConcurrentActivityTaskExecutions: pools.providerActivities,
  };
  const webhooks: WorkerOptions = {
    ...shared,
    taskQueue: TASK_QUEUES.webhooks,
    activities: activities[TASK_QUEUES.webhooks],
    maxConcurrentActivityTaskExecutions: pools.webhookActivities,
  };
  const workers: Worker[] = [];
  for (const worker of [workflows, providers, webhooks]) workers.push(await Worker.create(worker));
  return workers;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 300) : String(error);
}
