import { bigint, boolean, pgTable } from 'drizzle-orm/pg-core';

/** The sandbox's test clock for drizzle; the migrations are authoritative. */
export const sandboxClock = pgTable('sandbox_clock', {
  isOnlyRow: boolean('is_only_row').primaryKey().default(true),
  aheadMs: bigint('ahead_ms', { mode: 'bigint' }).notNull(),
});
