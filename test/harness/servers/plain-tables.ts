import { bigint, pgTable, text, uuid } from 'drizzle-orm/pg-core';

/** Two small tables of the schema that only database functions write: the tests of the driver use them. */
export const systemAccounts = pgTable('system_accounts', {
  id: uuid('id').primaryKey(),
  provider: text('provider').notNull(),
  currency: text('currency').notNull(),
  kind: text('kind', { enum: ['settlement', 'fee-revenue', 'suspense', 'correction'] }).notNull(),
});

export const systemAccountCheckpoints = pgTable('system_account_checkpoints', {
  systemAccountId: uuid('system_account_id').notNull(),
  postingId: bigint('posting_id', { mode: 'bigint' }).notNull(),
  balanceMinor: bigint('balance_minor', { mode: 'bigint' }).notNull(),
});
