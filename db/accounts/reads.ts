import { and, count, eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { Account, AccountStatus } from '../../domain/accounts/accounts.ts';
import type { AccountId } from '../../domain/frame/ids.ts';
import type { Reader } from '../driver/client.ts';
import { everyColumn, LISTED_IDS } from '../driver/values.ts';
import { amountBetween, contains, type PageOf, type PageRequest } from '../frame/filters.ts';
import { accounts, clients } from '../frame/schema.ts';
import { type AccountRow, accountOf } from './accounts.ts';

// As text: balances are read too often to build a query and map its rows each time.
const FIND = `SELECT ${everyColumn(accounts)} FROM accounts WHERE id = ANY (${LISTED_IDS})`;

export async function findAccount(reader: Reader, id: AccountId): Promise<Account | null> {
  const row = await reader.find<AccountRow>(FIND, id);
  return row === null ? null : accountOf(row);
}

/** The account with its owner, as `metadata.expand` shows it. */
export async function findAccountWithClient(reader: Reader, id: AccountId) {
  const [found] = await reader.drizzle
    .select({ account: getTableColumns(accounts), client: getTableColumns(clients) })
    .from(accounts)
    .innerJoin(clients, eq(clients.id, accounts.clientId))
    .where(eq(accounts.id, id));
  return found === undefined ? null : { account: accountOf(found.account), client: found.client };
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
}

function conditions(filter: AccountFilter): SQL | undefined {
  const equal = [
    [accounts.clientId, filter.clientId],
    [accounts.status, filter.status],
    [accounts.currency, filter.currency],
    [accounts.iban, filter.iban],
    [accounts.accountNumber, filter.accountNumber],
    [accounts.ledgerNumber, filter.ledgerNumber],
    [accounts.provider, filter.serviceProvider],
    [accounts.mainAccountId, filter.mainAccountId],
  ] as const;
  const available = sql`(${accounts.postedMinor} - ${accounts.reservedMinor})`;
  return and(
    ...equal.flatMap(([column, value]) => (value === undefined ? [] : [sql`${column} = ${value}`])),
    ...(filter.alias === undefined ? [] : [contains(accounts.alias, filter.alias)]),
    ...(filter.accountHolderName === undefined ? [] : [contains(accounts.accountHolderName, filter.accountHolderName)]),
    ...routingCode(filter.routingCodeKey, filter.routingCodeValue),
    ...amountBetween(available, accounts.currency, filter.availableBalanceFrom, filter.availableBalanceTo),
  );
}

/** Key and value together match one entry; either alone matches any entry that has it. */
function routingCode(key: string | undefined, value: string | undefined): SQL[] {
  if (key === undefined && value === undefined) return [];
  const parts = [
    ...(key === undefined ? [] : [sql`code.key = ${key}`]),
    ...(value === undefined ? [] : [sql`code.value = ${value}`]),
  ];
  return [
    sql`EXISTS (SELECT FROM jsonb_each_text(${accounts.routingCodes}) AS code WHERE ${sql.join(parts, sql` AND `)})`,
  ];
}

/** One page of accounts in order of creation (which is the order of ids), and the total. */
export async function listAccounts(reader: Reader, filter: AccountFilter, page: PageRequest): Promise<PageOf<Account>> {
  const where = conditions(filter);
  const [rows, [total]] = await Promise.all([
    reader.drizzle.select().from(accounts).where(where).orderBy(accounts.id).limit(page.size).offset(page.offset),
    reader.drizzle.select({ total: count() }).from(accounts).where(where),
  ]);
  return { rows: rows.map(accountOf), totalElements: total?.total ?? 0 };
}
