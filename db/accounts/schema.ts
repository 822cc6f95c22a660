import { bigint, jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import type { AccountId } from '../../domain/common/ids.ts';
import type { HolderIdentity } from '../../domain/incoming-transfers/incoming-transfers.ts';

/** Migrated accounts, by their ids at their providers. */
export const accountMigrations = pgTable('account_migrations', {
  accountId: uuid('account_id').$type<AccountId>().primaryKey(),
  provider: text('provider').notNull(),
  sourceId: text('source_id').notNull(),
  createdAt: timestamp('created_at', { withTimezone: true, mode: 'date' }).notNull(),
});

/** Versions of an account as its counterparties see it. */
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
