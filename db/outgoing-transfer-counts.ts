import { type SQL, sql } from 'drizzle-orm';
import type { Database, Reader } from './client.ts';

/**
 * How many transfers match a filter, exactly, without looking at all of them: those that are final never change what they
 * are counted by, so they are counted once, in the background, per account and status. What was not counted yet is
 * counted when asked; both in one statement, which sees one state of the database.
 */

/** The fields of a filter that counts are kept by. */
const KEPT_BY = {
  status: 'status',
  currency: 'currency',
  clientId: 'client_id',
  accountId: 'account_id',
  serviceProvider: 'provider',
} as const;

/** `where` is the filter's condition on outgoing_transfers. */
export async function countOutgoingTransfers(reader: Reader, filter: object, where: SQL): Promise<number> {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const kept = given.flatMap(([name, value]) => (isKept(name) ? [[name, value] as const] : []));
  // Filters by other fields have to look at every transfer that the indexed fields leave.
  if (kept.length < given.length) {
    const [row] = await reader.execute<{ total: number }>(
      sql`SELECT count(*)::integer AS total FROM outgoing_transfers WHERE ${where}`,
    );
    return row?.total ?? 0;
  }
  const ofAccounts = kept.some(([name]) => name === 'clientId' || name === 'accountId');
  const counted = kept.map(([name, value]) => sql`AND ${sql.raw(`count.${KEPT_BY[name]}`)} = ${value}`);
  for (;;) {
    // Given as a value, so that the planner knows how few rows come after it; the same statement tells if it was passed.
    const lastId = lastIdSeen;
    const [row] = await reader.execute<{ total: number; lastId: string }>(sql`
      SELECT ((
          SELECT coalesce(sum(count.transfer_count), 0) FROM outgoing_transfer_counts count
          WHERE ${ofAccounts ? sql`true` : sql.raw(`count.account_id = '${ALL_ACCOUNTS}'`)} ${sql.join(counted, sql` `)}
        ) + (
          SELECT count(*) FROM outgoing_transfers WHERE id > ${sql.raw(`'${lastId}'::uuid`)} AND ${where}
        ) + (
          SELECT count(*) FROM outgoing_transfers
          WHERE id IN (SELECT id FROM outgoing_transfers_not_counted) AND ${where}
        ))::integer AS total,
        (SELECT last_id FROM outgoing_transfer_counting) AS "lastId"`);
    if (row === undefined) throw new Error('outgoing_transfer_counting has no row');
    if (row.lastId === lastId) return row.total;
    lastIdSeen = row.lastId;
  }
}

/** How far the counting had come when it was last seen; only a guess, which each count checks. */
let lastIdSeen = '00000000-0000-0000-0000-000000000000';

function isKept(name: string): name is keyof typeof KEPT_BY {
  return Object.hasOwn(KEPT_BY, name);
}

/** Stands for the sums over all accounts. */
const ALL_ACCOUNTS = '00000000-0000-0000-0000-000000000000';

/**
 * Counts a batch of transfers that are older than any transaction can last; answers how many were looked at. Does
 * nothing while another process is at it.
 */
export async function keepOutgoingTransferCounts(database: Database, limit: number): Promise<number> {
  const [row] = await database.statement<{ looked: number }>('SELECT count_outgoing_transfers($1::integer) AS looked', [
    limit,
  ]);
  return row?.looked ?? 0;
}
