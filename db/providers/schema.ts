import { jsonb, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';

export const providerCallbacks = pgTable(
  'provider_callbacks',
  {
    provider: text('provider').notNull(),
    providerEventId: text('provider_event_id').notNull(),
    kind: text('kind').notNull(),
    ourReference: text('our_reference'),
    payload: jsonb('payload').notNull(),
    outcome: text('outcome', { enum: ['applied', 'no-effect', 'waiting', 'break'] }).notNull(),
    receivedAt: timestamp('received_at', { withTimezone: true, mode: 'date' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.provider, table.providerEventId] })],
);
