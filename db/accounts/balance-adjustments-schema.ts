import { bigint, pgTable, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import type { AccountId, BalanceAdjustmentId } from '../../domain/frame/ids.ts';

/** Balance adjustments for drizzle; migrations 0027 and 0030 are authoritative. */
export const balanceAdjustments = pgTable('balance_adjustments', {
  id: uuid('id').$type<BalanceAdjustmentId>().primaryKey(),
  accountId: uuid('account_id').$type<AccountId>().notNull(),
  postingId: bigint('posting_id', { mode: 'bigint' }).notNull(),
  transactionNumber: text('transaction_number').notNull(),
  workflowCode: text('workflow_code', { enum: ['correction', 'synchronization'] }).notNull(),
  workflowType: text('workflow_type', {
    enum: ['fee', 'unknown', 'unconnected-service-provider', 'opening-balance'],
  }).notNull(),
  workflowTransactionType: text('workflow_transaction_type', {
    enum: ['incoming-transfer', 'unconnected-service-provider'],
  }),
  direction: text('direction', { enum: ['debit', 'credit'] }).notNull(),
  currency: text('currency').notNull(),
  amountMinor: bigint('amount_minor', { mode: 'bigint' }).notNull(),
  description: text('description'),
  unconnectedServiceProvider: text('unconnected_service_provider'),
  createdAt: timestamp('created_at', { withTimezone: true, mode: 'date' }).notNull(),
});
