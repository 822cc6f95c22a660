import { type SQL, sql } from 'drizzle-orm';
import { incomingTransfers, outgoingTransfers } from '../common/schema.ts';
import { wakeEach } from '../common/workflow-wakeups.ts';
import type { Reader, Transaction } from '../query/database.ts';
import type { TransferDirection } from './transfer-counts.ts';

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

/** How many are counted of a kind: the metric needs no more. */
const COUNTED_MAX = 10_000;

/** Transfers of a direction and status that wait for the same thing. */
export interface TransferWaits {
  readonly direction: TransferDirection;
  readonly waitingFor: string;
  readonly status: string;
  /** `COUNTED_MAX` at most. */
  readonly count: number;
  readonly oldestSeconds: number;
}

// One index look-up for each pair of wait and status. An open row without a wait waits for its provider, as in its
// workflow and for `why`.
function waitsIn(direction: TransferDirection, placeholder: number): string {
  const found = `FROM ${direction}_transfers WHERE (waiting_for IS NOT NULL OR next_check_at IS NOT NULL)
      AND coalesce(waiting_for, 'provider') = wait AND status = state`;
  return `
    SELECT '${direction}' AS direction, wait AS "waitingFor", state AS status, counted.count,
      extract(epoch FROM greatest(service_now() - oldest.since, interval '0'))::float8 AS "oldestSeconds"
    FROM unnest($${placeholder}::text[]) AS wait CROSS JOIN unnest($${placeholder + 1}::text[]) AS state
      CROSS JOIN LATERAL (SELECT coalesce(waiting_since, updated_at) AS since ${found} ORDER BY 1 LIMIT 1) AS oldest
      CROSS JOIN LATERAL (SELECT count(*)::integer AS count FROM (SELECT ${found} LIMIT ${COUNTED_MAX}) AS listed) AS counted`;
}

const WAITS = `${waitsIn('outgoing', 1)} UNION ALL ${waitsIn('incoming', 3)}`;

/** What open transfers wait for, according to their rows; omits kinds without any. */
export function readTransferWaits(reader: Reader): Promise<TransferWaits[]> {
  return reader.statement<TransferWaits>(WAITS, [
    outgoingTransfers.waitingFor.enumValues,
    outgoingTransfers.status.enumValues,
    incomingTransfers.waitingFor.enumValues,
    incomingTransfers.status.enumValues,
  ]);
}
