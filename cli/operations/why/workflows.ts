import { type Client, type WorkflowExecutionDescription, WorkflowNotFoundError } from '@temporalio/client';
import { findWakeup, type PendingWakeup } from '../../../db/common/workflow-wakeups.ts';
import type { Reader } from '../../../db/query/database.ts';
import type { TemporalClient } from '../../../loops/temporal.ts';
import { UNSTARTED_MS_MAX, unstartedSince } from '../workflows/unstarted-tasks.ts';
import { operate } from './commands.ts';
import type { Advised, WorkflowState } from './explanation.ts';

const TEMPORAL_MS_MAX = 5_000;

/** The wake-up of a workflow that Temporal has not received; null if there is none, or no workflow. */
export function findPendingWakeup(reader: Reader, workflowId: string | null): Promise<PendingWakeup | null> {
  return workflowId === null ? Promise.resolve(null) : findWakeup(reader, workflowId);
}

/** What keeps a wake-up from its workflow. */
export function wakeupObstacles(wakeup: PendingWakeup | null): (string | Advised)[] {
  if (wakeup === null) return [];
  const { parkedAt, createdAt, attemptCount, lastError } = wakeup;
  const failed = attemptCount === 0 ? '' : ` after ${attemptCount} attempts (${lastError})`;
  if (parkedAt !== null) {
    const text = `its wake-up is parked since ${parkedAt.toISOString()}${failed}`;
    return [{ text, advice: `: ${operate('parked --retry')}.` }];
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
 * Why no worker can have begun a payment's first submission, due since `since`; null if one may have, and its outcome is unknown. Only
 * the wake-up of that moment, if still there, has never reached Temporal: a later one says nothing of a workflow that ran before it.
 */
export function notBegun(since: Date, wakeup: PendingWakeup | null, workflow: WorkflowState): string | null {
  const { state, isAbsent = false, unstartedSince: unbegun = null } = workflow;
  if (unbegun !== null)
    return `not begun: no worker has taken its workflow’s first task since ${unbegun.toISOString()}`;
  const isFirst = wakeup !== null && wakeup.createdAt.getTime() - since.getTime() < SAME_MOMENT_MS;
  if (!isFirst || !(isAbsent || state === 'unknown')) return null;
  const temporal = state === 'unknown' ? '; Temporal does not answer' : '';
  return `not begun: no worker has received it since ${wakeup.createdAt.toISOString()}${temporal}`;
}

/** Whether the workflow runs, and what it is doing. */
export async function findWorkflowState(
  { client, connection }: Pick<TemporalClient, 'client' | 'connection'>,
  workflowId: string | null,
  limitMs = TEMPORAL_MS_MAX,
  unstartedMs = UNSTARTED_MS_MAX,
): Promise<WorkflowState> {
  if (workflowId === null) return { state: 'not-needed', text: 'none is needed.' };
  try {
    const describe = () => client.workflow.getHandle(workflowId).describe();
    const description = await connection.withDeadline(Date.now() + limitMs, describe);
    const { status, raw } = description;
    if (status.name !== 'RUNNING') return notRunning(workflowId, `it has ended (${status.name})`);
    const since = unstartedSince(description, unstartedMs);
    const first = await firstUnstartedSince(client, description);
    if (since !== null) return { state: 'running', text: unbegun(workflowId, since), unstartedSince: first };
    const activities = (raw.pendingActivities ?? []).map(({ activityType, attempt, lastFailure }) => {
      const failure = lastFailure?.message == null ? '' : `, last ${lastFailure.message}`;
      return `${activityType?.name ?? 'an activity'}, try ${attempt ?? 1}${failure}`;
    });
    const doing = activities.length === 0 ? '' : `, in ${activities.join('; ')}`;
    return { state: 'running', text: `${workflowId} runs${doing}.`, unstartedSince: first };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) {
      return { ...notRunning(workflowId, 'there is none'), isAbsent: true };
    }
    return { state: 'unknown', text: `${workflowId}: Temporal does not answer, so whether it runs is unknown.` };
  }
}

/** Started, signalled, and its first task scheduled: what a workflow's history has before a worker takes that. */
const EVENTS_BEFORE_FIRST_TASK = 3;

/** Not for a run that continues another, or follows one that was ended: those may have done anything. */
async function firstUnstartedSince(client: Client, description: WorkflowExecutionDescription): Promise<Date | null> {
  const { historyLength, workflowId, runId, raw } = description;
  const since = historyLength > EVENTS_BEFORE_FIRST_TASK ? null : unstartedSince(description, 0);
  if (since === null || raw.workflowExecutionInfo?.firstRunId !== runId) return null;
  const { count } = await client.workflow.count(`WorkflowId = '${workflowId}'`);
  return count > 1 ? null : since;
}

function unbegun(workflowId: string, since: Date): Advised {
  const reason = `no worker has begun its task since ${since.toISOString()}: no worker runs or is free, or Temporal has lost the task`;
  const advice = ` For the latter: ${operate(`restart-workflow ${workflowId}`)}.`;
  return { text: `${workflowId} runs, but ${reason}.`, advice };
}

function notRunning(workflowId: string, what: string): WorkflowState {
  const text = `${workflowId} does not run (${what}); the sweep restarts it when its check is overdue`;
  return { state: 'not-running', text: { text, advice: `, or at once: ${operate('restart-workflows')}.` } };
}
