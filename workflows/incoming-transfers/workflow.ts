import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type {
  IncomingTransferProviderCalls,
  IncomingTransferTransitions,
} from '../../activities/incoming-transfers/activities.ts';
import { complianceDecisions } from '../compliance/decisions.ts';
import { reviewByRules } from '../compliance/reviews.ts';
import type { ComplianceDecisionSignal } from '../frame/messages.ts';
import { PROVIDER_CALL, TRANSITION } from '../frame/policies.ts';
import { reconcileLoop } from '../frame/waits.ts';

const { advanceIncomingTransfer } = proxyLocalActivities<IncomingTransferTransitions>({
  ...TRANSITION,
  summary: 'Move the transfer as far as its row allows',
});
const { recordIncomingTransferSentBack } = proxyLocalActivities<IncomingTransferTransitions>({
  ...TRANSITION,
  summary: 'Record that the money went back',
});
const { sendBackIncomingTransfer } = proxyActivities<IncomingTransferProviderCalls>({
  ...PROVIDER_CALL,
  summary: 'Send the money back through the provider',
});

/** Incoming money that cannot be booked at once: waits while it is held or reviewed, and returns it if necessary. */
export function incomingTransfer(undecided: readonly ComplianceDecisionSignal[] = []): Promise<void> {
  return reconcileLoop(
    'incoming-transfer',
    advanceIncomingTransfer,
    (next, id, outside) => {
      switch (next.do) {
        case 'review':
          return reviewByRules('incoming-transfer', id, advanceIncomingTransfer, outside);

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
