import { bigint, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import type { AccountId } from '../../domain/frame/ids.ts';
import type { HolderIdentity } from '../../domain/incoming-transfers/incoming-transfers.ts';

/** Versions of an account as its counterparties see it; db/migrations/0015_party_accounts.sql is authoritative. */
export const partyAccounts = pgTable('party_accounts', {
  id: bigint('id', { mode: 'bigint' }).generatedAlwaysAsIdentity().primaryKey(),
  accountId: uuid('account_id').$type<AccountId>().notNull(),
  accountHolderName: text('account_holder_name').notNull(),
  holderIdentity: jsonb('holder_identity').$type<HolderIdentity>().notNull(),
  alias: text('alias').notNull(),
  ledgerNumber: text('ledger_number').notNull(),
  accountNumber: text('account_number'),
  iban: text('iban'),
  country: text('country').notNull(),
  currency: text('currency').notNull(),
  routingCodes: jsonb('routing_codes').$type<Readonly<Record<string, string>>>(),
});
