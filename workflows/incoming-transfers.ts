import { defineSignal, proxyActivities, proxyLocalActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { IncomingTransferProviderCalls, IncomingTransferTransitions } from '../activities/incoming-transfers.ts';
import type { OpenWorkReads } from '../activities/open-work.ts';
import { CHANGED_SIGNAL, resourceIdOf } from './messages.ts';
import { PROVIDER_CALL, TRANSITION } from './policies.ts';
import { answerOf, changeOrDeadline, evenIfCancelled, transition } from './waits.ts';

const { advanceIncomingTransfer } = proxyLocalActivities<IncomingTransferTransitions>({
  ...TRANSITION,
  summary: 'Move the transfer as far as its row allows',
});
const { recordIncomingTransferSentBack } = proxyLocalActivities<IncomingTransferTransitions>({
  ...TRANSITION,
  summary: 'Record that the money went back',
});
const { describeWait } = proxyLocalActivities<OpenWorkReads>({
  ...TRANSITION,
  summary: 'Show what the transfer waits for',
});
const { sendBackIncomingTransfer } = proxyActivities<IncomingTransferProviderCalls>({
  ...PROVIDER_CALL,
  summary: 'Send the money back through the provider',
});

/** Money that arrived and cannot be booked at once: waits while it is held or reviewed, and sends it back if it must. */
export async function incomingTransfer(): Promise<void> {
  let changed = false;
  setHandler(defineSignal(CHANGED_SIGNAL), () => {
    changed = true;
  });
  const id = resourceIdOf(workflowInfo().workflowId);
  const advance = () => advanceIncomingTransfer(id);
  const unanswered = { changed: () => changed, describe: () => describeWait('incoming-transfer', id) };
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

        case 'send-back': {
          const sentBack = await answerOf(() => sendBackIncomingTransfer(id), unanswered);
          if (sentBack !== undefined) load = () => recordIncomingTransferSentBack(id);
          break;
        }
      }
    }
  });
}
