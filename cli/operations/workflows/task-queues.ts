import type { Connection } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import type { WorkerVersion } from '../../../config/temporal.ts';
import { TASK_QUEUES } from '../../../workflows/common/messages.ts';

/** Who polls our task queues, and whose tasks they get. */

const ANSWER_MS_MAX = 5_000;
/** Workers poll continuously; Temporal lists one that has gone for some minutes. */
const POLLED_WITHIN_MS = 120_000;

type Poller = temporal.api.taskqueue.v1.IPollerInfo;

interface TaskQueue {
  readonly name: string;
  readonly pollers: readonly Poller[];
  readonly current: WorkerVersion | null;
}

/** With Temporal's numbers of their kinds: 1 has tasks of workflows, 2 of activities. */
const QUEUES = Object.values(TASK_QUEUES).map((name) => ({ name, type: name === TASK_QUEUES.workflows ? 1 : 2 }));

function readTaskQueues(connection: Connection, namespace: string): Promise<TaskQueue[]> {
  return Promise.all(
    QUEUES.map(async ({ name, type }) => {
      const request = { namespace, taskQueue: { name }, taskQueueType: type };
      const { pollers, versioningInfo } = await connection.withDeadline(Date.now() + ANSWER_MS_MAX, () =>
        connection.workflowService.describeTaskQueue(request),
      );
      return { name, pollers: pollers ?? [], current: versionIn(versioningInfo?.currentDeploymentVersion) };
    }),
  );
}

/** Task queues without a worker that gets their tasks: one of the current version, or without any if none is current. */
export async function findUnservedQueues(connection: Connection, namespace: string): Promise<readonly TaskQueue[]> {
  const queues = await readTaskQueues(connection, namespace);
  return queues.filter(({ pollers, current }) => !pollers.some((poller) => isOf(poller, current)));
}

/** The task queues that no worker of the version has polled lately. */
export async function findUnpolledQueues(
  connection: Connection,
  namespace: string,
  version: WorkerVersion | null,
): Promise<readonly string[]> {
  const after = Date.now() - POLLED_WITHIN_MS;
  const queues = await readTaskQueues(connection, namespace);
  return queues.flatMap(({ name, pollers }) =>
    pollers.some((poller) => isOf(poller, version) && Number(poller.lastAccessTime?.seconds ?? 0) * 1_000 > after)
      ? []
      : [name],
  );
}

const VERSIONED = 2;

function isOf({ deploymentOptions: options }: Poller, version: WorkerVersion | null): boolean {
  const own = options?.workerVersioningMode === VERSIONED ? versionIn(options) : null;
  return own?.deploymentName === version?.deploymentName && own?.buildId === version?.buildId;
}

export function versionIn(
  given: { deploymentName?: string | null; buildId?: string | null } | null | undefined,
): WorkerVersion | null {
  const { deploymentName, buildId } = given ?? {};
  return deploymentName && buildId ? { deploymentName, buildId } : null;
}
