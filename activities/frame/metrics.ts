import { Counter, collectDefaultMetrics, Registry } from 'prom-client';
import type { MetricsText } from '../../config/metrics/metrics-server.ts';
import { sharedFailureCounter } from '../../config/metrics/shared-failures.ts';

/** A worker's metrics. Labels are kinds, never ids. */
export const registry = new Registry();

collectDefaultMetrics({ register: registry });

export const webhookAttemptsTotal = new Counter({
  name: 'webhook_attempts_total',
  help: 'Attempts to deliver a webhook, by what became of the delivery.',
  labelNames: ['status'] as const,
  registers: [registry],
});

export const sharedStatementFailures = sharedFailureCounter(registry);

export async function workerMetricsText(): Promise<MetricsText> {
  return { text: await registry.metrics(), contentType: registry.contentType };
}
