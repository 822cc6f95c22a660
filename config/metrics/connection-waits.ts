import { Histogram, type Registry } from 'prom-client';

/** Times the waits for connections to Postgres in this process's metrics. Pools are named as in `pg_stat_activity`. */
export function connectionWaits(registry: Registry, pools: readonly string[]) {
  const waits = new Histogram({
    name: 'database_connection_wait_seconds',
    help: 'Waits for a connection to Postgres, of calls that found none free.',
    labelNames: ['pool'] as const,
    buckets: [0.001, 0.01, 0.1, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  // An increase begins at a sample of 0.
  for (const pool of pools) waits.zero({ pool });
  return (pool: string, seconds: number): void => waits.observe({ pool }, seconds);
}
