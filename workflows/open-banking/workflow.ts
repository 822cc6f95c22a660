import { proxyLocalActivities } from '@temporalio/workflow';
import type { ConsentTransitions } from '../../activities/open-banking/activities.ts';
import { TRANSITION } from '../common/policies.ts';
import { reconcileLoop } from '../common/waits.ts';

const { advanceConsent } = proxyLocalActivities<ConsentTransitions>({
  ...TRANSITION,
  summary: 'Advance the consent',
});

/**
 * One consent, by its id: waits for the account holder's answer, then for the third party to exchange its code, then for the end
 * of the grant. The consent expires at whichever deadline passes first.
 */
export function consent(): Promise<void> {
  return reconcileLoop('consent', advanceConsent, (step: never) => step);
}
