import type { RecallStatus } from './recalls.ts';

/**
 * What is known of the submission under way. `not-found`: a look-up has just said that the provider does not know the payment, and
 * nothing was sent since. `refused`: the provider has refused this attempt for a reason that is worth another one, which is due at
 * `retryAt`.
 */
export const SUBMISSION_STATUSES = ['none', 'unresolved', 'not-found', 'refused', 'resolved'] as const;
export type SubmissionStatus = (typeof SUBMISSION_STATUSES)[number];

/** How far a payment has come at its provider. */
export interface PaymentProgress {
  readonly submissionAttempt: number;
  readonly submissionStatus: SubmissionStatus;
  /** How many refused attempts the service has decided to follow by another one. */
  readonly retryCount: number;
  /** When the next attempt is due; set whenever the latest was refused for a reason that is worth another one. */
  readonly retryAt: Date | null;
  /** The provider's reason for the latest refusal that was worth another attempt. */
  readonly refusalCode: string | null;
  readonly lookUpCount: number;
  readonly nextLookUpAt: Date | null;
  /** The sum of the returns that name this payment, in minor units. The release before partial returns books ones that do not. */
  readonly returnedMinor: bigint;
  /** Of the latest recall; 0 if there was none. */
  readonly recallNumber: number;
  readonly recallStatus: RecallStatus | null;
}

/** Of a payment that has not been submitted. */
export const NO_PROGRESS = {
  submissionAttempt: 0,
  submissionStatus: 'none',
  retryCount: 0,
  retryAt: null,
  refusalCode: null,
  lookUpCount: 0,
  nextLookUpAt: null,
  returnedMinor: 0n,
  recallNumber: 0,
  recallStatus: null,
} as const satisfies PaymentProgress;
