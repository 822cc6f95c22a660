import { TASK_QUEUES } from '../workflows/common/messages.ts';
import { accountProviderCalls, accountTransitions } from './accounts/activities.ts';
import type { ActivityDependencies } from './common/dependencies.ts';
import { redactFailures } from './common/failures.ts';
import { openWorkReads } from './common/open-work.ts';
import { complianceReviews, complianceTransitions } from './compliance/activities.ts';
import type { NameLists } from './compliance/name-lists.ts';
import { housekeepingActivities } from './housekeeping.ts';
import { incomingTransferProviderCalls, incomingTransferTransitions } from './incoming-transfers/activities.ts';
import { consentTransitions } from './open-banking/activities.ts';
import { outgoingTransferProviderCalls, outgoingTransferTransitions } from './outgoing-transfers/activities.ts';
import { reconciliationActivities } from './reconciliation/activities.ts';
import { signUpMail, signUpTransitions } from './users/activities.ts';
import { webhookDeliveryActivities } from './webhooks/activities.ts';

/**
 * Every activity, by task queue. Separate queues keep slow providers from delaying the transitions of workflows, and slow
 * subscribers and mail servers from delaying payments. Providers share a queue: a slow one delays the payments of the others
 * until there are more workers.
 */
export function activitiesByTaskQueue(dependencies: ActivityDependencies, nameLists: NameLists) {
  const { logger } = dependencies;
  return {
    [TASK_QUEUES.workflows]: redactFailures(
      {
        ...accountTransitions(dependencies),
        ...complianceTransitions(dependencies),
        ...consentTransitions(dependencies),
        ...incomingTransferTransitions(dependencies),
        ...outgoingTransferTransitions(dependencies),
        ...signUpTransitions(dependencies),
        ...openWorkReads(dependencies),
      },
      logger,
    ),
    [TASK_QUEUES.providers]: redactFailures(
      {
        ...accountProviderCalls(dependencies),
        ...complianceReviews({ ...dependencies, nameLists }),
        ...incomingTransferProviderCalls(dependencies),
        ...outgoingTransferProviderCalls(dependencies),
        ...housekeepingActivities(dependencies),
        ...reconciliationActivities(dependencies),
      },
      logger,
    ),
    [TASK_QUEUES.webhooks]: redactFailures(
      { ...webhookDeliveryActivities(dependencies), ...signUpMail(dependencies) },
      logger,
    ),
  };
}
