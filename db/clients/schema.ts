import { jsonb, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import type { ConnectionError } from '../../domain/accounts/accounts.ts';
import type { BeneficiaryId, ClientId } from '../../domain/common/ids.ts';

/** Clients and beneficiaries as their providers know them. */
export const clientConnections = pgTable('client_connections', {
  id: uuid('id').primaryKey(),
  clientId: uuid('client_id').$type<ClientId>().notNull(),
  provider: text('provider').notNull(),
  reference: text('reference'),
  state: text('state', { enum: ['creation-in-progress', 'creation-failed', 'completed-up-to-date'] }).notNull(),
  error: jsonb('error').$type<ConnectionError>(),
  createdAt: timestamp('created_at', { withTimezone: true, mode: 'date' }).notNull(),
  sourceId: text('source_id'),
});

export const beneficiaryConnections = pgTable('beneficiary_connections', {
  id: uuid('id').primaryKey(),
  beneficiaryId: uuid('beneficiary_id').$type<BeneficiaryId>().notNull(),
  provider: text('provider').notNull(),
  reference: text('reference').notNull(),
  state: text('state', { enum: ['completed-up-to-date'] }).notNull(),
  sourceId: text('source_id').notNull(),
  createdAt: timestamp('created_at', { withTimezone: true, mode: 'date' }).notNull(),
});
