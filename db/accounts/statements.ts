import { type SQL, sql } from 'drizzle-orm';
import type { StatementEntry, StatementRange } from '../../domain/accounts/statements.ts';
import type { AccountId } from '../../domain/frame/ids.ts';
import type { Reader } from '../driver/client.ts';
import type { PageOf, PageRequest } from '../frame/filters.ts';

export interface StatementFilter {
  readonly accountId: AccountId;
  readonly range: StatementRange;
  readonly transactionNumber?: string | undefined;
}

type Direction = 'debit' | 'credit';

/** One page of an account's entries by time, then version, and the total. */
export async function listStatementEntries(
  reader: Reader,
  filter: StatementFilter,
  page: PageRequest,
): Promise<PageOf<StatementEntry>> {
  const [rows, [total]] = await Promise.all([
    reader.execute<StatementEntry>(pageOf(filter, page)),
    reader.execute<{ total: number }>(
      filter.transactionNumber === undefined ? countByVersion(filter) : countRows(filter),
    ),
  ]);
  return { rows, totalElements: total?.total ?? 0 };
}

/** Reads each side in index order and stops at the end of the page, so a page costs as much as the entries before it. */
function pageOf(filter: StatementFilter, page: PageRequest): SQL {
  const reach = page.offset + page.size;
  const side = (direction: Direction) => {
    const own = columns(direction);
    return sql`(
      SELECT ${own.accountId} AS "accountId", ${own.transactionNumber} AS "transactionNumber", posted_at AS "postedAt",
        ${sql.raw(`'${direction}'`)} AS direction, amount_minor AS "amountMinor", ${own.transactionType} AS "transactionType",
        entry_type AS "entryType", ${own.balance} AS "balanceMinor", currency, narrative, ${own.version} AS version
      FROM postings WHERE ${matches(direction, filter)} ORDER BY posted_at, ${own.version} LIMIT ${reach})`;
  };
  return sql`
    SELECT "accountId", "transactionNumber", "postedAt", direction, "amountMinor", "transactionType", "entryType",
      "balanceMinor", currency, narrative
    FROM (${side('debit')} UNION ALL ${side('credit')}) AS entries
    ORDER BY "postedAt", version LIMIT ${page.size} OFFSET ${page.offset}`;
}

/** Versions have no gaps and entries never go back in time, so the first and the last entry give the count. */
function countByVersion(filter: StatementFilter): SQL {
  const outermost = (direction: Direction, order: 'ASC' | 'DESC') => {
    const { version } = columns(direction);
    const by = sql.raw(order);
    return sql`(SELECT ${version} AS version FROM postings WHERE ${matches(direction, filter)}
      ORDER BY posted_at ${by}, ${version} ${by} LIMIT 1)`;
  };
  return sql`
    SELECT coalesce(
      (SELECT max(version) FROM (${outermost('debit', 'DESC')} UNION ALL ${outermost('credit', 'DESC')}) AS last)
      - (SELECT min(version) FROM (${outermost('debit', 'ASC')} UNION ALL ${outermost('credit', 'ASC')}) AS first)
      + 1, 0)::integer AS total`;
}

function countRows(filter: StatementFilter): SQL {
  const side = (direction: Direction) => sql`(SELECT count(*) FROM postings WHERE ${matches(direction, filter)})`;
  return sql`SELECT (${side('debit')} + ${side('credit')})::integer AS total`;
}

/** Entries are stored to the microsecond and shown to the millisecond, so the end of a range includes its whole millisecond. */
function matches(direction: Direction, { accountId, range, transactionNumber }: StatementFilter): SQL {
  const own = columns(direction);
  return sql`${own.accountId} = ${accountId} AND ${own.version} IS NOT NULL
    AND posted_at >= ${range.from}::timestamptz
    AND posted_at < ${range.to}::timestamptz + interval '1 millisecond'
    ${transactionNumber === undefined ? sql`` : sql`AND ${own.transactionNumber} = ${transactionNumber}`}`;
}

function columns(direction: Direction) {
  const column = (name: string) => sql.raw(`${direction}_${name}`);
  return {
    accountId: column('account_id'),
    version: column('version'),
    balance: column('balance_after_minor'),
    transactionNumber: column('transaction_number'),
    transactionType: column('transaction_type'),
  };
}
