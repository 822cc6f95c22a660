import type { Reader } from '../../../db/query/database.ts';

/** How many sessions of the database wait for a lock right now, also as seen from inside of a transaction. */
export async function lockWaiters(reader: Pick<Reader, 'statement'>): Promise<number> {
  await reader.statement('SELECT pg_stat_clear_snapshot()', []);
  const [row] = await reader.statement<{ number: number }>(
    `SELECT count(*)::integer AS number FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    [],
  );
  return row?.number ?? 0;
}

/** Something that one part of a test waits for until another opens it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
