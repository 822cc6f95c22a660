import { bigint, boolean, jsonb, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core';

/** Reconciliation for drizzle; db/migrations/0002_foundation.sql and 0007_reconciliation.sql are authoritative. */
export const reconciliationBreaks = pgTable('reconciliation_breaks', {
  id: uuid('id').primaryKey(),
  provider: text('provider').notNull(),
  kind: text('kind').notNull(),
  ourReference: text('our_reference'),
  details: jsonb('details').notNull(),
  status: text('status', { enum: ['open', 'resolved'] })
    .notNull()
    .default('open'),
  foundAt: timestamp('found_at', { withTimezone: true, mode: 'date' }).notNull(),
  resolvedAt: timestamp('resolved_at', { withTimezone: true, mode: 'date' }),
});

export const statementComparisons = pgTable(
  'statement_comparisons',
  {
    provider: text('provider').notNull(),
    currency: text('currency').notNull(),
    comparedUntil: timestamp('compared_until', { withTimezone: true, mode: 'date' }).notNull(),
    postingId: bigint('posting_id', { mode: 'bigint' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.provider, table.currency] })],
);

export const providerSubmissions = pgTable('provider_submissions', {
  single: boolean('single').primaryKey().default(true),
  closedAt: timestamp('closed_at', { withTimezone: true, mode: 'date' }),
});
