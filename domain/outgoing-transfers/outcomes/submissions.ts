import type { OutgoingTransferStep } from '../statuses.ts';
import type { Draft } from './draft.ts';
import { stepAfterRejection } from './rejections.ts';

/** The next step of a payment that its provider has not taken: submit it, look it up, or wait. */
export function stepOfSubmission(draft: Draft): OutgoingTransferStep {
  const { lookUpCount, nextLookUpAt, submissionStatus, submissionAttempt, waitingUntil } = draft.transfer;
  if (nextLookUpAt !== null) {
    // Once per request: a look-up without an answer must not prevent another submission.
    draft.set({ nextLookUpAt: null });
    draft.wait('provider', null);
    return { do: 'look-up', count: lookUpCount };
  }
  if (submissionStatus === 'rejected') return stepAfterRejection(draft);
  const pauses = submissionStatus === 'not-found' && waitingUntil !== null && waitingUntil > draft.situation.now;
  if (pauses) return draft.wait('provider', waitingUntil);
  const attempt = Math.max(1, submissionAttempt);
  draft.set({ submissionAttempt: attempt, submissionStatus: 'unresolved' });
  draft.wait('provider', null);
  return { do: 'submit', attempt };
}

/**
 * The provider has taken this attempt. That is no news of an attempt on which it has decided, as reports may overtake one another. An
 * attempt after ours is one that a restore has lost.
 */
export function queueSubmission(draft: Draft, attempt: number): 'applied' | 'no-effect' {
  const { status, submissionStatus, submissionAttempt } = draft.transfer;
  const isOpen = submissionStatus === 'none' || submissionStatus === 'unresolved' || submissionStatus === 'not-found';
  const isNews = attempt > submissionAttempt || (attempt === submissionAttempt && isOpen);
  if (status !== 'processing' || submissionStatus === 'resolved' || !isNews) return 'no-effect';
  draft.set({ submissionStatus: 'queued', submissionAttempt: attempt, retryAt: null, waitingUntil: null });
  return 'applied';
}
