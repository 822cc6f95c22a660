import { eq, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { presentRoutingCodes } from '../../domain/accounts/identifiers/routing-codes.ts';
import type { PartyAccount } from '../../domain/incoming-transfers/incoming-transfers.ts';
import type { QueryBuilder } from '../query/queries.ts';
import { partyAccounts } from './schema.ts';

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

/**
 * The row of party_accounts by which a transfer shows an account, to join laterally: one look-up by index for each transfer.
 * As an ordinary join, Postgres reads the whole table into a hash for a page of ten.
 */
export function shownPartyAccount(db: QueryBuilder, name: string, named: PgColumn) {
  const pairs = SHOWN.map((field) => sql`${sql.raw(`'${field}'`)}, ${partyAccounts[field]}`);
  const account = sql<PartyAccount | null>`jsonb_build_object(${sql.join(pairs, sql`, `)})`;
  return db
    .select({ account: account.as(`${name}_shown`), holderIdentity: partyAccounts.holderIdentity })
    .from(partyAccounts)
    .where(eq(partyAccounts.id, named))
    .limit(1)
    .as(name);
}
