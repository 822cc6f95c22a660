import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type {
  OutgoingTransferProviderCalls,
  OutgoingTransferTransitions,
} from '../../activities/outgoing-transfers/activities.ts';
import type { ComplianceDecisionSignal } from '../common/messages.ts';
import { PROVIDER_CALL, TRANSITION } from '../common/policies.ts';
import { reconcileLoop } from '../common/waits.ts';
import { complianceDecisions } from '../compliance/decisions.ts';
import { screenByRules } from '../compliance/reviews.ts';

const { advanceOutgoingTransfer } = proxyLocalActivities<OutgoingTransferTransitions>({
  ...TRANSITION,
  summary: 'Advance the transfer',
});
const { recordOutgoingTransferSubmission, recordOutgoingTransferLookUp } =
  proxyLocalActivities<OutgoingTransferTransitions>({ ...TRANSITION, summary: "Record the provider's answer" });
const { recordOutgoingTransferRecall } = proxyLocalActivities<OutgoingTransferTransitions>({
  ...TRANSITION,
  summary: "Record the provider's answer to the recall",
});
const { submitOutgoingTransfer } = proxyActivities<OutgoingTransferProviderCalls>({
  ...PROVIDER_CALL,
  summary: 'Submit the payment to the provider',
});
const { lookUpOutgoingTransfer } = proxyActivities<OutgoingTransferProviderCalls>({
  ...PROVIDER_CALL,
  summary: 'Look up the payment at the provider',
});
const { recallOutgoingTransfer } = proxyActivities<OutgoingTransferProviderCalls>({
  ...PROVIDER_CALL,
  summary: 'Recall the payment through the provider',
});

/**
 * Takes a transfer from acceptance to its end: waits for authorization, review, date and funds, submits it to the
 * provider, and waits for the result. A recall of a transfer that has ended starts it again.
 */
export function outgoingTransfer(undecided: readonly ComplianceDecisionSignal[] = []): Promise<void> {
  return reconcileLoop(
    'outgoing-transfer',
    advanceOutgoingTransfer,
    (next, id, outside) => {
      switch (next.do) {
        case 'review':
          return screenByRules('outgoing-transfer', id, advanceOutgoingTransfer, outside);

        case 'submit':
          return outside.ask(
            () => submitOutgoingTransfer(id, next.attempt),
            (report) => recordOutgoingTransferSubmission(id, next.attempt, report),
          );

        case 'look-up':
          return outside.ask(
            () => lookUpOutgoingTransfer(id, next.count),
            (report) => recordOutgoingTransferLookUp(id, next.count, report),
          );

        case 'recall':
          return outside.ask(
            () => recallOutgoingTransfer(id, next.number),
            (report) => recordOutgoingTransferRecall(id, report),
          );
      }
    },
    complianceDecisions('outgoing-transfer', undecided),
  );
}
