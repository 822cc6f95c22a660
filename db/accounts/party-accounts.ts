import { presentRoutingCodes } from '../../domain/accounts/routing-codes.ts';
import type { PartyAccount } from '../../domain/incoming-transfers/incoming-transfers.ts';
import { camelCase } from '../driver/values.ts';

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

const COLUMNS = [
  'account_holder_name, alias, ledger_number, account_number, iban, country, currency, routing_codes',
].flatMap((line) => line.split(', '));

/** The same as SQL, for a party_accounts row joined under this alias; null where the join found none. */
export function partyAccountInSql(alias: string): string {
  const pairs = COLUMNS.map((column) => `'${camelCase(column)}', ${alias}.${column}`);
  return `CASE WHEN ${alias}.id IS NOT NULL THEN jsonb_build_object(${pairs.join(', ')}) END`;
}

/**
 * The id of the row by which a transfer shows an account: the row it names, or the account's first row if it names none
 * because it predates these rows or the previous release created it. Both arguments are columns of the transfer.
 */
export function partyAccountIdInSql(named: string, accountId: string): string {
  return `coalesce(${named}, (SELECT min(first.id) FROM party_accounts first WHERE first.account_id = ${accountId}))`;
}
