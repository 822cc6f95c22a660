import type { Reader } from '../../../db/query/database.ts';

// What each transfer waits for, by the columns that decide it, said once more and more simply than domain/ does.
const EXPECTED = `
  SELECT 'outgoing-transfer' AS resource, id, status, waiting_for AS found, CASE
    WHEN recall_status IN ('due', 'asked') AND (status = 'failed' OR returned_minor >= amount_minor) THEN ARRAY['nothing left to recall']
    WHEN recall_status IN ('due', 'asked') THEN ARRAY['recall']
    WHEN status IN ('completed', 'cancelled', 'failed') THEN ARRAY[NULL]
    WHEN status = 'released' THEN ARRAY[CASE method WHEN 'plug-in' THEN 'caller' ELSE 'provider' END]
    WHEN status = 'processing' AND scope = 'internal' THEN ARRAY['compliance', 'account']
    WHEN status = 'processing' AND method = 'plug-in' THEN ARRAY['caller']
    WHEN status = 'processing' AND submission_status = 'rejected' THEN ARRAY['retry', 'account', 'provider']
    WHEN status = 'processing' AND submission_status = 'queued' THEN ARRAY['provider-decision']
    WHEN status = 'processing' THEN ARRAY['provider']
    WHEN authorization_status = 'not-checked' THEN ARRAY['authorization']
    WHEN compliance_check_status = 'not-checked' THEN ARRAY['compliance']
    WHEN transfer_date_status = 'not-checked' THEN ARRAY[CASE WHEN roll_count > 0 THEN 'next-window' ELSE 'date' END]
    ELSE ARRAY['account', 'balance'] END AS expected
  FROM outgoing_transfers
  UNION ALL
  SELECT 'incoming-transfer', id, status, waiting_for, CASE
    WHEN send_back_status = 'due' THEN ARRAY['provider']
    WHEN status IN ('completed', 'failed') THEN ARRAY[NULL]
    WHEN status = 'on-hold' THEN ARRAY[CASE WHEN hold_reason IN ('account-not-active', 'client-not-active') THEN 'account'
      WHEN hold_reason = 'held-by-provider' THEN 'provider' ELSE 'match' END]
    WHEN compliance_check_status = 'not-checked' THEN ARRAY['compliance']
    ELSE ARRAY['outgoing-transfer'] END
  FROM incoming_transfers`;

/** Transfers whose row says that they wait for something else than they do, or for nothing. */
export async function wrongWaits(reader: Reader): Promise<string[]> {
  const rows = await reader.statement<{ resource: string; id: string; status: string; found: string | null }>(
    `SELECT resource, id, status, found FROM (${EXPECTED}) AS transfer
     WHERE array_position(expected, found) IS NULL`,
    [],
  );
  return rows.map(({ resource, id, status, found }) => `${resource} ${id}, ${status}: waits for ${found ?? 'nothing'}`);
}
