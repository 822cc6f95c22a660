import { bigint, date, integer, pgTable, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core';
import type { AccountId, ClientId } from '../../domain/frame/ids.ts';

/** The tables of db/ledger/transfer-counts.ts for drizzle; the migration is authoritative. */
export const transferCounts = pgTable(
  'transfer_counts',
  {
    direction: text('direction').notNull(),
    accountId: uuid('account_id').$type<AccountId>().notNull(),
    clientId: uuid('client_id').$type<ClientId>().notNull(),
    provider: text('provider').notNull(),
    currency: text('currency').notNull(),
    status: text('status').notNull(),
    transferCount: bigint('transfer_count', { mode: 'bigint' }).notNull(),
  },
  ({ direction, accountId, clientId, provider, currency, status }) => [
    primaryKey({ columns: [direction, accountId, clientId, provider, currency, status] }),
  ],
);

export const transferDayCounts = pgTable(
  'transfer_day_counts',
  {
    direction: text('direction').notNull(),
    transferDate: date('transfer_date'),
    provider: text('provider').notNull(),
    currency: text('currency').notNull(),
    status: text('status').notNull(),
    transferCount: bigint('transfer_count', { mode: 'bigint' }).notNull(),
    firstIdRange: uuid('first_stretch').notNull(),
  },
  ({ direction, transferDate, provider, currency, status }) => [
    unique().on(direction, transferDate, provider, currency, status).nullsNotDistinct(),
  ],
);

export const transferIdRanges = pgTable(
  'transfer_stretches',
  { direction: text('direction').notNull(), firstId: uuid('first_id').notNull() },
  ({ direction, firstId }) => [primaryKey({ columns: [direction, firstId] })],
);

export const transferIdRangeCounts = pgTable(
  'transfer_stretch_counts',
  {
    direction: text('direction').notNull(),
    firstId: uuid('first_id').notNull(),
    transferDate: date('transfer_date'),
    provider: text('provider').notNull(),
    currency: text('currency').notNull(),
    status: text('status').notNull(),
    transferCount: integer('transfer_count').notNull(),
  },
  ({ direction, firstId, transferDate, provider, currency, status }) => [
    unique().on(direction, firstId, transferDate, provider, currency, status).nullsNotDistinct(),
  ],
);

export const transferCounting = pgTable('transfer_counting', {
  direction: text('direction').primaryKey(),
  lastId: uuid('last_id').notNull(),
  lastIdRange: uuid('last_stretch').notNull(),
  lastIdRangeRows: integer('last_stretch_rows').notNull(),
});

export const transfersNotCounted = pgTable(
  'transfers_not_counted',
  { direction: text('direction').notNull(), id: uuid('id').notNull() },
  ({ direction, id }) => [primaryKey({ columns: [direction, id] })],
);
