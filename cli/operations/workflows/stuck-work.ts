import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import { listOpen, OPEN_WORK_TYPES, type OpenWorkType, whichAreOpen } from '../../../db/common/open-work.ts';
import { whichAreWaking } from '../../../db/common/workflow-wakeups.ts';
import type { Database } from '../../../db/query/database.ts';
import { resourceIdOf, workflowId } from '../../../workflows/common/messages.ts';

const PAGE = 1_000;

export interface StuckWork {
  /** Workflow ids of open rows without a running or pending workflow. */
  readonly rowsWithoutWorkflow: string[];
  /** Ids of running workflows whose row is final or gone. */
  readonly workflowsWithoutRow: string[];
}

/**
 * Compares open rows with running workflows. Temporal's lists lag, so each difference is checked again before it is
 * reported.
 */
export async function findStuckWork(
  database: Database,
  client: Client,
  progressed: (done: number, total: number) => void = () => undefined,
): Promise<StuckWork> {
  const rowsWithoutWorkflow: string[] = [];
  const workflowsWithoutRow: string[] = [];
  for (const [index, type] of OPEN_WORK_TYPES.entries()) {
    progressed(index, OPEN_WORK_TYPES.length);
    const running = await listRunning(client, type);
    for await (const page of openPages(database, type)) {
      const missing = page.filter((id) => !running.has(id)).map((id) => workflowId(type, id));
      rowsWithoutWorkflow.push(...(await confirmedMissing(database, client, type, missing)));
    }
    for (const ids of pagesOf([...running])) {
      const open = await whichAreOpen(database.reader, type, ids);
      const extra = ids.filter((id) => !open.has(id)).map((id) => workflowId(type, id));
      for (const id of extra) if (await isRunning(client, id)) workflowsWithoutRow.push(id);
    }
  }
  return { rowsWithoutWorkflow, workflowsWithoutRow };
}

async function* openPages(database: Database, type: OpenWorkType): AsyncGenerator<string[]> {
  let after: string | null = null;
  do {
    const page: string[] = await listOpen(database.reader, type, after, PAGE);
    if (page.length > 0) yield page;
    after = page.length === PAGE ? (page.at(-1) ?? null) : null;
  } while (after !== null);
}

export function* pagesOf(ids: readonly string[]): Generator<readonly string[]> {
  for (let start = 0; start < ids.length; start += PAGE) yield ids.slice(start, start + PAGE);
}

async function listRunning(client: Client, type: OpenWorkType): Promise<Set<string>> {
  const query = `WorkflowType = '${type}' AND ExecutionStatus = 'Running'`;
  const ids = new Set<string>();
  for await (const execution of client.workflow.list({ query })) ids.add(resourceIdOf(execution.workflowId));
  return ids;
}

/** Drops those just started, about to start, or whose row is final by now. */
async function confirmedMissing(
  database: Database,
  client: Client,
  type: OpenWorkType,
  workflowIds: readonly string[],
): Promise<string[]> {
  const waking = await whichAreWaking(database.reader, workflowIds);
  const stillOpen = await whichAreOpen(database.reader, type, workflowIds.map(resourceIdOf));
  const missing: string[] = [];
  for (const id of workflowIds) {
    if (waking.has(id) || !stillOpen.has(resourceIdOf(id)) || (await isRunning(client, id))) continue;
    missing.push(id);
  }
  return missing;
}

export async function isRunning(client: Client, id: string): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(id).describe();
    return status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
