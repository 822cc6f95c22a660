import type { Reader } from '../driver/client.ts';

/** The service's time. Read it after a transaction's locks, so that a later lock holder never sees an earlier time. */
export async function readClock(tx: Reader): Promise<Date> {
  const [row] = await tx.statement<{ now: Date }>('SELECT service_now() AS now', []);
  if (row === undefined) throw new Error('service_now() returned no row');
  return row.now;
}

/**
 * Resolves if a transaction could record something now. Postgres itself refuses the lock where it takes no writes, as a hot
 * standby or a demoted primary does: that ends the connection too, so that the next probe sees what has changed.
 */
export async function requireWrites(reader: Reader): Promise<void> {
  await reader.statement('SELECT service_now() FROM ledger_checks WHERE false FOR UPDATE', []);
}
