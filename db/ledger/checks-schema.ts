import { bigint, boolean, integer, pgTable, primaryKey, timestamp, uuid } from 'drizzle-orm/pg-core';
import type { AccountId } from '../../domain/frame/ids.ts';

/** The ledger check's checkpoints, for drizzle; the migrations are authoritative. */
export const ledgerCheckedAccounts = pgTable('ledger_checked_accounts', {
  accountId: uuid('account_id').$type<AccountId>().primaryKey(),
  version: bigint('version', { mode: 'bigint' }).notNull(),
  balanceMinor: bigint('balance_minor', { mode: 'bigint' }).notNull(),
  lastEntryAt: timestamp('last_entry_at', { withTimezone: true, mode: 'date' }).notNull(),
});

export const ledgerChecks = pgTable('ledger_checks', {
  single: boolean('single').primaryKey().default(true),
  checkedAt: timestamp('checked_at', { withTimezone: true, mode: 'date' }).notNull(),
  eventPosition: bigint('event_position', { mode: 'bigint' }).notNull(),
  violatedAt: timestamp('violated_at', { withTimezone: true, mode: 'date' }),
  violationCount: integer('violation_count'),
});

export const systemAccountCheckpoints = pgTable(
  'system_account_checkpoints',
  {
    systemAccountId: uuid('system_account_id').notNull(),
    postingId: bigint('posting_id', { mode: 'bigint' }).notNull(),
    balanceMinor: bigint('balance_minor', { mode: 'bigint' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.systemAccountId, table.postingId] })],
);
