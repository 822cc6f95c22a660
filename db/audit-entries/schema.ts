import { bigint, jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import type { Role } from '../../domain/machine-users/roles.ts';
import type { AuditedFields } from '../common/audit-entries.ts';

/** The view `audit_log`: what was appended, and the creation of each outgoing transfer, derived from its row, so that the hot path writes no entry. */
export const auditLog = pgTable('audit_log', {
  id: uuid('id').primaryKey(),
  occurredAt: timestamp('occurred_at', { withTimezone: true, mode: 'date' }).notNull(),
  actor: text('actor').notNull(),
  action: text('action').notNull(),
  resource: text('resource').notNull(),
  resourceId: text('resource_id').notNull(),
  requestId: text('request_id'),
  before: jsonb('before').$type<AuditedFields>(),
  after: jsonb('after').$type<AuditedFields>(),
  transferId: uuid('transfer_id'),
  amountMinor: bigint('amount_minor', { mode: 'bigint' }),
  currency: text('currency'),
  role: text('role').$type<Role>(),
  reason: text('reason'),
});
