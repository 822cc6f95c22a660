import type { Reader } from '../../../db/driver/client.ts';

/** How many sessions of the database wait for a lock right now. Not for inside of a transaction, which sees one moment of it. */
export async function lockWaiters(reader: Reader): Promise<number> {
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
