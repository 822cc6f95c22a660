import { bigint, integer, jsonb, pgTable, primaryKey, smallint, text, uuid } from 'drizzle-orm/pg-core';

/** The tables of counted-lists.ts for drizzle; db/migrations/0035_list_counts.sql is authoritative. */
export const listCounts = pgTable(
  'list_counts',
  {
    list: text('list').notNull(),
    level: smallint('level').notNull(),
    key: jsonb('key').notNull(),
    firstId: uuid('first_id').notNull(),
    rowCount: bigint('row_count', { mode: 'bigint' }).notNull(),
  },
  ({ list, level, key, firstId }) => [primaryKey({ columns: [list, level, key, firstId] })],
);

export const listCounting = pgTable('list_counting', {
  list: text('list').primaryKey(),
  lastId: uuid('last_id').notNull(),
  countedRows: bigint('counted_rows', { mode: 'bigint' }).notNull(),
});

export const listChanges = pgTable('list_changes', {
  number: bigint('number', { mode: 'bigint' }).generatedAlwaysAsIdentity().primaryKey(),
  list: text('list').notNull(),
  id: uuid('id').notNull(),
  key: jsonb('key').notNull(),
  change: integer('change').notNull(),
});
