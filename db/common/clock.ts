import type { Reader } from '../query/database.ts';
import { Query } from '../query/queries.ts';

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
 * Resolves if a transaction could write now. Postgres itself rejects the lock where it takes no writes, as on a hot standby or a
 * demoted primary: that also ends the connection, so that the next probe sees a change of primary.
 */
export async function requireWrites(reader: Reader): Promise<void> {
  await reader.statement('SELECT service_now() FROM ledger_checks WHERE false FOR UPDATE', []);
}
