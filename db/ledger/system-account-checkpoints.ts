import { sql } from 'drizzle-orm';
import type { Reader } from '../query/database.ts';

/**
 * Ids are assigned before their transactions commit. No transaction lives nearly this long, so no smaller id can still
 * appear behind one of this age.
 */
const SETTLED_AGE = sql`interval '10 minutes'`;

/** A system account's balance is its last checkpoint plus the postings since; this many justify a new checkpoint. */
const POSTINGS_MIN = 1_000;

/** Adds a checkpoint to each system account with many postings since its last one; returns how many. */
export async function checkpointSystemAccounts(reader: Reader): Promise<number> {
  const rows = await reader.execute(sql`
    WITH settled AS (
      SELECT coalesce(max(id), 0) AS posting_id FROM postings
      WHERE id > (SELECT coalesce(max(posting_id), 0) FROM system_account_checkpoints)
        AND posted_at < (SELECT service_now()) - ${SETTLED_AGE}
    ), since AS (
      SELECT account.id, coalesce(last.balance_minor, 0) AS balance_minor, moved.sum_minor, moved.number, settled.posting_id
      FROM settled CROSS JOIN system_accounts account
      LEFT JOIN LATERAL (
        SELECT posting_id, balance_minor FROM system_account_checkpoints
        WHERE system_account_id = account.id ORDER BY posting_id DESC LIMIT 1
      ) last ON true
      CROSS JOIN LATERAL (
        SELECT coalesce(sum(amount), 0)::bigint AS sum_minor, count(*) AS number FROM (
          SELECT amount_minor AS amount FROM postings WHERE credit_account_id = account.id AND credit_version IS NULL
            AND id > coalesce(last.posting_id, 0) AND id <= settled.posting_id
          UNION ALL
          SELECT -amount_minor FROM postings WHERE debit_account_id = account.id AND debit_version IS NULL
            AND id > coalesce(last.posting_id, 0) AND id <= settled.posting_id
        ) AS movements
      ) moved
    )
    INSERT INTO system_account_checkpoints (system_account_id, posting_id, balance_minor)
    SELECT id, posting_id, balance_minor + sum_minor FROM since WHERE number >= ${POSTINGS_MIN}
    ON CONFLICT DO NOTHING RETURNING system_account_id`);
  return rows.length;
}
