import { proxyLocalActivities } from '@temporalio/workflow';
import type { ConsentTransitions } from '../../activities/open-banking/activities.ts';
import { TRANSITION } from '../frame/policies.ts';
import { reconcileLoop } from '../frame/waits.ts';

const { advanceConsent } = proxyLocalActivities<ConsentTransitions>({
  ...TRANSITION,
  summary: 'Move the consent as far as its row allows',
});

/**
 * One consent, by its id: waits for the account holder's answer, then for the third party to exchange its code, then for the end
 * of the grant. Whatever ends first, the consent expires when its time is up.
 */
export function consent(): Promise<void> {
  return reconcileLoop('consent', advanceConsent, (step: never) => step);
}
