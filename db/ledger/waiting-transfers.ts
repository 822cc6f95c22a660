import { type SQL, sql } from 'drizzle-orm';
import type { Transaction } from '../driver/client.ts';
import { wakeEach } from '../frame/workflow-wakeups.ts';

/** Wakes outgoing transfers that wait for these accounts, or their clients, to become active, and money held for that reason. */
export async function wakeTransfersOf(tx: Transaction, accountIds: SQL): Promise<void> {
  const among = sql`ANY (ARRAY(${accountIds}))`;
  await wakeEach(
    tx,
    sql`
      SELECT 'outgoing-transfer' AS type, id FROM outgoing_transfers
        WHERE waiting_for = 'account' AND status IN ('pending', 'processing') AND (account_id = ${among} OR destination_account_id = ${among})
      UNION ALL
      SELECT 'incoming-transfer', id FROM incoming_transfers
        WHERE waiting_for = 'account' AND status = 'on-hold' AND account_id = ${among}`,
  );
}
