import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type {
  IncomingTransferProviderCalls,
  IncomingTransferTransitions,
} from '../../activities/incoming-transfers/activities.ts';
import type { ComplianceDecisionSignal } from '../common/messages.ts';
import { PROVIDER_CALL, TRANSITION } from '../common/policies.ts';
import { reconcileLoop } from '../common/waits.ts';
import { complianceDecisions } from '../compliance/decisions.ts';
import { screenByRules } from '../compliance/reviews.ts';

const { advanceIncomingTransfer } = proxyLocalActivities<IncomingTransferTransitions>({
  ...TRANSITION,
  summary: 'Advance the transfer',
});
const { recordIncomingTransferSentBack } = proxyLocalActivities<IncomingTransferTransitions>({
  ...TRANSITION,
  summary: 'Record that the money was returned',
});
const { sendBackIncomingTransfer } = proxyActivities<IncomingTransferProviderCalls>({
  ...PROVIDER_CALL,
  summary: 'Return the money through the provider',
});

/** Incoming money that cannot be booked at once: waits while it is held or reviewed, and returns it if necessary. */
export function incomingTransfer(undecided: readonly ComplianceDecisionSignal[] = []): Promise<void> {
  return reconcileLoop(
    'incoming-transfer',
    advanceIncomingTransfer,
    (next, id, outside) => {
      switch (next.do) {
        case 'review':
          return screenByRules('incoming-transfer', id, advanceIncomingTransfer, outside);

        case 'send-back':
          return outside.ask(
            () => sendBackIncomingTransfer(id),
            () => recordIncomingTransferSentBack(id),
          );
      }
    },
    complianceDecisions('incoming-transfer', undecided),
  );
}
