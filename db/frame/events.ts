import { stringify } from 'lossless-json';
import type { EventEntry } from '../../domain/frame/events.ts';
import type { Transaction } from '../driver/client.ts';
import { type ListStatement, noResults } from '../driver/queries/list-statements.ts';
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

interface AppendedEvent extends Omit<Event, 'module'> {
  readonly id: string;
}

// Constant texts: nearly every transition appends events. A resource's rows are numbered in order, so it has one in a statement.
const APPEND: Readonly<Record<EventModule, ListStatement<AppendedEvent, undefined>>> = {
  'incoming-transfers': appendTo('incoming-transfers', 'incoming_transfers'),
  'outgoing-transfers': appendTo('outgoing-transfers', 'outgoing_transfers'),
  accounts: appendTo('accounts', 'accounts'),
  clients: appendTo('clients', 'clients'),
  'open-banking-consents': appendTo('open-banking-consents', 'open_banking_consents'),
  users: appendTo('users', 'users'),
  beneficiaries: appendTo('beneficiaries', 'beneficiaries'),
};

function appendTo(module: EventModule, table: string): ListStatement<AppendedEvent, undefined> {
  return {
    text: `WITH appended AS (
        SELECT * FROM json_to_recordset($1::json)
          AS appended (id uuid, resource_id uuid, entry_count smallint, occurred_at timestamptz, entries json)
      ), resource AS (
        UPDATE ${table} SET event_sequence = event_sequence + entry_count FROM appended
        WHERE ${table}.id = resource_id AND ${table}.id = ANY ((SELECT $2::uuid[])::uuid[])
        RETURNING appended.*, event_sequence - entry_count + 1 AS first_sequence
      )
      INSERT INTO events (id, entry_count, module, resource_id, first_sequence, occurred_at, entries)
      SELECT id, entry_count, '${module}', resource_id, first_sequence, occurred_at, entries FROM resource`,
    stage: 'events',
    paramsOf: (events) => [stringify(events.map(rowOf)) ?? '[]', events.map(({ resourceId }) => resourceId)],
    resultsOf: noResults,
    goesWith: ({ resourceId }, before) => !before.some((event) => event.resourceId === resourceId),
  };
}

type FirstEvent = AppendedEvent & Pick<Event, 'module'>;

const APPEND_FIRST: ListStatement<FirstEvent, undefined> = {
  text: `INSERT INTO events (id, entry_count, module, resource_id, first_sequence, occurred_at, entries)
    SELECT id, entry_count, module, resource_id, 1, occurred_at, entries FROM json_to_recordset($1::json)
      AS appended (id uuid, module text, resource_id uuid, entry_count smallint, occurred_at timestamptz, entries json)`,
  stage: 'events',
  paramsOf: (events) => [stringify(events.map((event) => ({ ...rowOf(event), module: event.module }))) ?? '[]'],
  resultsOf: noResults,
};

/** The first event of a resource that this transaction inserts, with `FIRST_SEQUENCE`: its row need not be written again. */
export function appendFirstEvent(
  tx: Transaction,
  { entry, ...event }: Omit<Event, 'entries'> & { entry: EventEntry },
): void {
  tx.sendEach(APPEND_FIRST, [{ ...event, entries: [entry], id: newEventRowId() }]);
}

/** What a row is inserted with whose first event goes with it. */
export const FIRST_SEQUENCE = { eventSequence: 1n } as const;

function rowOf({ id, resourceId, occurredAt, entries }: AppendedEvent) {
  return {
    id,
    resource_id: resourceId,
    entry_count: entries.length,
    occurred_at: occurredAt.toISOString(),
    entries,
  };
}

/** Appends a transition's events with its commit. The resource's row, which the caller has locked, numbers them. */
export function appendEvents(tx: Transaction, { module, ...event }: Event): void {
  appendEventsToEach(tx, module, [event]);
}

/** Likewise the events of several resources of a module. */
export function appendEventsToEach(
  tx: Transaction,
  module: EventModule,
  events: readonly Omit<Event, 'module'>[],
): void {
  const rows = events.filter(({ entries }) => entries.length > 0).map((event) => ({ ...event, id: newEventRowId() }));
  tx.sendEach(APPEND[module], rows);
}
