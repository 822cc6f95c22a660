import { WorkflowNotFoundError } from '@temporalio/client';
import type { Reader } from '../../../db/driver/client.ts';
import { findWakeup } from '../../../db/frame/workflow-wakeups.ts';
import type { TemporalClient } from '../../../loops/temporal.ts';
import { UNBEGUN_MS_MAX, unbegunSince } from '../unbegun-tasks.ts';
import { operate, type WorkflowState } from './explanation.ts';

const TEMPORAL_MS_MAX = 5_000;

/** What keeps a wake-up from its workflow. */
export async function findWakeupObstacles(reader: Reader, workflowId: string): Promise<string[]> {
  const wakeup = await findWakeup(reader, workflowId);
  if (wakeup === null) return [];
  const { parkedAt, createdAt, attemptCount, lastError } = wakeup;
  const failed = attemptCount === 0 ? '' : ` after ${attemptCount} attempts (${lastError})`;
  if (parkedAt !== null) {
    return [`its wake-up is parked since ${parkedAt.toISOString()}${failed}: ${operate('parked --retry')}.`];
  }
  const since = `its wake-up is not delivered to Temporal since ${createdAt.toISOString()}${failed}`;
  return [`${since}. A process with the loops delivers it once Temporal answers.`];
}

/** Whether the workflow runs, and what it is doing. */
export async function findWorkflowState(
  { client, connection }: Pick<TemporalClient, 'client' | 'connection'>,
  workflowId: string | null,
  limitMs = TEMPORAL_MS_MAX,
  unbegunMs = UNBEGUN_MS_MAX,
): Promise<WorkflowState> {
  if (workflowId === null) return { state: 'not-needed', text: 'none is needed.' };
  try {
    const describe = () => client.workflow.getHandle(workflowId).describe();
    const description = await connection.withDeadline(Date.now() + limitMs, describe);
    const { status, raw } = description;
    if (status.name !== 'RUNNING') return notRunning(workflowId, `it has ended (${status.name})`);
    const since = unbegunSince(description, unbegunMs);
    if (since !== null) return { state: 'running', text: unbegun(workflowId, since) };
    const activities = (raw.pendingActivities ?? []).map(({ activityType, attempt, lastFailure }) => {
      const failure = lastFailure?.message == null ? '' : `, last ${lastFailure.message}`;
      return `${activityType?.name ?? 'an activity'}, try ${attempt ?? 1}${failure}`;
    });
    const doing = activities.length === 0 ? '' : `, in ${activities.join('; ')}`;
    return { state: 'running', text: `${workflowId} runs${doing}.` };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return notRunning(workflowId, 'there is none');
    return { state: 'unknown', text: `${workflowId}: Temporal does not answer, so whether it runs is unknown.` };
  }
}

function unbegun(workflowId: string, since: Date): string {
  const reason = `no worker has begun its task since ${since.toISOString()}: no worker runs or is free, or Temporal has lost the task`;
  return `${workflowId} runs, but ${reason}. For the latter: ${operate(`restart-workflow ${workflowId}`)}.`;
}

function notRunning(workflowId: string, what: string): WorkflowState {
  const remedy = `the sweep restarts it when its check is overdue, or at once: ${operate('restart-workflows')}`;
  return { state: 'not-running', text: `${workflowId} does not run (${what}); ${remedy}.` };
}
