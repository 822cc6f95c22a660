import { TASK_QUEUES } from '../workflows/messages.ts';
import { accountProviderCalls, accountTransitions } from './accounts.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { discreet } from './failures.ts';
import { housekeepingActivities } from './housekeeping.ts';
import { incomingTransferProviderCalls, incomingTransferTransitions } from './incoming-transfers.ts';
import { openWorkReads } from './open-work.ts';
import { outgoingTransferProviderCalls, outgoingTransferTransitions } from './outgoing-transfers.ts';
import { userInvitationMail, userInvitationTransitions } from './user-invitations.ts';
import { webhookDeliveryActivities } from './webhook-deliveries.ts';

/**
 * Every activity, by the task queue whose worker runs it. The queues are apart so that none can take all slots of another:
 * transitions run beside their workflows, and neither slow providers nor slow subscribers or mail servers hold up a payment.
 */
export function activitiesByTaskQueue(dependencies: ActivityDependencies) {
  const { logger } = dependencies;
  return {
    [TASK_QUEUES.workflows]: discreet(
      {
        ...accountTransitions(dependencies),
        ...incomingTransferTransitions(dependencies),
        ...outgoingTransferTransitions(dependencies),
        ...userInvitationTransitions(dependencies),
        ...openWorkReads(dependencies),
      },
      logger,
    ),
    [TASK_QUEUES.providers]: discreet(
      {
        ...accountProviderCalls(dependencies),
        ...incomingTransferProviderCalls(dependencies),
        ...outgoingTransferProviderCalls(dependencies),
        ...housekeepingActivities(dependencies),
      },
      logger,
    ),
    [TASK_QUEUES.webhooks]: discreet(
      { ...webhookDeliveryActivities(dependencies), ...userInvitationMail(dependencies) },
      logger,
    ),
  };
}
