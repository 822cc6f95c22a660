import proto from '@temporalio/proto';
import type { NativeConnection } from '@temporalio/worker';
import { TASK_QUEUES } from '../workflows/common/messages.ts';
import { taskQueueBacklog, taskQueueLagSeconds } from './common/metrics.ts';

/** As often as Prometheus usually asks. */
export const LAG_INTERVAL_MS = 15_000;

const { TASK_QUEUE_TYPE_ACTIVITY, TASK_QUEUE_TYPE_WORKFLOW } = proto.temporal.api.enums.v1.TaskQueueType;

/** Asks Temporal what waits in our task queues, for all workers. Without an answer nothing is shown, rather than something old. */
export async function measureTaskQueues(connection: NativeConnection, namespace: string): Promise<void> {
  await Promise.all(
    Object.values(TASK_QUEUES).map(async (name) => {
      const labels = { task_queue: name };
      try {
        const { stats } = await connection.workflowService.describeTaskQueue({
          namespace,
          taskQueue: { name },
          // Activities of the queue of workflows are local, and wait in no queue.
          taskQueueType: name === TASK_QUEUES.workflows ? TASK_QUEUE_TYPE_WORKFLOW : TASK_QUEUE_TYPE_ACTIVITY,
          reportStats: true,
        });
        const age = stats?.approximateBacklogAge;
        taskQueueBacklog.set(labels, Number(stats?.approximateBacklogCount ?? 0));
        taskQueueLagSeconds.set(labels, Number(age?.seconds ?? 0) + (age?.nanos ?? 0) / 1e9);
      } catch {
        taskQueueBacklog.remove(labels);
        taskQueueLagSeconds.remove(labels);
      }
    }),
  );
}
