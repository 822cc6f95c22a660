import { bigint, date, pgTable, text, timestamp } from 'drizzle-orm/pg-core';

/** Fee sweeps for drizzle; the migrations are authoritative. */
export const feeSweeps = pgTable('fee_sweeps', {
  postingId: bigint('posting_id', { mode: 'bigint' }).primaryKey(),
  transactionNumber: text('transaction_number').notNull(),
  day: date('day', { mode: 'string' }).notNull(),
  provider: text('provider').notNull(),
  currency: text('currency').notNull(),
  amountMinor: bigint('amount_minor', { mode: 'bigint' }).notNull(),
  sweptAt: timestamp('swept_at', { withTimezone: true, mode: 'date' }).notNull(),
});

export const feeSweepDays = pgTable('fee_sweep_days', {
  day: date('day', { mode: 'string' }).primaryKey(),
  sweptAt: timestamp('swept_at', { withTimezone: true, mode: 'date' }).notNull(),
});
