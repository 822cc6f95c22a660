import type { ActivityOptions, LocalActivityOptions } from '@temporalio/common';
import { TASK_QUEUES } from './messages.ts';

/**
 * The ways in which workflows reach the world, each with its time-outs and retries. They stand here and not in
 * activities/, of which workflows see only the types.
 */

/**
 * One guarded transition in Postgres. Two attempts, then the workflow sleeps durably: local activities that went on trying
 * against an absent Postgres would fill all workflow slots and starve every timer.
 */
export const TRANSITION: LocalActivityOptions = {
  startToCloseTimeout: '2 seconds',
  retry: { maximumAttempts: 2, initialInterval: '100 milliseconds' },
};

/**
 * One call to a provider, safe to repeat with its reference. Heartbeats tell within seconds that the worker died. When
 * the attempts are used up, the workflow shows that it waits for the provider, and begins anew.
 */
export const PROVIDER_CALL: ActivityOptions = {
  taskQueue: TASK_QUEUES.providers,
  startToCloseTimeout: '30 seconds',
  heartbeatTimeout: '8 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '20 seconds', maximumAttempts: 7 },
};

/** A batch of upkeep, which may read much. It is tried again with the next run of the schedule anyway. */
export const UPKEEP: ActivityOptions = {
  taskQueue: TASK_QUEUES.providers,
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '20 seconds',
  retry: { initialInterval: '5 seconds', maximumAttempts: 3 },
};

/** The first check of books that were never checked reads all of them, so it may take its time. */
export const LEDGER_CHECK: ActivityOptions = { ...UPKEEP, startToCloseTimeout: '70 minutes' };

/** Handing one e-mail to the mail server. It stands with the webhooks: neither may hold up a payment. */
export const MAIL: ActivityOptions = {
  taskQueue: TASK_QUEUES.webhooks,
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '8 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '20 seconds', maximumAttempts: 7 },
};

/** A run of a shard's deliveries, which ends by itself after a minute. It never fails for what a receiver does. */
export const WEBHOOK_DELIVERY: ActivityOptions = {
  taskQueue: TASK_QUEUES.webhooks,
  startToCloseTimeout: '3 minutes',
  heartbeatTimeout: '8 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '20 seconds' },
};
