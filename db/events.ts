import { sql } from 'drizzle-orm';
import { stringify } from 'lossless-json';
import type { Transaction } from './client.ts';
import { newId } from './ids.ts';

/** The resources that have events; also the webhook modules (specification 6, and three beyond it). */
export type EventModule =
  | 'incoming-transfers'
  | 'outgoing-transfers'
  | 'accounts'
  | 'clients'
  | 'users'
  | 'beneficiaries';

/** What one event shows differently from the unchanging fields of its resource's row (for accounts and clients: all). */
export interface EventEntry {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const EVENT_TABLES = {
  'incoming-transfers': sql`incoming_transfers`,
  'outgoing-transfers': sql`outgoing_transfers`,
  accounts: sql`accounts`,
  clients: sql`clients`,
  users: sql`users`,
  beneficiaries: sql`beneficiaries`,
} as const;

/** An id whose last hexadecimal digit is 0: entry k of the row is the event `id + k`. */
export function newEventRowId(): string {
  return `${newId().slice(0, -1)}0`;
}

/**
 * Appends what a transition tells, in its own transaction and under its resource's lock: the sequence per resource is
 * taken from the resource's row. Entries keep their order. At most 16.
 */
export async function appendEvents(
  tx: Transaction,
  event: { module: EventModule; resourceId: string; occurredAt: Date; entries: readonly EventEntry[] },
): Promise<void> {
  const { module, resourceId, occurredAt, entries } = event;
  if (entries.length === 0) return;
  await tx.execute(sql`
    WITH resource AS (
      UPDATE ${EVENT_TABLES[module]} SET event_sequence = event_sequence + ${entries.length}
      WHERE id = ${resourceId} RETURNING event_sequence - ${entries.length} + 1 AS first_sequence
    )
    INSERT INTO events (id, entry_count, module, resource_id, first_sequence, occurred_at, entries)
    SELECT ${newEventRowId()}::uuid, ${entries.length}, ${module}, ${resourceId}::uuid, first_sequence,
      ${occurredAt.toISOString()}::timestamptz, ${stringify(entries) ?? '[]'}::json
    FROM resource`);
}
