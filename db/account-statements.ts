import { sql } from 'drizzle-orm';
import type { StatementEntry, StatementRange } from '../domain/account-statements.ts';
import type { AccountId } from '../domain/ids.ts';
import type { Reader } from './client.ts';
import type { PageOf, PageRequest } from './filters.ts';

/**
 * A page of an account's entries by time, then version. Both sides are read in the order of their index, so that a page
 * costs what lies before it and not the whole month.
 */
export async function listStatementEntries(
  reader: Reader,
  asked: {
    readonly accountId: AccountId;
    readonly range: StatementRange;
    readonly transactionNumber: string | undefined;
  },
  page: PageRequest,
): Promise<PageOf<StatementEntry>> {
  const side = (direction: 'debit' | 'credit') => {
    const column = (name: string) => sql.raw(`${direction}_${name}`);
    const number = asked.transactionNumber;
    // Entries are kept to the microsecond and shown to the millisecond: the end means all of its millisecond.
    return sql`
      SELECT ${column('account_id')} AS "accountId", ${column('transaction_number')} AS "transactionNumber",
        posted_at AS "postedAt", ${sql.raw(`'${direction}'`)} AS direction, amount_minor AS "amountMinor",
        ${column('transaction_type')} AS "transactionType", entry_type AS "entryType",
        ${column('balance_after_minor')} AS "balanceMinor", currency, narrative, ${column('version')} AS version
      FROM postings
      WHERE ${column('account_id')} = ${asked.accountId} AND ${column('version')} IS NOT NULL
        AND posted_at >= ${asked.range.from}::timestamptz
        AND posted_at < ${asked.range.to}::timestamptz + interval '1 millisecond'
        ${number === undefined ? sql`` : sql`AND ${column('transaction_number')} = ${number}`}`;
  };
  const entries = sql`(${side('debit')} UNION ALL ${side('credit')}) AS entries`;
  const [rows, [total]] = await Promise.all([
    reader.execute<StatementEntry>(sql`
      SELECT "accountId", "transactionNumber", "postedAt", direction, "amountMinor", "transactionType", "entryType",
        "balanceMinor", currency, narrative
      FROM ${entries} ORDER BY "postedAt", version LIMIT ${page.size} OFFSET ${page.offset}`),
    reader.execute<{ total: number }>(sql`SELECT count(*)::integer AS total FROM ${entries}`),
  ]);
  return { rows, totalElements: total?.total ?? 0 };
}
