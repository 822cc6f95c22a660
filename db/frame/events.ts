import { stringify } from 'lossless-json';
import type { EventEntry } from '../../domain/frame/events.ts';
import type { Transaction } from '../driver/client.ts';
import { newId } from './ids.ts';

/** The resources that have events; also the webhook modules (specification 6, and three beyond it). */
export type EventModule =
  | 'incoming-transfers'
  | 'outgoing-transfers'
  | 'accounts'
  | 'clients'
  | 'users'
  | 'beneficiaries';

/** An id whose last hexadecimal digit is 0: entry k of the row is the event `id + k`. */
export function newEventRowId(): string {
  return `${newId().slice(0, -1)}0`;
}

interface Event {
  readonly module: EventModule;
  readonly resourceId: string;
  readonly occurredAt: Date;
  /** At most 16; they keep their order. */
  readonly entries: readonly EventEntry[];
}

// Statements as text, made once: nearly every transition appends events.
const COLUMNS = 'id, entry_count, module, resource_id, first_sequence, occurred_at, entries';
const APPEND: Readonly<Record<EventModule, string>> = {
  'incoming-transfers': appendTo('incoming-transfers', 'incoming_transfers'),
  'outgoing-transfers': appendTo('outgoing-transfers', 'outgoing_transfers'),
  accounts: appendTo('accounts', 'accounts'),
  clients: appendTo('clients', 'clients'),
  users: appendTo('users', 'users'),
  beneficiaries: appendTo('beneficiaries', 'beneficiaries'),
};

function appendTo(module: EventModule, table: string): string {
  return `WITH resource AS (
      UPDATE ${table} SET event_sequence = event_sequence + $2::smallint
      WHERE id = $3::uuid RETURNING event_sequence - $2::smallint + 1 AS first_sequence
    )
    ${insertOfNextEvents(module, 0)}`;
}

/**
 * The text of an INSERT of the next events of a resource, whose row the statement before it, named `resource`, updates,
 * answering their `first_sequence`. Its parameters, those of `eventsValues`, begin after `last`.
 */
export function insertOfNextEvents(module: EventModule, last: number): string {
  return `${insertOfEvents(module, last, 'first_sequence')} FROM resource`;
}

function insertOfEvents(module: EventModule, last: number, firstSequence: string): string {
  const [id, count, resource, at, entries] = [1, 2, 3, 4, 5].map((number) => `$${last + number}`);
  return `INSERT INTO events (${COLUMNS})
    SELECT ${id}::uuid, ${count}::smallint, '${module}', ${resource}::uuid, ${firstSequence}, ${at}::timestamptz, ${entries}::json`;
}

/**
 * Appends what a transition tells, in its own transaction and under its resource's lock: the sequence per resource is
 * taken from the resource's row.
 */
export async function appendEvents(tx: Transaction, event: Event): Promise<void> {
  if (event.entries.length === 0) return;
  await tx.statement(APPEND[event.module], eventsValues(event));
}

/**
 * The text of an INSERT of the first events of a resource whose row is inserted with an event_sequence of as many; its
 * parameters, those of `eventsValues`, begin after `last`.
 */
export function insertOfFirstEvents(module: EventModule, last: number): string {
  return insertOfEvents(module, last, '1');
}

/** How many parameters those INSERTs have. */
export const EVENTS_PARAMETERS = 5;

export function eventsValues({ resourceId, occurredAt, entries }: Omit<Event, 'module'>): unknown[] {
  return [newEventRowId(), entries.length, resourceId, occurredAt, stringify(entries) ?? '[]'];
}
