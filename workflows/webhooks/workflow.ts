import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { WebhookDeliveryActivities } from '../../activities/webhooks/activities.ts';
import { CHANGED_SIGNAL, resourceIdOf } from '../common/messages.ts';
import { WEBHOOK_DELIVERY } from '../common/policies.ts';

const { deliverWebhooks } = proxyActivities<WebhookDeliveryActivities>({
  ...WEBHOOK_DELIVERY,
  summary: 'Send the due deliveries',
});

/** Prevents a busy loop on a deadline that has just passed, or on which two clocks disagree. */
const WAIT_MS_MIN = 1_000;

/** One shard of webhook deliveries: sends what is due, then waits for the next event or retry. */
export async function webhookDelivery(): Promise<void> {
  let changed = false;
  setHandler(defineSignal(CHANGED_SIGNAL), () => {
    changed = true;
  });
  const shard = Number(resourceIdOf(workflowInfo().workflowId));

  while (!workflowInfo().continueAsNewSuggested) {
    changed = false;
    setCurrentDetails('Delivering.');
    const { waitMs } = await deliverWebhooks(shard);
    if (waitMs === 0) continue;
    if (waitMs === null) {
      setCurrentDetails('Waiting for events.');
      await condition(() => changed);
    } else {
      setCurrentDetails('Waiting for events, or for the next retry.');
      await condition(() => changed, Math.max(WAIT_MS_MIN, Math.ceil(waitMs)), { summary: 'Until the next retry' });
    }
  }
  await continueAsNew();
}
