import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { MetricsText } from '../../config/metrics/metrics-server.ts';
import { providerCallMetrics } from '../../config/metrics/provider-calls.ts';
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

export const providerCalls = providerCallMetrics(registry);

export const nameListFailures = new Counter({
  name: 'compliance_name_list_failures_total',
  help: 'Files of name rules that could not be used, each version once. The list before stays in use.',
  labelNames: ['rule'] as const,
  registers: [registry],
});

const nameListEntities = new Gauge({
  name: 'compliance_name_list_entities',
  help: 'Entities of the list in use, by name rule.',
  labelNames: ['rule'] as const,
  registers: [registry],
});

const nameListModified = new Gauge({
  name: 'compliance_name_list_modified_timestamp_seconds',
  help: 'When the file of the list in use was last modified, by name rule; its age is the time since.',
  labelNames: ['rule'] as const,
  registers: [registry],
});

export function measureNameList(
  rule: string,
  list: { readonly entityCount: number; readonly modifiedMs: number },
): void {
  // An increase begins at 0: otherwise the first refused file would not count.
  nameListFailures.inc({ rule }, 0);
  nameListEntities.set({ rule }, list.entityCount);
  nameListModified.set({ rule }, list.modifiedMs / 1000);
}

export async function workerMetricsText(): Promise<MetricsText> {
  return { text: await registry.metrics(), contentType: registry.contentType };
}
