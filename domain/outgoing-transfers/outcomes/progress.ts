import type { RecallStatus } from '../statuses.ts';

/**
 * The state of the current submission. `not-found`: a look-up has just reported that the provider does not know the payment, and
 * nothing was sent since. `queued`: the provider has taken the instruction and will carry it out, but has neither released nor rejected
 * the payment yet. `rejected`: the provider has rejected this attempt for a retryable reason; the next is due at `retryAt`.
 */
export const SUBMISSION_STATUSES = ['none', 'unresolved', 'not-found', 'queued', 'rejected', 'resolved'] as const;
export type SubmissionStatus = (typeof SUBMISSION_STATUSES)[number];

/** The progress of a payment at its provider. */
export interface PaymentProgress {
  readonly submissionAttempt: number;
  readonly submissionStatus: SubmissionStatus;
  /** How many rejected attempts were followed by a retry. */
  readonly retryCount: number;
  /** When the next attempt is due; set if the latest was rejected for a retryable reason. */
  readonly retryAt: Date | null;
  /** The provider's reason for the latest retryable rejection. */
  readonly rejectionCode: string | null;
  readonly lookUpCount: number;
  readonly nextLookUpAt: Date | null;
  /** The sum of its returns, in minor units. */
  readonly returnedMinor: bigint;
  /** The number of the latest recall; 0 if there was none. */
  readonly recallNumber: number;
  readonly recallStatus: RecallStatus | null;
}

/** The progress of a payment that has not been submitted. */
export const NO_PROGRESS = {
  submissionAttempt: 0,
  submissionStatus: 'none',
  retryCount: 0,
  retryAt: null,
  rejectionCode: null,
  lookUpCount: 0,
  nextLookUpAt: null,
  returnedMinor: 0n,
  recallNumber: 0,
  recallStatus: null,
} as const satisfies PaymentProgress;
