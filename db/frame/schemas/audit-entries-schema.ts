import { jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';

/** The audit log for drizzle. Only the previous release uses `subject` and `details`. */
export const auditEntries = pgTable('audit_entries', {
  id: uuid('id').primaryKey(),
  occurredAt: timestamp('occurred_at', { withTimezone: true, mode: 'date' }).notNull(),
  actor: text('actor').notNull(),
  action: text('action').notNull(),
  subject: text('subject').notNull(),
  details: jsonb('details').notNull().default({}),
  resource: text('resource'),
  resourceId: text('resource_id'),
  requestId: text('request_id'),
  before: jsonb('before'),
  after: jsonb('after'),
});
