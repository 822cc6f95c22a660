import { type Client, type WorkflowExecutionDescription, WorkflowNotFoundError } from '@temporalio/client';
import type { Reader } from '../../../db/driver/client.ts';
import { findWakeup, type PendingWakeup } from '../../../db/frame/workflow-wakeups.ts';
import type { TemporalClient } from '../../../loops/temporal.ts';
import { UNBEGUN_MS_MAX, unbegunSince } from '../unbegun-tasks.ts';
import { operate } from './commands.ts';
import type { WorkflowState } from './explanation.ts';

const TEMPORAL_MS_MAX = 5_000;

/** The wake-up of a workflow that Temporal has not got; null if there is none, or no workflow. */
export function findPendingWakeup(reader: Reader, workflowId: string | null): Promise<PendingWakeup | null> {
  return workflowId === null ? Promise.resolve(null) : findWakeup(reader, workflowId);
}

/** What keeps a wake-up from its workflow. */
export function wakeupObstacles(wakeup: PendingWakeup | null): string[] {
  if (wakeup === null) return [];
  const { parkedAt, createdAt, attemptCount, lastError } = wakeup;
  const failed = attemptCount === 0 ? '' : ` after ${attemptCount} attempts (${lastError})`;
  if (parkedAt !== null) {
    return [`its wake-up is parked since ${parkedAt.toISOString()}${failed}: ${operate('parked --retry')}.`];
  }
  const since = `its wake-up is not delivered to Temporal since ${createdAt.toISOString()}${failed}`;
  return [`${since}. A process with the loops delivers it once Temporal answers.`];
}

/**
 * A wake-up is written in the transaction that makes the submission due, some milliseconds after the wait begins. A transaction that was
 * slower counts as a later wake-up, and the outcome as unknown.
 */
const SAME_MOMENT_MS = 100;

/**
 * Why no worker can have begun a payment's first submission, due since `since`; null if one may have, and its outcome is unknown. The
 * wake-up of that moment, still there, has never reached Temporal: a later one says nothing of a workflow that ran before it.
 */
export function notBegun(since: Date, wakeup: PendingWakeup | null, workflow: WorkflowState): string | null {
  const { state, isAbsent = false, unbegunSince: unbegun = null } = workflow;
  if (unbegun !== null)
    return `not begun: no worker has taken its workflow’s first task since ${unbegun.toISOString()}`;
  const isFirst = wakeup !== null && wakeup.createdAt.getTime() - since.getTime() < SAME_MOMENT_MS;
  if (!isFirst || !(isAbsent || state === 'unknown')) return null;
  const temporal = state === 'unknown' ? '; Temporal does not answer' : '';
  return `not begun: no worker has got it since ${wakeup.createdAt.toISOString()}${temporal}`;
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
    const first = await firstUnbegunSince(client, description);
    if (since !== null) return { state: 'running', text: unbegun(workflowId, since), unbegunSince: first };
    const activities = (raw.pendingActivities ?? []).map(({ activityType, attempt, lastFailure }) => {
      const failure = lastFailure?.message == null ? '' : `, last ${lastFailure.message}`;
      return `${activityType?.name ?? 'an activity'}, try ${attempt ?? 1}${failure}`;
    });
    const doing = activities.length === 0 ? '' : `, in ${activities.join('; ')}`;
    return { state: 'running', text: `${workflowId} runs${doing}.`, unbegunSince: first };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) {
      return { ...notRunning(workflowId, 'there is none'), isAbsent: true };
    }
    return { state: 'unknown', text: `${workflowId}: Temporal does not answer, so whether it runs is unknown.` };
  }
}

/** Started, signalled, and its first task scheduled: what a workflow's history has before a worker takes that. */
const EVENTS_BEFORE_FIRST_TASK = 3;

/** Not of a run that continues another, or follows one that was ended: those may have done anything. */
async function firstUnbegunSince(client: Client, description: WorkflowExecutionDescription): Promise<Date | null> {
  const { historyLength, workflowId, runId, raw } = description;
  const since = historyLength > EVENTS_BEFORE_FIRST_TASK ? null : unbegunSince(description, 0);
  if (since === null || raw.workflowExecutionInfo?.firstRunId !== runId) return null;
  const { count } = await client.workflow.count(`WorkflowId = '${workflowId}'`);
  return count > 1 ? null : since;
}

function unbegun(workflowId: string, since: Date): string {
  const reason = `no worker has begun its task since ${since.toISOString()}: no worker runs or is free, or Temporal has lost the task`;
  return `${workflowId} runs, but ${reason}. For the latter: ${operate(`restart-workflow ${workflowId}`)}.`;
}

function notRunning(workflowId: string, what: string): WorkflowState {
  const remedy = `the sweep restarts it when its check is overdue, or at once: ${operate('restart-workflows')}`;
  return { state: 'not-running', text: `${workflowId} does not run (${what}); ${remedy}.` };
}
