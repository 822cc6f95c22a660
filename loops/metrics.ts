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

export const webhookBacklog = new Gauge({
  name: 'webhook_backlog',
  help: 'Deliveries that are due and not yet made.',
  registers: [loopMetrics],
});

export const webhookSubscriptionsDisabled = new Gauge({
  name: 'webhook_subscriptions_disabled',
  help: 'Subscriptions that the service disabled: the receiver is gone, or failed for days.',
  registers: [loopMetrics],
});
