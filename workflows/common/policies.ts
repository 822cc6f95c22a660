import type { ActivityOptions, LocalActivityOptions } from '@temporalio/common';
import { TASK_QUEUES } from './messages.ts';

/**
 * Timeouts and retries of everything that workflows call. They are here because workflows import only types from
 * activities/.
 */

/**
 * One guarded transition in Postgres. After two attempts the workflow sleeps durably: local activities retrying
 * against an absent Postgres would fill all workflow slots and starve every timer.
 */
export const TRANSITION: LocalActivityOptions = {
  startToCloseTimeout: '2 seconds',
  retry: { maximumAttempts: 2, initialInterval: '100 milliseconds' },
};

/**
 * One call to a provider, safe to repeat under its reference. Heartbeats reveal a dead worker within seconds. After
 * the last attempt the workflow shows that it waits for the provider, and then starts over.
 */
export const PROVIDER_CALL: ActivityOptions = {
  taskQueue: TASK_QUEUES.providers,
  startToCloseTimeout: '30 seconds',
  heartbeatTimeout: '8 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '20 seconds', maximumAttempts: 7 },
};

/**
 * One screening by the built-in rules. A list that cannot be used is seldom usable a second later: few attempts,
 * then the workflow shows that it waits, and starts over.
 */
export const REVIEW: ActivityOptions = {
  taskQueue: TASK_QUEUES.providers,
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '8 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumAttempts: 3 },
};

/** One housekeeping task, which may read many rows. The next scheduled run repeats it anyway. */
export const UPKEEP: ActivityOptions = {
  taskQueue: TASK_QUEUES.providers,
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '20 seconds',
  retry: { initialInterval: '5 seconds', maximumAttempts: 3 },
};

/** The first ledger check reads every posting, so it may take long. */
export const LEDGER_CHECK: ActivityOptions = { ...UPKEEP, startToCloseTimeout: '70 minutes' };

/** Every due day of one provider with its whole statement; after an outage there may be many. */
export const RECONCILIATION: ActivityOptions = { ...UPKEEP, startToCloseTimeout: '6 hours' };

/** Hands one e-mail to the mail server, on the webhooks' queue: a slow mail server must not delay payments. */
export const MAIL: ActivityOptions = {
  taskQueue: TASK_QUEUES.webhooks,
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '8 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '20 seconds', maximumAttempts: 7 },
};

/** One run of a shard's deliveries, which ends by itself after a minute. A failing receiver never fails it. */
export const WEBHOOK_DELIVERY: ActivityOptions = {
  taskQueue: TASK_QUEUES.webhooks,
  startToCloseTimeout: '3 minutes',
  heartbeatTimeout: '8 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '20 seconds' },
};
