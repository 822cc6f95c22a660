import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { presentRoutingCodes } from '../../domain/accounts/routing-codes.ts';
import type { PartyAccount } from '../../domain/incoming-transfers/incoming-transfers.ts';
import { partyAccounts } from './party-accounts-schema.ts';

/** One of our accounts as a transfer shows it (specification 2.1). */
export function partyAccountOf(account: PartyAccount): PartyAccount {
  return {
    accountHolderName: account.accountHolderName,
    alias: account.alias,
    ledgerNumber: account.ledgerNumber,
    accountNumber: account.accountNumber,
    iban: account.iban,
    country: account.country,
    currency: account.currency,
    routingCodes: presentRoutingCodes(account.routingCodes),
  };
}

const SHOWN = [
  'accountHolderName',
  'alias',
  'ledgerNumber',
  'accountNumber',
  'iban',
  'country',
  'currency',
  'routingCodes',
] as const satisfies readonly (keyof PartyAccount)[];

/** The same as an expression over a joined row of party_accounts; null where the join found none. */
export function partyAccountFrom(
  joined: Readonly<Record<'id' | (typeof SHOWN)[number], PgColumn>>,
): SQL<PartyAccount | null> {
  const pairs = SHOWN.map((name) => sql`${sql.raw(`'${name}'`)}, ${joined[name]}`);
  return sql`CASE WHEN ${joined.id} IS NOT NULL THEN jsonb_build_object(${sql.join(pairs, sql`, `)}) END`;
}

/**
 * The id of the row by which a transfer shows an account: the row it names, or the account's first row if it names none
 * because it predates these rows or the previous release created it. Both arguments are columns of the transfer.
 */
export function partyAccountId(named: PgColumn, accountId: PgColumn): SQL {
  const { id, accountId: ofAccount } = partyAccounts;
  return sql`coalesce(${named}, (SELECT min(${id}) FROM ${partyAccounts} WHERE ${ofAccount} = ${accountId}))`;
}
