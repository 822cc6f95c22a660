import { and, desc, eq, isNotNull, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { unionAll } from 'drizzle-orm/pg-core';
import type { StatementEntry, StatementRange, StatementTransactionType } from '../../domain/accounts/statements.ts';
import type { AccountId } from '../../domain/common/ids.ts';
import { batchedPerDatabase } from '../batching/batcher.ts';
import { readClock } from '../common/clock.ts';
import { accounts, postings } from '../common/schema.ts';
import type { Database, Reader } from '../query/database.ts';
import { type PageOf, type PageRequest, readPage } from '../query/lists.ts';
import { type Given, prepared, type QueryBuilder, type RowOf } from '../query/queries.ts';
import { lockIn } from '../query/rows.ts';

export interface StatementFilter {
  readonly accountId: AccountId;
  readonly range: StatementRange;
  readonly transactionNumber?: string | undefined;
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

interface Values extends StatementRange, PageRequest {
  readonly accountId: AccountId;
}

const ONE_ROW = sql`(SELECT) AS one`;

/** Versions have no gaps and entries never go back in time, so two versions give a page's position and the number of entries. */
export const EVERY_ENTRY = prepared((db, given: Given<Values>) => {
  const before = lastVersion(given.accountId, sql`< ${given.from}::timestamptz`);
  const last = lastVersion(given.accountId, throughMillisecond(given.to));
  const bounds = db
    .select({ before: before.as('before_version'), last: last.as('last_version') })
    .from(ONE_ROW)
    // Without a limit Postgres would compute the bounds again wherever they are used.
    .limit(1)
    .as('bounds');
  const start = sql`${bounds.before} + ${given.offset}::bigint`;
  const end = sql`least(${start} + ${given.size}::bigint, ${bounds.last})`;
  const page = versionsBetween(db, given.accountId, start, end).as('page');
  const row = page._.selectedFields;
  return db
    .select({ row, totalElements: sql<number>`(${bounds.last} - ${bounds.before})::integer` })
    .from(bounds)
    .leftJoinLateral(page, sql`true`)
    .orderBy(row.version);
});

const OF_TRANSACTION = prepared((db, given: Given<Values & { transactionNumber: string; reach: number }>) => {
  const matching = (own: Side) =>
    and(
      eq(own.accountId, given.accountId),
      isNotNull(own.version),
      sql`${postings.postedAt} >= ${given.from}::timestamptz`,
      sql`${postings.postedAt} ${throughMillisecond(given.to)}`,
      eq(own.transactionNumber, given.transactionNumber),
    );
  // In index order, up to the end of the page.
  const side = (own: Side) =>
    entriesOf(db, own).where(matching(own)).orderBy(postings.postedAt, own.version).limit(given.reach);
  const entries = unionAll(side(DEBIT), side(CREDIT)).as('entries');
  const page = db.select().from(entries).orderBy(entries.version).limit(given.size).offset(given.offset).as('page');
  const count = (own: Side) => sql`(SELECT count(*) FROM ${postings} WHERE ${matching(own)})`;
  const total = sql<number>`(${count(DEBIT)} + ${count(CREDIT)})::integer`;
  const counted = db
    .select({ totalElements: total.as('total_elements') })
    .from(ONE_ROW)
    .as('counted');
  const row = page._.selectedFields;
  return db
    .select({ row, totalElements: counted.totalElements })
    .from(counted)
    .leftJoin(page, sql`true`)
    .orderBy(row.version);
});

// One generic plan serves all batches, as for the creation of transfers.
const BOOKED_UP_TO = prepared((db, given: Given<{ accountIds: readonly AccountId[]; instants: readonly Date[] }>) => {
  const asked = sql`unnest((SELECT ${given.accountIds}::uuid[]), (SELECT ${given.instants}::timestamptz[]))
    WITH ORDINALITY AS asked (account_id, instant, place)`;
  const accountId = sql`asked.account_id`;
  const side = (own: Side) =>
    db
      .select({
        version: sql<bigint>`${own.version}`.as('version'),
        balanceMinor: sql<bigint>`${own.balanceMinor}`.as('balance_minor'),
      })
      .from(postings)
      .where(upTo(own, accountId, throughMillisecond(sql`asked.instant`)))
      .orderBy(desc(postings.postedAt), desc(own.version))
      .limit(1);
  const entries = unionAll(side(DEBIT), side(CREDIT)).as('entries');
  const latest = db.select().from(entries).orderBy(desc(entries.version)).limit(1).as('latest');
  const { id, currency } = accounts;
  const account = db.select({ id, currency }).from(accounts).where(eq(id, accountId)).limit(1).as('account');
  return db
    .select({
      account: { id: account.id, currency: account.currency },
      latest: { version: latest.version, balanceMinor: latest.balanceMinor },
      now: sql<Date>`service_now()`,
    })
    .from(asked)
    .leftJoinLateral(account, sql`true`)
    .leftJoinLateral(latest, sql`true`)
    .orderBy(sql`asked.place`);
});

const BETWEEN = prepared((db, given: Given<{ accountId: AccountId; after: bigint; last: bigint }>) => {
  const page = versionsBetween(db, given.accountId, sql`${given.after}::bigint`, sql`${given.last}::bigint`).as('page');
  return db.select().from(page).orderBy(page.version);
});

const SHARE_ACCOUNT = lockIn(accounts, 'share');

/** One page of an account's entries by time, then version, and the total. */
export async function listStatementEntries(
  reader: Reader,
  { accountId, range, transactionNumber }: StatementFilter,
  page: PageRequest,
): Promise<PageOf<StatementEntry>> {
  const values = { accountId, ...range };
  return transactionNumber === undefined
    ? readPage(reader, EVERY_ENTRY, values, page)
    : readPage(reader, OF_TRANSACTION, { ...values, transactionNumber, reach: page.offset + page.size }, page);
}

/** The version and balance after the account's last entry up to an instant, including its whole millisecond. */
interface BookedUpTo {
  readonly version: bigint;
  readonly balanceMinor: bigint;
}

const NOTHING_BOOKED: BookedUpTo = { version: 0n, balanceMinor: 0n };

const readBatched = batchedPerDatabase<{ accountId: AccountId; at: Date }, RowOf<typeof BOOKED_UP_TO>>(
  ({ reader }, asked) =>
    reader.run(BOOKED_UP_TO, {
      accountIds: asked.map(({ accountId }) => accountId),
      instants: asked.map(({ at }) => at),
    }),
);

/** Also returns a few fields of the account, null if there is none, and the service's time: concurrent requests share a statement. */
export async function findBookedUpTo(database: Database, accountId: AccountId, at: Date) {
  const { account, latest, now } = await readBatched(database, { accountId, at });
  return { account, now, ...(latest ?? NOTHING_BOOKED) };
}

/**
 * The account, and a moment before which no entry can be added any more: postings read the clock under the account's lock, so
 * those in progress have ended once the lock is shared, and later ones get a later time. Null if there is no such account.
 */
export function settleStatement(database: Database, accountId: AccountId) {
  return database.transaction(async (tx) => {
    const account = await tx.lock(SHARE_ACCOUNT, accountId);
    return account === null ? null : { ...account, settledAt: await readClock(tx) };
  });
}

/** Enough to make the round trip a small part of the cost; some 100 kB. */
const PAGE_ENTRIES = 500n;

/** The entries after one version up to another, in pages: each page is a statement of its own, sent when the previous page is used up. */
export async function* readEntries(
  reader: Reader,
  accountId: AccountId,
  { after, last }: { readonly after: bigint; readonly last: bigint },
): AsyncGenerator<readonly StatementEntry[]> {
  for (let done = after; done < last; done += PAGE_ENTRIES) {
    const end = done + PAGE_ENTRIES < last ? done + PAGE_ENTRIES : last;
    const entries = await reader.run(BETWEEN, { accountId, after: done, last: end });
    if (BigInt(entries.length) !== end - done) throw new Error(`account ${accountId} lacks entries up to ${end}`);
    yield entries;
  }
}

function entriesOf(db: QueryBuilder, own: Side) {
  return db
    .select({
      accountId: own.accountId,
      transactionNumber: own.transactionNumber,
      transferId: sql<string | null>`CASE ${own.transactionType}
        WHEN 'outgoing-transfer' THEN ${postings.outgoingTransferId}
        WHEN 'incoming-transfer' THEN ${postings.incomingTransferId} END`.as('transfer_id'),
      postedAt: postings.postedAt,
      direction: own.direction.as('direction'),
      amountMinor: postings.amountMinor,
      // Only system accounts, which have no versions, have fee sweeps.
      transactionType: sql<StatementTransactionType>`${own.transactionType}`.as('transaction_type'),
      entryType: postings.entryType,
      balanceMinor: sql<bigint>`${own.balanceMinor}`.as('balance_minor'),
      currency: postings.currency,
      narrative: postings.narrative,
      version: sql<bigint>`${own.version}`.as('version'),
    })
    .from(postings);
}

function versionsBetween(db: QueryBuilder, accountId: SQLWrapper, after: SQL, last: SQL) {
  const side = (own: Side) =>
    entriesOf(db, own).where(
      and(sql`${own.accountId} = ${accountId}`, sql`${own.version} > ${after}`, sql`${own.version} <= ${last}`),
    );
  return unionAll(side(DEBIT), side(CREDIT));
}

/** The version of an account's last entry at such times; 0 if it has none. */
function lastVersion(accountId: SQLWrapper, times: SQL): SQL<bigint> {
  const latest = (own: Side) =>
    sql`(SELECT ${own.version} AS version FROM ${postings} WHERE ${upTo(own, accountId, times)}
      ORDER BY ${postings.postedAt} DESC, ${own.version} DESC LIMIT 1)`;
  return sql<bigint>`coalesce((SELECT max(version) FROM (${latest(DEBIT)} UNION ALL ${latest(CREDIT)}) AS latest), 0)`;
}

function upTo(own: Side, accountId: SQLWrapper, times: SQL): SQL | undefined {
  return and(sql`${own.accountId} = ${accountId}`, isNotNull(own.version), sql`${postings.postedAt} ${times}`);
}

/** Entries are stored to the microsecond and shown to the millisecond, so an instant includes its whole millisecond. */
function throughMillisecond(instant: SQLWrapper): SQL {
  return sql`< ${instant}::timestamptz + interval '1 millisecond'`;
}
