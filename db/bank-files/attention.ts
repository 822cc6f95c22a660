import { RECEIVED_STATUSES, UNMATCHED_CHECKS } from '../../domain/bank-files/exchange/progress.ts';
import type { Reader } from '../query/database.ts';

/** What of the exchange with banks waits for a person. */
export interface BankFilesAttention {
  readonly setAside: number;
  /** Age of the oldest file of ours that is not delivered; 0 without one. */
  readonly undeliveredSeconds: number;
  /** Payments of which the bank should have told more by now; and held payments. */
  readonly silent: number;
  /** Batches that the bank has booked as one sum, days ago, without telling what is in them. */
  readonly sumsWithoutDetails: number;
  /** Payments that a person confirms at the bank, those too that delivery has released. */
  readonly confirmations: number;
}

/** Codes of ours, as SQL. */
const listed = (codes: readonly string[]) => codes.map((code) => `'${code}'`).join(', ');

const ATTENTION = `
  SELECT (SELECT count(*) FROM bank_files WHERE state = 'set-aside' AND settled_at IS NULL)::integer AS "setAside",
    (SELECT coalesce(extract(epoch FROM service_now() - least(
        (SELECT min(created_at) FROM bank_files WHERE state IN ('built', 'delivering')),
        (SELECT min(created_at) FROM bank_files WHERE state = 'handed-out'))), 0))::float8 AS "undeliveredSeconds",
    ((SELECT count(*) FROM bank_instructions WHERE expected_by < service_now())
      + (SELECT count(*) FROM bank_instructions WHERE held_reason IS NOT NULL))::integer AS silent,
    (SELECT count(*) FROM bank_entries WHERE kind = 'batch' AND outcome = 'waiting'
      AND booked_on < (service_now() - interval '3 days')::date)::integer AS "sumsWithoutDetails",
    ((SELECT count(*) FROM bank_instructions WHERE state = 'confirmation')
      + (SELECT count(*) FROM bank_instructions i WHERE expected_by IS NOT NULL AND state = 'released'
        AND payee_check IN (${listed(UNMATCHED_CHECKS)})
        AND (status_code = payee_check OR (payee_check = ANY (reasons) AND status_code IN (${listed(RECEIVED_STATUSES)})))
        AND NOT EXISTS (SELECT 1 FROM bank_entries e WHERE e.transfer_id = i.transfer_id AND e.kind = 'payment')))::integer
      AS confirmations`;

export async function readBankFilesAttention(reader: Reader): Promise<BankFilesAttention> {
  const [row] = await reader.statement<BankFilesAttention>(ATTENTION, []);
  if (row === undefined) throw new Error('counts returned no row');
  return row;
}
