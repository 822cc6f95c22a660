import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { providerCallMetrics } from '../../config/metrics/provider-calls.ts';
import { sharedFailureCounter } from '../../config/metrics/shared-failures.ts';

/**
 * Metrics of the API; those of the loops in its process are beside them. Labels are routes, statuses and kinds, never
 * ids.
 */
export const registry = new Registry();

collectDefaultMetrics({ register: registry });

export const httpRequestSeconds = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Requests answered, by route and status.',
  labelNames: ['method', 'route', 'status'] as const,
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  registers: [registry],
});

/** Counted by events since this process's first scrape; every process counts all, so take the maximum, not the sum. */
export const transitionsTotal = new Counter({
  name: 'transitions_total',
  help: 'Status changes committed, by module and type of their event. Every process counts all of them.',
  labelNames: ['module', 'type'] as const,
  registers: [registry],
});

/** Alone: its row was locked, it was refused, or one that it shared with failed. */
export const writesTotal = new Counter({
  name: 'writes_total',
  help: 'Writes that may share a transaction, by whether they did.',
  labelNames: ['transaction'] as const,
  registers: [registry],
});
for (const transaction of ['shared', 'alone']) writesTotal.inc({ transaction }, 0);

export const sharedStatementFailures = sharedFailureCounter(registry);

export const providerCalls = providerCallMetrics(registry);

/** A timestamp and no age, so that it shows a check that no longer runs also while Postgres cannot be read. */
export const ledgerCheckEnded = new Gauge({
  name: 'ledger_check_timestamp_seconds',
  help: 'When housekeeping last checked the ledger, whatever it found; 0 if never.',
  registers: [registry],
});

export const ledgerCheckViolations = new Gauge({
  name: 'ledger_check_violations',
  help: 'Breaches that the last check of the ledger by housekeeping found, 1,000 at most.',
  registers: [registry],
});

export const reconciliationBreaksOpen = new Gauge({
  name: 'reconciliation_breaks_open',
  help: 'Unresolved differences between the books of providers and ours.',
  registers: [registry],
});

/** Alert if a position falls two days behind. */
export const reconciliationComparedDay = new Gauge({
  name: 'reconciliation_compared_day_timestamp_seconds',
  help: 'Beginning (UTC) of the last day of a provider and currency that has been compared with our ledger.',
  labelNames: ['provider', 'currency'] as const,
  registers: [registry],
});
