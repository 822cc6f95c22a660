import { pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import type { AccountId } from '../../domain/frame/ids.ts';

/** Migrated accounts, by their ids at their providers; db/migrations/0030_migrated_accounts.sql is authoritative. */
export const accountMigrations = pgTable('account_migrations', {
  accountId: uuid('account_id').$type<AccountId>().primaryKey(),
  provider: text('provider').notNull(),
  sourceId: text('source_id').notNull(),
  createdAt: timestamp('created_at', { withTimezone: true, mode: 'date' }).notNull(),
});
