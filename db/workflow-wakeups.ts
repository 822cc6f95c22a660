import { sql } from 'drizzle-orm';
import type { Transaction } from './client.ts';

/**
 * Notes, in the transaction that makes a change, that the change's workflow must look at its row. The relay hands it to
 * Temporal; asking again before that only raises the generation, so that nothing that was asked later is deleted early.
 */
export async function wake(tx: Transaction, workflowType: string, workflowId: string): Promise<void> {
  await tx.execute(sql`
    INSERT INTO workflow_wakeups (workflow_id, workflow_type, next_attempt_at, created_at)
    VALUES (${workflowId}, ${workflowType}, service_now(), service_now())
    ON CONFLICT (workflow_id) DO UPDATE SET generation = workflow_wakeups.generation + 1,
      next_attempt_at = least(workflow_wakeups.next_attempt_at, excluded.next_attempt_at), parked_at = NULL`);
}
