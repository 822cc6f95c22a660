import { stringify } from 'lossless-json';
import type { EventEntry } from '../../domain/common/events.ts';
import type { Transaction } from '../query/database.ts';
import { type ListStatement, noResults, type RowWriter, rowKey } from '../query/list-statements.ts';
import { writing } from '../query/row-writers.ts';
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
  readonly traceparent: string | undefined;
}

// Constant texts: nearly every transition appends events. A resource has one in a statement, which numbers them.
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
          AS appended (id uuid, resource_id uuid, entry_count smallint, occurred_at timestamptz, entries json, traceparent text)
      ), resource AS (
        UPDATE ${table} SET event_sequence = event_sequence + entry_count FROM appended
        WHERE ${table}.id = resource_id AND ${table}.id = ANY ((SELECT $2::uuid[])::uuid[])
        RETURNING appended.*, event_sequence - entry_count + 1 AS first_sequence
      )
      INSERT INTO events (id, entry_count, module, resource_id, first_sequence, occurred_at, entries, traceparent)
      SELECT id, entry_count, '${module}', resource_id, first_sequence, occurred_at, entries, traceparent FROM resource`,
    stage: 'events',
    paramsOf: (events) => [stringify(events.map(rowOf)) ?? '[]', events.map(({ resourceId }) => resourceId)],
    resultsOf: noResults,
    changes: ({ resourceId }) => rowKey(table, resourceId),
    // The row was read under a guard, so its number is known.
    handOver: (event, rows) => {
      const last = rows.add(table, event.resourceId, 'eventSequence', event.entries.length);
      rows.append(NUMBERED, { ...event, module, firstSequence: last + 1n });
    },
  };
}

type NumberedEvent = AppendedEvent & Pick<Event, 'module'> & { readonly firstSequence: bigint };

const NUMBERED: RowWriter<NumberedEvent> = {
  name: 'events',
  stage: 'events',
  columns:
    'id uuid, module text, resource_id uuid, first_sequence bigint, entry_count smallint, occurred_at timestamptz, entries json, traceparent text',
  recordOf: (event) =>
    stringify({ ...rowOf(event), module: event.module, first_sequence: event.firstSequence }) ?? '{}',
  textOf: (
    rows,
  ) => `INSERT INTO events (id, entry_count, module, resource_id, first_sequence, occurred_at, entries, traceparent)
    SELECT id, entry_count, module, resource_id, first_sequence, occurred_at, entries, traceparent FROM ${rows}`,
};

const APPEND_NUMBERED = writing(NUMBERED);

/** The first event of a resource that this transaction inserts, with `FIRST_SEQUENCE`: its row need not be written again. */
export function appendFirstEvent(
  tx: Transaction,
  { entry, ...event }: Omit<Event, 'entries'> & { entry: EventEntry },
): void {
  const { traceparent } = tx;
  tx.sendEach(APPEND_NUMBERED, [{ ...event, entries: [entry], id: newEventRowId(), firstSequence: 1n, traceparent }]);
}

/** Inserted with a row whose first event is appended with it. */
export const FIRST_SEQUENCE = { eventSequence: 1n } as const;

function rowOf({ id, resourceId, occurredAt, entries, traceparent }: AppendedEvent) {
  return {
    id,
    resource_id: resourceId,
    entry_count: entries.length,
    occurred_at: occurredAt.toISOString(),
    entries,
    traceparent,
  };
}

/** Appends a transition's events with its commit. They are numbered by the resource's row, which the caller has locked. */
export function appendEvents(tx: Transaction, { module, ...event }: Event): void {
  appendEventsToEach(tx, module, [event]);
}

/** As appendEvents, for several resources of a module. */
export function appendEventsToEach(
  tx: Transaction,
  module: EventModule,
  events: readonly Omit<Event, 'module'>[],
): void {
  const { traceparent } = tx;
  const rows = events
    .filter(({ entries }) => entries.length > 0)
    .map((event) => ({ ...event, id: newEventRowId(), traceparent }));
  tx.sendEach(APPEND[module], rows);
}
