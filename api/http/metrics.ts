import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { providerCallMetrics } from '../../config/metrics/provider-calls.ts';
import { sharedFailureCounter } from '../../config/metrics/shared-failures.ts';

/**
 * Metrics of the API; the loops in its process have their own registry. Labels are routes, statuses and kinds, never
 * ids.
 */
export const registry = new Registry();

collectDefaultMetrics({ register: registry });

export const httpRequestSeconds = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Requests answered, and how long they took.',
  labelNames: ['method', 'route', 'status'] as const,
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  registers: [registry],
});

/** Counted from events since the process's first scrape. Every process counts all events: take the maximum, not the sum. */
export const transitionsTotal = new Counter({
  name: 'transitions_total',
  help: 'Changes committed, since the first scrape of the process. Every process counts all of them.',
  labelNames: ['module', 'type'] as const,
  registers: [registry],
});

/** `contended` ones and those of the way `transaction` are done in a transaction of their own. */
export const writesTotal = new Counter({
  name: 'writes_total',
  help: 'Writes that one statement can do, by how that went.',
  labelNames: ['way'] as const,
  registers: [registry],
});
for (const way of ['one-statement', 'contended', 'transaction']) writesTotal.inc({ way }, 0);

export const replicaReads = new Counter({
  name: 'replica_reads_total',
  help: 'Reads of lists, statements and exports that a replica was to answer: `read` there, or on the primary because it was `behind` or `away`.',
  labelNames: ['outcome'] as const,
  registers: [registry],
});
for (const outcome of ['read', 'behind', 'away']) replicaReads.inc({ outcome }, 0);

export const sharedStatementFailures = sharedFailureCounter(registry);

export const providerCalls = providerCallMetrics(registry);

export const directoryCertificateEnds = new Gauge({
  name: 'directory_certificate_ends_timestamp_seconds',
  help: 'When our certificate for a name directory ends; absent without one.',
  labelNames: ['directory'] as const,
  registers: [registry],
});

/** A timestamp, not an age, so that it shows a check that has stopped even while Postgres is unreachable. */
export const ledgerCheckEnded = new Gauge({
  name: 'ledger_check_timestamp_seconds',
  help: 'When housekeeping last checked the ledger, whatever it found; 0 if never. It is its first task.',
  registers: [registry],
});

export const ledgerCheckViolations = new Gauge({
  name: 'ledger_check_violations',
  help: 'Breaches that the last check of the ledger by housekeeping found, 1,000 at most.',
  registers: [registry],
});

export const reconciliationBreaksOpen = new Gauge({
  name: 'reconciliation_breaks_open',
  help: 'Open differences between the books of providers and ours.',
  registers: [registry],
});

/** Alert if a position falls two days behind. */
export const reconciliationComparedDay = new Gauge({
  name: 'reconciliation_compared_day_timestamp_seconds',
  help: 'Beginning (UTC) of the last day that was compared with our ledger.',
  labelNames: ['provider', 'currency'] as const,
  registers: [registry],
});

/** By the real clock, as ids are. */
export const tableDaysLeft = new Gauge({
  name: 'table_days_left',
  help: 'For how many days a table that grows by months can be written to: months are made ahead by the migration.',
  labelNames: ['table'] as const,
  registers: [registry],
});

export const tableMonthsOver = new Gauge({
  name: 'table_months_over',
  help: 'Months of tables that were kept for their time, and that the migration has yet to remove.',
  registers: [registry],
});
