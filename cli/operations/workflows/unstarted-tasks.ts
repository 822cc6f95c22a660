import { type Client, type WorkflowExecutionDescription, WorkflowNotFoundError } from '@temporalio/client';
import { listOpenByCheck, OPEN_WORK_TYPES } from '../../../db/common/open-work.ts';
import type { Database } from '../../../db/query/database.ts';
import { workflowId } from '../../../workflows/common/messages.ts';

/** A worker that runs and is not busy begins a task within milliseconds. */
export const UNSTARTED_MS_MAX = 60_000;

/** Rows of each type whose workflows are examined: each costs a call. */
const ROWS_MAX = 1_000;
const CALLS_MAX = 8;

export interface UnstartedTasks {
  readonly tasks: readonly { readonly workflowId: string; readonly since: Date }[];
  /** Whether there are more open rows than were examined. */
  readonly isPartial: boolean;
  readonly rowsMax: number;
}

/**
 * Workflows with a task that no worker has begun for `forMs`. A signal cannot help them, as Temporal schedules no second task
 * while one is pending. Examines the open rows with the earliest checks: overdue ones, then those within the next minutes, as the sweep
 * postpones an overdue check by five.
 */
export async function findUnstartedTasks(database: Database, client: Client, forMs: number): Promise<UnstartedTasks> {
  const tasks: { workflowId: string; since: Date }[] = [];
  let isPartial = false;
  for (const type of OPEN_WORK_TYPES) {
    const ids = await listOpenByCheck(database.reader, type, ROWS_MAX + 1);
    isPartial ||= ids.length > ROWS_MAX;
    const looked = ids.slice(0, ROWS_MAX).map((id) => workflowId(type, id));
    for (let start = 0; start < looked.length; start += CALLS_MAX) {
      const found = await Promise.all(
        looked.slice(start, start + CALLS_MAX).map(async (id) => {
          const since = await unstartedTaskOf(client, id, forMs);
          return since === null ? [] : [{ workflowId: id, since }];
        }),
      );
      tasks.push(...found.flat());
    }
  }
  return { tasks, isPartial, rowsMax: ROWS_MAX };
}

async function unstartedTaskOf(client: Client, id: string, forMs: number): Promise<Date | null> {
  try {
    return unstartedSince(await client.workflow.getHandle(id).describe(), forMs);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

/** Since when the workflow's task waits for a worker, if for longer than `forMs`. Temporal's time is real, never the test clock's. */
export function unstartedSince({ raw }: Pick<WorkflowExecutionDescription, 'raw'>, forMs: number): Date | null {
  const { scheduledTime, startedTime } = raw.pendingWorkflowTask ?? {};
  if (scheduledTime == null || startedTime != null) return null;
  const sinceMs = Number(scheduledTime.seconds ?? 0) * 1_000 + Math.floor((scheduledTime.nanos ?? 0) / 1_000_000);
  return Date.now() - sinceMs > forMs ? new Date(sinceMs) : null;
}
