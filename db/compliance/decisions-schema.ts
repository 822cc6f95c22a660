import { pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core';

export const complianceDecisions = pgTable(
  'compliance_decisions',
  {
    transferId: uuid('transfer_id').notNull(),
    decisionId: text('decision_id').notNull(),
    receivedAt: timestamp('received_at', { withTimezone: true, mode: 'date' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.transferId, table.decisionId] })],
);
