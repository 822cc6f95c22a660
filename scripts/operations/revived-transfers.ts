import type { Client } from '@temporalio/client';
import type { Database } from '../../db/driver/client.ts';
import { listUndecided, type UndecidedTransfer } from '../../db/providers/restores.ts';
import { resourceIdOf, workflowId } from '../../workflows/frame/messages.ts';
import { isRunning, pagesOf } from './stuck-work.ts';

/**
 * After a restore: the transfers that wait or go out again although their workflows ended in the lost window, in order of id.
 * Their providers do not know them, so they were cancelled or failed, or settled within the service. Temporal alone remembers
 * that; it says nothing if its database is new, or of a workflow that had no time to end.
 */
export async function listRevived(database: Database, client: Client, since: Date): Promise<UndecidedTransfer[]> {
  const query = `WorkflowType = 'outgoing-transfer' AND CloseTime >= '${since.toISOString()}'`;
  const ended = new Set<string>();
  for await (const execution of client.workflow.list({ query })) ended.add(resourceIdOf(execution.workflowId));
  const revived: UndecidedTransfer[] = [];
  for (const ids of pagesOf([...ended].sort())) {
    for (const transfer of await listUndecided(database.reader, ids)) {
      // Its run may have ended for another one to follow.
      if (!(await isRunning(client, workflowId('outgoing-transfer', transfer.id)))) revived.push(transfer);
    }
  }
  return revived;
}
