import { Gauge, Registry } from 'prom-client';

/** Metrics of the loops, exposed by the process that runs them. */
export const loopMetrics = new Registry();

export const relayLagSeconds = new Gauge({
  name: 'relay_lag_seconds',
  help: 'Age of the oldest wake-up that Temporal has not received.',
  registers: [loopMetrics],
});

export const relayParkedWakeups = new Gauge({
  name: 'relay_parked_wakeups',
  help: 'Wake-ups that Temporal found invalid and that wait for an operator.',
  registers: [loopMetrics],
});

export const eventNumberingLagSeconds = new Gauge({
  name: 'event_numbering_lag_seconds',
  help: 'Age of the oldest event without a position, which subscribers do not have yet.',
  registers: [loopMetrics],
});

export const bankFilesSetAside = new Gauge({
  name: 'bank_files_set_aside',
  help: 'Files of banks, or for them, that are set aside and wait for a person.',
  registers: [loopMetrics],
});

export const bankFilesUndeliveredOldestSeconds = new Gauge({
  name: 'bank_files_undelivered_oldest_seconds',
  help: 'Age of the oldest file for a bank whose delivery is not proven; 0 without one.',
  registers: [loopMetrics],
});

export const bankPaymentsSilent = new Gauge({
  name: 'bank_payments_silent',
  help: 'Payments in delivered files of which the bank should have told more, and held payments.',
  registers: [loopMetrics],
});

export const bankSumsWithoutDetails = new Gauge({
  name: 'bank_sums_without_details',
  help: 'Batches that a bank booked as one sum more than three days ago, without telling what is in them.',
  registers: [loopMetrics],
});

export const bankPaymentsToConfirm = new Gauge({
  name: 'bank_payments_to_confirm',
  help: 'Payments that wait for a confirmation at the bank, after its payee check.',
  registers: [loopMetrics],
});

export const bankStatementsMissing = new Gauge({
  name: 'bank_statements_missing',
  help: 'Currencies of a bank with files whose next day to compare has no camt.053, past its time.',
  labelNames: ['provider'] as const,
  registers: [loopMetrics],
});

export const bankPgpKeyEnds = new Gauge({
  name: 'bank_pgp_key_ends_timestamp_seconds',
  help: 'When a PGP key of ours or of a bank can no longer be used; 0 for a revoked one, absent for one that does not expire.',
  labelNames: ['provider', 'owner', 'fingerprint'] as const,
  registers: [loopMetrics],
});

/** A timestamp rather than an age, so that it also shows a loop that hangs. */
export const loopLastSuccess = new Gauge({
  name: 'loop_last_success_timestamp_seconds',
  help: 'When a loop of this process last looked for work without a failure; its start counts.',
  labelNames: ['loop'] as const,
  registers: [loopMetrics],
});

export const webhookBacklog = new Gauge({
  name: 'webhook_backlog',
  help: 'Deliveries whose next attempt is due, 10,000 at most.',
  registers: [loopMetrics],
});

export const webhookUndelivered = new Gauge({
  name: 'webhook_undelivered',
  help: 'Deliveries that are not made yet, 10,000 at most.',
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
  help: 'For how long the oldest failing subscription has failed; 0 without one.',
  registers: [loopMetrics],
});

export const webhookSubscriptionsDisabled = new Gauge({
  name: 'webhook_subscriptions_disabled',
  help: 'Subscriptions that the service disabled.',
  registers: [loopMetrics],
});
