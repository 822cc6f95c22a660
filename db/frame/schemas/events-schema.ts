import { bigint, boolean, json, pgTable, smallint, text, timestamp, uuid } from 'drizzle-orm/pg-core';

/** The event log for drizzle; the migrations are authoritative. */
export const events = pgTable('events', {
  id: uuid('id').primaryKey(),
  firstPosition: bigint('first_position', { mode: 'bigint' }),
  entryCount: smallint('entry_count').notNull(),
  module: text('module').notNull(),
  resourceId: uuid('resource_id').notNull(),
  firstSequence: bigint('first_sequence', { mode: 'bigint' }).notNull(),
  occurredAt: timestamp('occurred_at', { withTimezone: true, mode: 'date' }).notNull(),
  entries: json('entries').notNull(),
});

export const eventSequencer = pgTable('event_sequencer', {
  single: boolean('single').primaryKey().default(true),
  lastPosition: bigint('last_position', { mode: 'bigint' }).notNull(),
});

export const eventLogStart = pgTable('event_log_start', {
  single: boolean('single').primaryKey().default(true),
  firstPosition: bigint('first_position', { mode: 'bigint' }).notNull(),
});
