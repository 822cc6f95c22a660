import { Gauge, Registry } from 'prom-client';

/** Metrics of the loops, exposed by the process that runs them. */
export const loopMetrics = new Registry();

export const relayLagSeconds = new Gauge({
  name: 'relay_lag_seconds',
  help: 'Age of the oldest wake-up that Temporal has not got.',
  registers: [loopMetrics],
});

export const relayParkedWakeups = new Gauge({
  name: 'relay_parked_wakeups',
  help: 'Wake-ups that Temporal found invalid and that wait for an operator.',
  registers: [loopMetrics],
});

export const eventNumberingLagSeconds = new Gauge({
  name: 'event_numbering_lag_seconds',
  help: 'Age of the oldest event without a position, which no subscriber has got.',
  registers: [loopMetrics],
});

/** A timestamp and no age, so that it shows a loop that hangs as well. */
export const loopLastSuccess = new Gauge({
  name: 'loop_last_success_timestamp_seconds',
  help: 'When a loop of this process last looked for work without a failure, by loop. Its start counts as the first time.',
  labelNames: ['loop'] as const,
  registers: [loopMetrics],
});

export const webhookBacklog = new Gauge({
  name: 'webhook_backlog',
  help: 'Deliveries that are due and not yet made.',
  registers: [loopMetrics],
});

export const webhookUndelivered = new Gauge({
  name: 'webhook_undelivered',
  help: 'Deliveries that are not made yet, also those that wait for another attempt; 10,000 at most.',
  registers: [loopMetrics],
});

export const webhookUndeliveredOldestSeconds = new Gauge({
  name: 'webhook_undelivered_oldest_seconds',
  help: 'Age of the oldest delivery that is not made yet; 0 without one.',
  registers: [loopMetrics],
});

export const webhookSubscriptionsFailing = new Gauge({
  name: 'webhook_subscriptions_failing',
  help: 'Active subscriptions of which no delivery has succeeded since one failed.',
  registers: [loopMetrics],
});

export const webhookSubscriptionsFailingOldestSeconds = new Gauge({
  name: 'webhook_subscriptions_failing_oldest_seconds',
  help: 'For how long the one of them that has failed longest has failed; 0 without one.',
  registers: [loopMetrics],
});

export const webhookSubscriptionsDisabled = new Gauge({
  name: 'webhook_subscriptions_disabled',
  help: 'Subscriptions that the service disabled: the receiver is gone, or failed for days.',
  registers: [loopMetrics],
});
