import { stringify } from 'lossless-json';
import type { EventEntry } from '../../domain/frame/events.ts';
import { sendWithCommit, type Transaction } from '../driver/client.ts';
import { newId } from './ids.ts';

/** The resources with events, which are also the webhook modules (specification 6, and three beyond it). */
export type EventModule =
  | 'incoming-transfers'
  | 'outgoing-transfers'
  | 'accounts'
  | 'clients'
  | 'open-banking-consents'
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
  /** At most 16, in order. */
  readonly entries: readonly EventEntry[];
}

// Constant texts: nearly every transition appends events.
const APPEND: Readonly<Record<EventModule, string>> = {
  'incoming-transfers': appendTo('incoming-transfers', 'incoming_transfers'),
  'outgoing-transfers': appendTo('outgoing-transfers', 'outgoing_transfers'),
  accounts: appendTo('accounts', 'accounts'),
  clients: appendTo('clients', 'clients'),
  'open-banking-consents': appendTo('open-banking-consents', 'open_banking_consents'),
  users: appendTo('users', 'users'),
  beneficiaries: appendTo('beneficiaries', 'beneficiaries'),
};

function appendTo(module: EventModule, table: string): string {
  return `WITH resource AS (
      UPDATE ${table} SET event_sequence = event_sequence + $2::smallint
      WHERE id = $3::uuid RETURNING event_sequence - $2::smallint + 1 AS first_sequence
    )
    INSERT INTO events (id, entry_count, module, resource_id, first_sequence, occurred_at, entries)
    SELECT $1::uuid, $2::smallint, '${module}', $3::uuid, first_sequence, $4::timestamptz, $5::json FROM resource`;
}

/** Appends a transition's events with its commit. The resource's row, which the caller has locked, numbers them. */
export function appendEvents(tx: Transaction, event: Event): void {
  if (event.entries.length === 0) return;
  sendWithCommit(tx.statement(APPEND[event.module], eventsValues(event)));
}

/** Modules of which one transaction changes many resources. */
type ManyAtOnce = 'accounts' | 'open-banking-consents';

const APPEND_TO_EACH: Readonly<Record<ManyAtOnce, string>> = {
  accounts: appendToEach('accounts', 'accounts'),
  'open-banking-consents': appendToEach('open-banking-consents', 'open_banking_consents'),
};

// The rows of the events go as one text, however many resources there are.
function appendToEach(module: ManyAtOnce, table: string): string {
  return `WITH appended AS (
      SELECT * FROM json_to_recordset($1::json) AS appended (id uuid, resource_id uuid, entry_count smallint, entries json)
    ), resource AS (
      UPDATE ${table} SET event_sequence = event_sequence + entry_count FROM appended
      WHERE ${table}.id = resource_id RETURNING appended.*, event_sequence - entry_count + 1 AS first_sequence
    )
    INSERT INTO events (id, entry_count, module, resource_id, first_sequence, occurred_at, entries)
    SELECT id, entry_count, '${module}', resource_id, first_sequence, $2::timestamptz, entries FROM resource`;
}

/** Likewise the events of several resources, which the caller has locked, in one statement. */
export function appendEventsToEach(
  tx: Transaction,
  module: ManyAtOnce,
  events: readonly { readonly resourceId: string; readonly entries: readonly EventEntry[] }[],
  occurredAt: Date,
): void {
  const rows = events.map(({ resourceId, entries }) => ({
    id: newEventRowId(),
    resource_id: resourceId,
    entry_count: entries.length,
    entries,
  }));
  sendWithCommit(tx.statement(APPEND_TO_EACH[module], [stringify(rows) ?? '[]', occurredAt]));
}

function eventsValues({ resourceId, occurredAt, entries }: Omit<Event, 'module'>): unknown[] {
  return [newEventRowId(), entries.length, resourceId, occurredAt, stringify(entries) ?? '[]'];
}
