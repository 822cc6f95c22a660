import type { Reader } from '../driver/client.ts';

/** The service's time. Read it after a transaction's locks, so that a later lock holder never sees an earlier time. */
export async function readClock(tx: Reader): Promise<Date> {
  const [row] = await tx.statement<{ now: Date }>('SELECT service_now() AS now', []);
  if (row === undefined) throw new Error('service_now() returned no row');
  return row.now;
}

/** Whether a transaction could record something now: Postgres tells the time and is not read-only, as a hot standby or a demoted primary is. */
export async function acceptsWrites(reader: Reader): Promise<boolean> {
  const [row] = await reader.statement<{ accepts: boolean }>(
    `SELECT service_now() IS NOT NULL AND current_setting('transaction_read_only') = 'off' AS accepts`,
    [],
  );
  return row?.accepts === true;
}
