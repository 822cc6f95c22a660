import { bigint, boolean, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core';

/** Mirrors db/migrations/0007_reconciliation.sql, which tells what the columns mean. */
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
