import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { MetricsText } from '../../config/metrics/metrics-server.ts';
import { providerCallMetrics } from '../../config/metrics/provider-calls.ts';
import { sharedFailureCounter } from '../../config/metrics/shared-failures.ts';

/** A worker's metrics. Labels are kinds, never ids. */
export const registry = new Registry();

collectDefaultMetrics({ register: registry });

export const webhookAttemptsTotal = new Counter({
  name: 'webhook_attempts_total',
  help: 'Attempts to deliver a webhook, by the status of the delivery afterwards.',
  labelNames: ['status'] as const,
  registers: [registry],
});

export const sharedStatementFailures = sharedFailureCounter(registry);

export const providerCalls = providerCallMetrics(registry);

export const nameListFailures = new Counter({
  name: 'compliance_name_list_failures_total',
  help: 'Name list files that could not be used, by rule.',
  labelNames: ['rule'] as const,
  registers: [registry],
});

const nameListEntities = new Gauge({
  name: 'compliance_name_list_entities',
  help: 'Entities of the list of names in use.',
  labelNames: ['rule'] as const,
  registers: [registry],
});

const nameListModified = new Gauge({
  name: 'compliance_name_list_modified_timestamp_seconds',
  help: 'When the file of the list of names in use was last modified.',
  labelNames: ['rule'] as const,
  registers: [registry],
});

export const taskQueueBacklog = new Gauge({
  name: 'task_queue_backlog',
  help: 'Tasks that wait in a task queue of Temporal, about; sticky ones are not counted.',
  labelNames: ['task_queue'] as const,
  registers: [registry],
});

export const taskQueueLagSeconds = new Gauge({
  name: 'task_queue_lag_seconds',
  help: 'How long the oldest task has waited in a task queue of Temporal.',
  labelNames: ['task_queue'] as const,
  registers: [registry],
});

export function measureNameList(
  rule: string,
  list: { readonly entityCount: number; readonly modifiedMs: number },
): void {
  // Counters start at 0, so that the first rejected file shows as an increase.
  nameListFailures.inc({ rule }, 0);
  nameListEntities.set({ rule }, list.entityCount);
  nameListModified.set({ rule }, list.modifiedMs / 1000);
}

export async function workerMetricsText(): Promise<MetricsText> {
  return { text: await registry.metrics(), contentType: registry.contentType };
}
