import { bigint, date, integer, jsonb, pgTable, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import type { BreakKind } from '../../domain/reconciliation/reconciliation.ts';

const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });
const whole = (name: string) => bigint(name, { mode: 'bigint' });

/** A provider's pooled position in one currency. */
export interface Position {
  readonly provider: string;
  readonly currency: string;
}

/** One side of a break, as stored: the amount in minor units as text. */
export interface StoredFacts {
  readonly amountMinor: string;
  readonly currency: string;
  readonly account: string | null;
  readonly date: string | null;
  /** Of a figure in the statement that counts. */
  readonly count?: number;
}

export const reconciliationBreaks = pgTable('reconciliation_breaks', {
  id: uuid('id').primaryKey(),
  provider: text('provider').notNull(),
  kind: text('kind').$type<BreakKind>().notNull(),
  ourReference: text('our_reference'),
  details: jsonb('details').notNull(),
  status: text('status', { enum: ['open', 'resolved'] })
    .notNull()
    .default('open'),
  foundAt: instant('found_at').notNull(),
  resolvedAt: instant('resolved_at'),
  resourceId: uuid('resource_id'),
  currency: text('currency'),
  day: date('day', { mode: 'string' }),
  part: integer('part').notNull().default(1),
  expected: jsonb('expected').$type<StoredFacts>(),
  actual: jsonb('actual').$type<StoredFacts>(),
  runId: uuid('run_id'),
  note: text('note'),
  resolvedBy: text('resolved_by'),
  creditCount: whole('credit_count').notNull().default(0n),
  creditMinor: whole('credit_minor').notNull().default(0n),
  debitCount: whole('debit_count').notNull().default(0n),
  debitMinor: whole('debit_minor').notNull().default(0n),
  explainedBy: date('explained_by', { mode: 'string' }),
});

export const statementComparisons = pgTable(
  'statement_comparisons',
  {
    provider: text('provider').notNull(),
    currency: text('currency').notNull(),
    comparedUntil: instant('compared_until').notNull(),
    postingId: whole('posting_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.provider, table.currency] })],
);

/** The view `reconciliation_days`: a compared day, with its breaks counted. */
export const reconciliationDays = pgTable('reconciliation_days', {
  id: uuid('id').primaryKey(),
  provider: text('provider').notNull(),
  currency: text('currency').notNull(),
  day: date('day', { mode: 'string' }).notNull(),
  providerCreditCount: whole('provider_credit_count').notNull(),
  providerCreditMinor: whole('provider_credit_minor').notNull(),
  providerDebitCount: whole('provider_debit_count').notNull(),
  providerDebitMinor: whole('provider_debit_minor').notNull(),
  ledgerCreditCount: whole('ledger_credit_count').notNull(),
  ledgerCreditMinor: whole('ledger_credit_minor').notNull(),
  ledgerDebitCount: whole('ledger_debit_count').notNull(),
  ledgerDebitMinor: whole('ledger_debit_minor').notNull(),
  comparedAt: instant('compared_at').notNull(),
  breakCount: whole('break_count').notNull(),
  openBreakCount: whole('open_break_count').notNull(),
  status: text('status', { enum: ['balanced', 'breaks'] }).notNull(),
});
