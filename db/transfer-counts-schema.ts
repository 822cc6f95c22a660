import { bigint, boolean, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import type { AccountId, ClientId, OutgoingTransferId } from '../domain/ids.ts';

/** The tables of db/outgoing-transfer-counts.ts as drizzle sees them; the migration is what is true. */
export const outgoingTransferCounts = pgTable(
  'outgoing_transfer_counts',
  {
    accountId: uuid('account_id').$type<AccountId>().notNull(),
    clientId: uuid('client_id').$type<ClientId>().notNull(),
    provider: text('provider').notNull(),
    currency: text('currency').notNull(),
    status: text('status').notNull(),
    transferCount: bigint('transfer_count', { mode: 'bigint' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.provider, table.currency, table.status] })],
);

export const outgoingTransferCounting = pgTable('outgoing_transfer_counting', {
  single: boolean('single').primaryKey().default(true),
  lastId: uuid('last_id').$type<OutgoingTransferId>().notNull(),
});

export const outgoingTransfersNotCounted = pgTable('outgoing_transfers_not_counted', {
  id: uuid('id').$type<OutgoingTransferId>().primaryKey(),
});
