import type { Reader } from '../../../db/query/database.ts';
import { STATE_TABLES } from './state-tables.ts';

/** Resources whose statuses only the service's own transitions change, in tests too. */
const MODULES = ['outgoing-transfers', 'incoming-transfers', 'open-banking-consents'] as const;

/**
 * Status changes in the events of transfers and consents that their transition tables do not allow, whether domain/, a statement or
 * an SQL function made them.
 */
export async function illegalTransitions(reader: Reader): Promise<string[]> {
  const rows = await reader.statement<{
    module: (typeof MODULES)[number];
    resourceId: string;
    entries: { data: { status: string } }[];
  }>(
    `SELECT module, resource_id AS "resourceId", entries FROM events WHERE module = ANY ($1::text[])
     ORDER BY resource_id, first_sequence`,
    [MODULES],
  );
  const last = new Map<string, string>();
  const illegal: string[] = [];
  for (const { module, resourceId, entries } of rows) {
    const { begins, moves }: { begins: string; moves: Readonly<Record<string, readonly string[]>> } =
      STATE_TABLES[module];
    for (const { data } of entries) {
      const before = last.get(resourceId);
      const legal =
        before === undefined
          ? data.status === begins
          : before === data.status || (moves[before] ?? []).includes(data.status);
      if (!legal) illegal.push(`${module} ${resourceId}: ${before ?? 'nothing'} to ${data.status}`);
      last.set(resourceId, data.status);
    }
  }
  return illegal;
}
