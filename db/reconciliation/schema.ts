import {
  bigint,
  boolean,
  date,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import type { BreakKind } from '../../domain/reconciliation/reconciliation.ts';

const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date' });
const whole = (name: string) => bigint(name, { mode: 'bigint' });

/** One side of a break, as stored: the amount in minor units as text. */
export interface StoredFacts {
  readonly amountMinor: string;
  readonly currency: string;
  readonly account: string | null;
  readonly date: string | null;
  /** Of a statement's figure that counts. */
  readonly count?: number;
}

/** Reconciliation for drizzle; migrations 0002, 0007, 0041, 0055 and 0060 are authoritative. */
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

export const providerSubmissions = pgTable('provider_submissions', {
  single: boolean('single').primaryKey().default(true),
  closedAt: instant('closed_at'),
  restoreBeganAt: instant('restore_began_at'),
  operatorClosedAt: instant('operator_closed_at'),
  operatorReason: text('operator_reason'),
});

const DAY_COLUMNS = {
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
  postingId: whole('posting_id').notNull(),
  source: text('source', { enum: ['statement', 'camt.053'] })
    .notNull()
    .default('statement'),
  createdAt: instant('created_at').notNull(),
  comparedAt: instant('compared_at').notNull(),
};

export const reconciliations = pgTable('reconciliations', DAY_COLUMNS, (table) => [
  unique('reconciliations_of_day').on(table.provider, table.currency, table.day),
]);

const MOVEMENT_COLUMNS = {
  direction: text('direction').notNull(),
  reference: text('reference').notNull(),
  side: text('side', { enum: ['provider', 'ours'] }).notNull(),
  movement: text('movement').notNull(),
  amountMinor: whole('amount_minor').notNull(),
  bookedAt: instant('booked_at').notNull(),
  accounts: text('accounts').array().notNull(),
  resourceId: uuid('resource_id'),
  runId: uuid('run_id').notNull(),
};

export const reconciliationMovements = pgTable(
  'reconciliation_movements',
  { ...MOVEMENT_COLUMNS, entryId: text('entry_id').notNull(), ofDay: boolean('of_day').notNull() },
  ({ runId, direction, reference, side, entryId }) => [
    primaryKey({ columns: [runId, direction, reference, side, entryId] }),
  ],
);

export const reconciliationCarryOvers = pgTable(
  'reconciliation_carry_overs',
  {
    ...MOVEMENT_COLUMNS,
    provider: text('provider').notNull(),
    currency: text('currency').notNull(),
    day: date('day', { mode: 'string' }).notNull(),
    part: integer('part').notNull().default(1),
    isPaired: boolean('is_paired').notNull().default(false),
  },
  ({ provider, currency, direction, reference, movement, side, day, part }) => [
    primaryKey({ columns: [provider, currency, direction, reference, movement, side, day, part] }),
  ],
);
