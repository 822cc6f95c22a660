import { EnvironmentError, readText, readWhole } from '../config/environment.ts';
import { TASK_QUEUES } from '../workflows/common/messages.ts';

export type TaskQueue = (typeof TASK_QUEUES)[keyof typeof TASK_QUEUES];

const ALL: readonly TaskQueue[] = Object.values(TASK_QUEUES);

export interface WorkerSettings {
  /** What this worker polls; others poll the rest. */
  readonly taskQueues: readonly TaskQueue[];
  /** How long running activities may go on after a signal to stop, before they are cancelled. */
  readonly drainSeconds: number;
}

/** What is cancelled at the end of the drain has the first time to end, and is then abandoned; the process ends after the second. */
export const AFTER_DRAIN = { cancelSeconds: 10, stopSeconds: 13 } as const;

export const WORKER_DEFAULTS: WorkerSettings = { taskQueues: ALL, drainSeconds: 5 };

export function readWorkerSettings(env: NodeJS.ProcessEnv): WorkerSettings {
  const names = readText(env, 'WORKER_TASK_QUEUES', ALL.join())
    .split(',')
    .map((name) => name.trim());
  const unknown = names.find((name) => !ALL.some((known) => known === name));
  if (unknown !== undefined)
    throw new EnvironmentError(`WORKER_TASK_QUEUES must list some of ${ALL.join(', ')}, not "${unknown}".`);
  const drain = { minimum: 0, maximum: 3_600, otherwise: WORKER_DEFAULTS.drainSeconds };
  return {
    taskQueues: ALL.filter((known) => names.includes(known)),
    drainSeconds: readWhole(env, 'WORKER_DRAIN_SECONDS', drain),
  };
}
