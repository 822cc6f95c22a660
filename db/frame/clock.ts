import type { Reader } from '../driver/client.ts';
import { Query } from '../driver/queries/queries.ts';

const NOW = new Query<object, { readonly now: Date }>(
  'select service_now() as now',
  [],
  [{ group: null, name: 'now' }],
);

/** The service's time. Read it after a transaction's locks, so that a later lock holder never sees an earlier time. */
export async function readClock(tx: Reader): Promise<Date> {
  const row = await tx.first(NOW, {});
  if (row === null) throw new Error('service_now() returned no row');
  return row.now;
}

/**
 * Resolves if a transaction could record something now. Postgres itself refuses the lock where it takes no writes, as a hot
 * standby or a demoted primary does: that ends the connection too, so that the next probe sees what has changed.
 */
export async function requireWrites(reader: Reader): Promise<void> {
  await reader.statement('SELECT service_now() FROM ledger_checks WHERE false FOR UPDATE', []);
}
