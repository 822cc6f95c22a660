import { and, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { type AccountNumberForms, accountNumberForms } from '../../domain/accounts/account-numbers.ts';
import type { Account, AccountStatus } from '../../domain/accounts/accounts.ts';
import type { AccountId } from '../../domain/common/ids.ts';
import { accountNumberIs, amountBetween, anyPart, equalTo, matchesPart } from '../common/filters.ts';
import { accounts } from '../common/schema.ts';
import { countedListOf, keyed } from '../query/counted-lists.ts';
import type { Reader } from '../query/database.ts';
import { type PageOf, type PageRequest, readPage } from '../query/lists.ts';
import {
  type BoundedCount,
  type Newest,
  type NewestConditions,
  type NewestPage,
  newestListOf,
} from '../query/newest-lists.ts';
import { type Given, prepared } from '../query/queries.ts';
import { isListed } from '../query/values.ts';
import { ACCOUNT, accountOf } from './accounts.ts';

export async function findAccount(reader: Reader, id: AccountId): Promise<Account | null> {
  const row = await reader.find(ACCOUNT, id);
  return row === null ? null : accountOf(row);
}

/** Accounts whose opening or closing (`change`) is in progress at their providers; counts at most 10,000. */
export interface ConnectionWaits {
  readonly change: string;
  readonly count: number;
  /** Since the account was created, or its closing was first sent; 0 for a closing that no worker has sent yet. */
  readonly oldestSeconds: number;
}

const CONNECTION_WAITS = `
  SELECT requested_change AS change, count(*)::integer AS count,
    extract(epoch FROM greatest(service_now() - min(CASE requested_change WHEN 'open' THEN created_at
      ELSE coalesce(change_submitted_at, service_now()) END), interval '0'))::float8 AS "oldestSeconds"
  FROM (SELECT requested_change, created_at, change_submitted_at FROM accounts
    WHERE next_check_at IS NOT NULL AND requested_change IS NOT NULL ORDER BY next_check_at LIMIT 10000) AS waiting
  GROUP BY requested_change`;

/** For metrics: what waits for providers in addition to transfers. */
export function readConnectionWaits(reader: Reader): Promise<ConnectionWaits[]> {
  return reader.statement<ConnectionWaits>(CONNECTION_WAITS, []);
}

const WITH_TIME = prepared((db, given: Given<{ ids: readonly string[] }>) => {
  const { id, provider, country, currency } = accounts;
  return db
    .select({ id, provider, country, currency, now: sql<Date>`service_now()` })
    .from(accounts)
    .where(isListed(id, given.ids));
});

/** A few fields of an account, with the service's time from the same look-up. */
export function findAccountWithTime(reader: Reader, id: AccountId) {
  return reader.find(WITH_TIME, id);
}

/** Filters of specification 4.5; balances as decimal text in each account's own currency. */
export interface AccountFilter {
  readonly clientId?: string | undefined;
  readonly status?: AccountStatus | undefined;
  readonly currency?: string | undefined;
  readonly alias?: string | undefined;
  readonly routingCodeKey?: string | undefined;
  readonly routingCodeValue?: string | undefined;
  readonly iban?: string | undefined;
  readonly accountNumber?: string | undefined;
  readonly ledgerNumber?: string | undefined;
  readonly availableBalanceFrom?: string | undefined;
  readonly availableBalanceTo?: string | undefined;
  readonly serviceProvider?: string | undefined;
  readonly accountHolderName?: string | undefined;
  readonly mainAccountId?: string | undefined;
  /** The user whose allowed relations lead to the accounts. */
  readonly userId?: string | undefined;
}

type Values = AccountFilter & AccountNumberForms;

function conditionsOf(given: Partial<Given<Values>>): NewestConditions {
  const available = sql`(${accounts.postedMinor} - ${accounts.reservedMinor})`;
  return {
    indexed: [
      ...equalTo([
        [accounts.clientId, given.clientId],
        [accounts.iban, given.iban],
        [accounts.ledgerNumber, given.ledgerNumber],
        [accounts.mainAccountId, given.mainAccountId],
      ]),
      ...accountNumberIs(accounts, given),
      ...ofUser(given.userId),
    ],
    others: [
      ...equalTo([
        [accounts.status, given.status],
        [accounts.currency, given.currency],
        [accounts.provider, given.serviceProvider],
      ]),
      ...matchesPart([
        [accounts.alias, given.alias],
        [accounts.accountHolderName, given.accountHolderName],
      ]),
      ...routingCode(given.routingCodeKey, given.routingCodeValue),
      ...amountBetween(available, accounts.currency, given.availableBalanceFrom, given.availableBalanceTo),
    ],
  };
}

const LIST = countedListOf<Values, typeof accounts>(
  accounts,
  (given) => {
    const { indexed, others } = conditionsOf(given);
    return and(...indexed, ...others);
  },
  { status: keyed('status'), currency: keyed('currency'), serviceProvider: keyed('serviceProvider') },
);

const NEWEST = newestListOf<Values, typeof accounts>(accounts, conditionsOf);

/** The accounts of the clients that a user may act for. */
function ofUser(userId: SQLWrapper | undefined): SQL[] {
  if (userId === undefined) return [];
  return [
    sql`${accounts.clientId} = ANY (ARRAY(
      SELECT client_id FROM user_client_relations WHERE user_id = ${userId} AND status = 'allowed'))`,
  ];
}

/** Key and value together match one entry; one without the other matches any entry that has it. */
function routingCode(key: SQLWrapper | undefined, value: SQLWrapper | undefined): SQL[] {
  if (key === undefined && value === undefined) return [];
  const matching = and(
    ...equalTo([
      [sql`code.key`, key],
      [sql`code.value`, value],
    ]),
  );
  return [sql`EXISTS (SELECT FROM jsonb_each_text(${accounts.routingCodes}) AS code WHERE ${matching})`];
}

/** One page of accounts, and the total. */
export async function listAccounts(reader: Reader, filter: AccountFilter, page: PageRequest): Promise<PageOf<Account>> {
  const values = valuesOf(filter);
  const { rows, totalElements } = await readPage(reader, LIST(values), values, page);
  return { rows: rows.map(accountOf), totalElements };
}

function valuesOf(filter: AccountFilter): Values {
  const { alias, accountHolderName, accountNumber } = filter;
  return {
    ...filter,
    ...accountNumberForms(accountNumber),
    alias: anyPart(alias),
    accountHolderName: anyPart(accountHolderName),
  };
}

/** Accounts newest first, of which a page reads a bounded part. */
export async function listNewestAccounts(
  reader: Reader,
  filter: AccountFilter,
  page: NewestPage,
): Promise<Newest<Account>> {
  const { rows, lookedTo } = await NEWEST.read(reader, valuesOf(filter), page);
  return { rows: rows.map(accountOf), lookedTo };
}

export function countAccounts(reader: Reader, filter: AccountFilter, max: number): Promise<BoundedCount> {
  return NEWEST.count(reader, valuesOf(filter), max);
}
