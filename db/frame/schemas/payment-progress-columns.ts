import { bigint, integer, text, timestamp } from 'drizzle-orm/pg-core';
import { SUBMISSION_STATUSES } from '../../../domain/outgoing-transfers/outcomes/progress.ts';
import { RECALL_STATUSES } from '../../../domain/outgoing-transfers/outcomes/recalls.ts';

/** The columns of `outgoing_transfers` that say how far a payment has come at its provider. */
export function paymentProgressColumns() {
  return {
    submissionAttempt: integer('submission_attempt').notNull().default(0),
    submissionStatus: text('submission_status', { enum: SUBMISSION_STATUSES }).notNull().default('none'),
    retryCount: integer('retry_count').notNull().default(0),
    retryAt: timestamp('retry_at', { withTimezone: true, mode: 'date' }),
    refusalCode: text('refusal_code'),
    lookUpCount: integer('look_up_count').notNull().default(0),
    nextLookUpAt: timestamp('next_look_up_at', { withTimezone: true, mode: 'date' }),
    returnedMinor: bigint('returned_minor', { mode: 'bigint' }).notNull().default(0n),
    recallNumber: integer('recall_number').notNull().default(0),
    recallStatus: text('recall_status', { enum: RECALL_STATUSES }),
  };
}
