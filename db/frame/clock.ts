import type { Reader } from '../driver/client.ts';

/** The service's time. Read it after a transaction's locks, so that a later lock holder never sees an earlier time. */
export async function readClock(tx: Reader): Promise<Date> {
  const [row] = await tx.statement<{ now: Date }>('SELECT service_now() AS now', []);
  if (row === undefined) throw new Error('service_now() returned no row');
  return row.now;
}
