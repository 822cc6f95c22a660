import { defineSignal, proxyActivities, proxyLocalActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { OpenWorkReads } from '../activities/open-work.ts';
import type { OutgoingTransferProviderCalls, OutgoingTransferTransitions } from '../activities/outgoing-transfers.ts';
import { CHANGED_SIGNAL, resourceIdOf } from './messages.ts';
import { PROVIDER_CALL, TRANSITION } from './policies.ts';
import { answerOf, changeOrDeadline, evenIfCancelled, transition } from './waits.ts';

const { advanceOutgoingTransfer } = proxyLocalActivities<OutgoingTransferTransitions>({
  ...TRANSITION,
  summary: 'Move the transfer as far as its row allows',
});
const { recordOutgoingTransferSubmission, recordOutgoingTransferLookUp } =
  proxyLocalActivities<OutgoingTransferTransitions>({ ...TRANSITION, summary: 'Record what the provider said' });
const { describeWait } = proxyLocalActivities<OpenWorkReads>({
  ...TRANSITION,
  summary: 'Show what the transfer waits for',
});
const { submitOutgoingTransfer } = proxyActivities<OutgoingTransferProviderCalls>({
  ...PROVIDER_CALL,
  summary: 'Submit the payment to the provider',
});
const { lookUpOutgoingTransfer } = proxyActivities<OutgoingTransferProviderCalls>({
  ...PROVIDER_CALL,
  summary: 'Ask the provider how the payment went',
});

/**
 * From acceptance to its end, as far as a transfer must wait or be carried out outside: waits for its authorization, its
 * review, its date and its money, submits it to the provider, and waits for the provider's result.
 */
export async function outgoingTransfer(): Promise<void> {
  let changed = false;
  setHandler(defineSignal(CHANGED_SIGNAL), () => {
    changed = true;
  });
  const id = resourceIdOf(workflowInfo().workflowId);
  const advance = () => advanceOutgoingTransfer(id);
  const unanswered = { changed: () => changed, describe: () => describeWait('outgoing-transfer', id) };
  let load = advance;

  await evenIfCancelled(async () => {
    for (;;) {
      changed = false;
      const next = await transition(load);
      load = advance;
      switch (next.do) {
        case 'end':
          if (changed) break;
          return;

        case 'wait':
          await changeOrDeadline(() => changed, next);
          break;

        case 'submit': {
          const report = await answerOf(() => submitOutgoingTransfer(id, next.attempt), unanswered);
          if (report !== undefined) load = () => recordOutgoingTransferSubmission(id, next.attempt, report);
          break;
        }

        case 'look-up': {
          const report = await answerOf(() => lookUpOutgoingTransfer(id, next.count), unanswered);
          if (report !== undefined) load = () => recordOutgoingTransferLookUp(id, next.count, report);
          break;
        }
      }
    }
  });
}
