import { and, eq, isNotNull, type SQL, sql } from 'drizzle-orm';
import { unionAll } from 'drizzle-orm/pg-core';
import type { StatementEntry, StatementRange, StatementTransactionType } from '../../domain/accounts/statements.ts';
import type { AccountId } from '../../domain/frame/ids.ts';
import type { Reader } from '../driver/client.ts';
import { type PageOf, type PageRequest, readPage } from '../driver/queries/lists.ts';
import { type Given, prepared, type QueryBuilder } from '../driver/queries/queries.ts';
import { isListed } from '../driver/values.ts';
import { accounts, postings } from '../frame/schema.ts';

export interface StatementFilter {
  readonly accountId: AccountId;
  readonly range: StatementRange;
  readonly transactionNumber?: string | undefined;
}

interface Values extends StatementRange, PageRequest {
  readonly accountId: AccountId;
  /** The entries before the end of the page. */
  readonly reach: number;
}

const DEBIT = {
  direction: sql<'debit' | 'credit'>`'debit'`,
  accountId: postings.debitAccountId,
  version: postings.debitVersion,
  balanceMinor: postings.debitBalanceAfterMinor,
  transactionNumber: postings.debitTransactionNumber,
  transactionType: postings.debitTransactionType,
} as const;

const CREDIT = {
  direction: sql<'debit' | 'credit'>`'credit'`,
  accountId: postings.creditAccountId,
  version: postings.creditVersion,
  balanceMinor: postings.creditBalanceAfterMinor,
  transactionNumber: postings.creditTransactionNumber,
  transactionType: postings.creditTransactionType,
} as const;

type Side = typeof DEBIT | typeof CREDIT;

const EVERY_ENTRY = prepared((db, given: Given<Values>) => {
  const conditions = (own: Side) => matches(own, given);
  return pageOf(db, given, conditions, countByVersion(conditions));
});

const OF_TRANSACTION = prepared((db, given: Given<Values & { transactionNumber: string }>) => {
  const conditions = (own: Side) => and(matches(own, given), eq(own.transactionNumber, given.transactionNumber));
  return pageOf(db, given, conditions, countRows(conditions));
});

const ACCOUNT = prepared((db, given: Given<{ ids: readonly string[] }>) =>
  db.select({ id: accounts.id, now: sql<Date>`service_now()` }).from(accounts).where(isListed(accounts.id, given.ids)),
);

/** The account, with the service's time, which the default range depends on. */
export function findStatementAccount(reader: Reader, id: AccountId) {
  return reader.find(ACCOUNT, id);
}

/** One page of an account's entries by time, then version, and the total. */
export async function listStatementEntries(
  reader: Reader,
  { accountId, range, transactionNumber }: StatementFilter,
  page: PageRequest,
): Promise<PageOf<StatementEntry>> {
  const values = { accountId, ...range, reach: page.offset + page.size };
  return transactionNumber === undefined
    ? readPage(reader, EVERY_ENTRY, values, page)
    : readPage(reader, OF_TRANSACTION, { ...values, transactionNumber }, page);
}

type Conditions = (own: Side) => SQL | undefined;

/** Reads each side in index order and stops at the end of the page, so a page costs as much as the entries before it. */
function pageOf(db: QueryBuilder, given: Given<Values>, conditions: Conditions, total: SQL<number>) {
  const side = (own: Side) =>
    db
      .select({
        accountId: own.accountId,
        transactionNumber: own.transactionNumber,
        postedAt: postings.postedAt,
        direction: own.direction.as('direction'),
        amountMinor: postings.amountMinor,
        // Only system accounts, which have no versions, have fee sweeps.
        transactionType: sql<StatementTransactionType>`${own.transactionType}`.as('transaction_type'),
        entryType: postings.entryType,
        balanceMinor: sql<bigint>`${own.balanceMinor}`.as('balance_minor'),
        currency: postings.currency,
        narrative: postings.narrative,
        version: own.version,
      })
      .from(postings)
      .where(conditions(own))
      .orderBy(postings.postedAt, own.version)
      .limit(given.reach);
  const entries = unionAll(side(DEBIT), side(CREDIT)).as('entries');
  const page = db
    .select()
    .from(entries)
    .orderBy(entries.postedAt, entries.version)
    .limit(given.size)
    .offset(given.offset)
    .as('page');
  const { version, ...row } = page._.selectedFields;
  const counted = db
    .select({ totalElements: total.as('total_elements') })
    .from(sql`(SELECT) AS one`)
    .as('counted');
  return db
    .select({ row, totalElements: counted.totalElements })
    .from(counted)
    .leftJoin(page, sql`true`)
    .orderBy(page.postedAt, version);
}

/** Versions have no gaps and entries never go back in time, so the first and the last entry give the count. */
function countByVersion(conditions: Conditions): SQL<number> {
  const outermost = (own: Side, order: SQL) =>
    sql`(SELECT ${own.version} AS version FROM ${postings} WHERE ${conditions(own)}
      ORDER BY ${postings.postedAt} ${order}, ${own.version} ${order} LIMIT 1)`;
  const both = (order: SQL) => sql`(${outermost(DEBIT, order)} UNION ALL ${outermost(CREDIT, order)}) AS outermost`;
  return sql<number>`coalesce(
      (SELECT max(version) FROM ${both(sql`DESC`)}) - (SELECT min(version) FROM ${both(sql`ASC`)}) + 1, 0)::integer`;
}

function countRows(conditions: Conditions): SQL<number> {
  const count = (own: Side) => sql`(SELECT count(*) FROM ${postings} WHERE ${conditions(own)})`;
  return sql<number>`(${count(DEBIT)} + ${count(CREDIT)})::integer`;
}

/** Entries are stored to the microsecond and shown to the millisecond, so the end of a range includes its whole millisecond. */
function matches(own: Side, given: Given<Values>): SQL | undefined {
  return and(
    eq(own.accountId, given.accountId),
    isNotNull(own.version),
    sql`${postings.postedAt} >= ${given.from}::timestamptz`,
    sql`${postings.postedAt} < ${given.to}::timestamptz + interval '1 millisecond'`,
  );
}
