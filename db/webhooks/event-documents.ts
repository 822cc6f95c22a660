import { and, isNotNull, sql } from 'drizzle-orm';
import { isLosslessNumber, type LosslessNumber, parse, stringify } from 'lossless-json';
import * as v from 'valibot';
import { type AccountId, asId, type ClientId, type Id, type IncomingTransferId } from '../../domain/common/ids.ts';
import { formatDateTime } from '../../domain/common/time/dates.ts';
import type { ChangingIncomingField } from '../../domain/incoming-transfers/events.ts';
import { HOLD_REASONS, INCOMING_TRANSFER_STATUSES } from '../../domain/incoming-transfers/incoming-transfers.ts';
import { type ChangingOutgoingField, LATER_OUTGOING_FIELDS } from '../../domain/outgoing-transfers/rows.ts';
import { OUTGOING_TRANSFER_STATUSES } from '../../domain/outgoing-transfers/statuses.ts';
import { eventLogStart, events } from '../common/schema.ts';
import { SHOWN_TRANSFERS as INCOMING, shown as showIncoming } from '../incoming-transfers/reads.ts';
import { SHOWN_TRANSFERS as OUTGOING, shown as showOutgoing } from '../outgoing-transfers/reads.ts';
import type { Reader } from '../query/database.ts';
import { type Given, prepared, type RowOf } from '../query/queries.ts';
import { isListed } from '../query/values.ts';
import { readLogBounds } from './event-counts.ts';

/** An event as subscribers and the log see it (specification 6). To keep amounts exact, stringify it with lossless-json. */
export interface EventDocument {
  readonly webhook: { readonly module: string; readonly type: string };
  readonly data: Readonly<Record<string, unknown>>;
  readonly connect: Readonly<Record<string, unknown>>;
  readonly metadata: { readonly sequence: number; readonly eventId: string; readonly eventDateTime: string };
}

export interface StoredEvent {
  readonly position: bigint;
  readonly resourceId: string;
  readonly document: EventDocument;
}

const SHOWN = {
  id: events.id,
  /** Null until the event is numbered, and not selected until then. */
  firstPosition: sql<bigint>`${events.firstPosition}`,
  module: events.module,
  resourceId: events.resourceId,
  firstSequence: events.firstSequence,
  occurredAt: events.occurredAt,
  /** As text: parsing would round large balances to JavaScript numbers. */
  entries: sql<string>`${events.entries}::text`,
};

const BY_ROW_ID = prepared((db, given: Given<{ ids: readonly string[] }>) =>
  db
    .select(SHOWN)
    .from(events)
    .where(and(isListed(events.id, given.ids), isNotNull(events.firstPosition))),
);

const TRACEPARENTS = prepared((db, given: Given<{ ids: readonly string[] }>) =>
  db
    .select({ id: events.id, traceparent: events.traceparent })
    .from(events)
    .where(and(isListed(events.id, given.ids), isNotNull(events.traceparent))),
);

type EventRow = RowOf<typeof BY_ROW_ID>;

/** The id of entry k is the row's id with k as its last hexadecimal digit. */
function eventIdOf(rowId: string, entry: number): string {
  return rowId.slice(0, -1) + entry.toString(16);
}

function rowIdOf(eventId: string): string {
  return `${eventId.slice(0, -1)}0`;
}

/** Webhook bodies by event id. Unknown events are absent. */
export async function loadEventBodies(
  reader: Reader,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = new Set(eventIds);
  const rows = await reader.run(BY_ROW_ID, { ids: [...new Set(eventIds.map(rowIdOf))] });
  const bodies = new Map<string, string>();
  for (const { document } of await render(reader, rows)) {
    const { eventId } = document.metadata;
    if (wanted.has(eventId)) bodies.set(eventId, stringify(document) ?? '');
  }
  return bodies;
}

/** The traces of those events that have one, by event id. */
export async function loadTraceparents(
  reader: Reader,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await reader.run(TRACEPARENTS, { ids: [...new Set(eventIds.map(rowIdOf))] });
  const byRow = new Map(rows.map(({ id, traceparent }) => [id, traceparent]));
  return new Map(
    eventIds.flatMap((eventId) => {
      const traceparent = byRow.get(rowIdOf(eventId));
      return traceparent == null ? [] : [[eventId, traceparent]];
    }),
  );
}

export interface EventLogPage {
  readonly events: readonly StoredEvent[];
  /** Where the next page starts; unchanged if there are no more events. */
  readonly nextPosition: bigint;
  readonly lastPosition: bigint;
  /** Read after the events: a reader that starts behind it has missed none. */
  readonly firstPosition: bigint;
}

/** The most rows to read for one page, so that a selective filter cannot scan the whole log. */
const SCAN_ROWS_MAX = 5_000;

interface LogValues {
  readonly after: bigint;
  readonly module: string | null;
  readonly type: string | null;
  /** The type as it is quoted in an entry's JSON. */
  readonly quotedType: string;
  readonly limit: number;
}

const LOG = prepared((db, given: Given<LogValues>) => {
  const { id, firstPosition, entryCount, module, entries } = events;
  const lastPosition = sql<bigint>`${firstPosition} + ${entryCount} - 1`;
  return (
    db
      .select({
        ...SHOWN,
        lastPosition,
        matches: sql<boolean>`(${given.module}::text IS NULL OR ${module} = ${given.module}::text)
        AND (${given.type}::text IS NULL OR ${entries}::text LIKE '%' || ${given.quotedType}::text || '%')`,
      })
      .from(events)
      // Forgotten events may be in their month still.
      .where(
        sql`${id} >= (SELECT event_floor(${given.after}::bigint - 16)) AND ${firstPosition} > ${given.after}::bigint - 16 AND ${lastPosition} > ${given.after}::bigint
          AND ${firstPosition} >= (SELECT ${eventLogStart.firstPosition} FROM ${eventLogStart})`,
      )
      // The sub-select lets one plan serve every limit: planning takes longer than executing.
      .orderBy(sql`${firstPosition} limit (select ${given.limit}::bigint)`)
  );
});

/** Numbered events after a position, in order. */
export async function readEventLog(
  reader: Reader,
  query: { after: bigint; size: number; module?: string | undefined; type?: string | undefined },
): Promise<EventLogPage> {
  const { after, size, module, type } = query;
  const scanned = await reader.run(LOG, {
    after,
    module: module ?? null,
    type: type ?? null,
    quotedType: JSON.stringify(type ?? ''),
    limit: module === undefined && type === undefined ? size : SCAN_ROWS_MAX,
  });
  const matching = scanned.filter(({ matches }) => matches).slice(0, size);
  const [bounds, found] = await Promise.all([readLogBounds(reader), render(reader, matching)]);
  const { first: firstPosition, last: lastPosition } = bounds;
  const events = found
    .filter(({ position, document }) => position > after && (type === undefined || document.webhook.type === type))
    .slice(0, size);
  const full = events.length === size;
  const reached = full ? events.at(-1)?.position : scanned.at(-1)?.lastPosition;
  // A caller that starts beyond the end must not miss the next event.
  return { events, nextPosition: reached ?? earlier(after, lastPosition), lastPosition, firstPosition };
}

function earlier(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

/** The rows' entries in order, as shown. */
async function render(reader: Reader, rows: readonly EventRow[]): Promise<StoredEvent[]> {
  const ids = (module: string) => rows.filter((row) => row.module === module).map((row) => row.resourceId);
  const [outgoing, incoming] = await Promise.all([
    loadOutgoing(reader, ids('outgoing-transfers')),
    loadIncoming(reader, ids('incoming-transfers')),
  ]);
  return rows.flatMap((row) => {
    const entries = v.parse(ENTRIES, parse(row.entries));
    return entries.map(({ type, data }, index) => ({
      position: row.firstPosition + BigInt(index),
      resourceId: row.resourceId,
      document: {
        webhook: { module: row.module, type },
        ...contents(row, data, outgoing, incoming),
        metadata: {
          sequence: Number(row.firstSequence) + index,
          eventId: eventIdOf(row.id, index),
          eventDateTime: formatDateTime(row.occurredAt),
        },
      },
    }));
  });
}

type Contents = Pick<EventDocument, 'data' | 'connect'>;

function contents(row: EventRow, data: Data, outgoing: Outgoing, incoming: Incoming): Contents {
  const { complianceCheck, ...own } = data;
  const check = complianceCheck === undefined ? {} : { complianceCheck };
  switch (row.module) {
    case 'outgoing-transfers': {
      const transfer = { ...present(outgoing.get(row.resourceId), row), ...v.parse(OUTGOING_CHANGE, own) };
      return { data: { outgoingTransfer: showOutgoing(transfer), ...check }, connect: {} };
    }
    case 'incoming-transfers': {
      const found = present(incoming.get(row.resourceId), row);
      const change = v.parse(INCOMING_CHANGE, own);
      const receiver = change.accountId === null ? null : found.receiver;
      return { data: { incomingTransfer: showIncoming({ ...found, ...change, receiver }), ...check }, connect: {} };
    }
    case 'accounts': {
      // Deprecated duplicate of data.account.connection.
      const connect = data.connection === undefined || data.connection === null ? {} : { connection: data.connection };
      return { data: { account: data }, connect };
    }
    case 'clients': {
      const { connection, ...client } = data;
      return { data: { client }, connect: connection === undefined ? {} : { connection } };
    }
    default:
      return { data: { [RESOURCE_NAMES[row.module] ?? row.module]: data }, connect: {} };
  }
}

const RESOURCE_NAMES: Readonly<Record<string, string>> = {
  'open-banking-consents': 'consent',
  users: 'user',
  beneficiaries: 'beneficiary',
};

function present<Found>(found: Found | undefined, row: EventRow): Found {
  if (found === undefined) throw new Error(`event ${row.id} refers to a resource that does not exist`);
  return found;
}

type Outgoing = Awaited<ReturnType<typeof loadOutgoing>>;
type Incoming = Awaited<ReturnType<typeof loadIncoming>>;

async function loadOutgoing(reader: Reader, ids: readonly string[]) {
  const found = ids.length === 0 ? [] : await reader.run(OUTGOING, { ids });
  return new Map<string, (typeof found)[number]>(found.map((one) => [one.id, one]));
}

async function loadIncoming(reader: Reader, ids: readonly string[]) {
  const found = ids.length === 0 ? [] : await reader.run(INCOMING, { ids });
  return new Map<string, (typeof found)[number]>(found.map((one) => [one.id, one]));
}

const DATA = v.record(v.string(), v.unknown());
type Data = v.InferOutput<typeof DATA>;
const ENTRIES = v.array(v.object({ type: v.string(), data: DATA }));

const minor = v.pipe(
  v.custom<LosslessNumber>(isLosslessNumber),
  v.transform(({ value }) => BigInt(value)),
);
const whole = v.pipe(v.custom(isLosslessNumber), v.transform(Number));
const instant = v.pipe(
  v.string(),
  v.transform((text) => new Date(text)),
);
function id<Branded extends Id<string>>() {
  return v.pipe(v.string(), v.transform(asId<Branded>));
}

/** Null in a new transfer. An entry without it predates it, whatever the row holds now. */
const nullAtFirst = v.optional(v.nullable(v.string()), null);

const checked = v.picklist(['not-checked', 'fulfilled', 'not-fulfilled']);
const requirement = v.picklist(['not-checked', 'fulfilled', 'not-fulfilled', 'not-required']);

/** The fields that an outgoing transfer's event shows instead of its row's (see domain/outgoing-transfers/rows.ts). */
const OUTGOING_CHANGE = v.object({
  status: v.picklist(OUTGOING_TRANSFER_STATUSES),
  transferDate: v.exactOptional(v.string()),
  rollCount: v.exactOptional(whole),
  cutOffAt: v.exactOptional(v.nullable(instant)),
  returned: v.exactOptional(v.boolean()),
  incomingTransferId: v.exactOptional(v.nullable(id<IncomingTransferId>())),
  authorizationStatus: v.exactOptional(requirement),
  complianceCheckStatus: v.exactOptional(requirement),
  transferDateStatus: v.exactOptional(checked),
  balanceCheckStatus: v.exactOptional(checked),
  ...v.entriesFromList(LATER_OUTGOING_FIELDS, nullAtFirst),
} satisfies Record<ChangingOutgoingField, unknown>);

/** The same for incoming transfers. An absent field shows the row's value: it was final, or the event is an old one. */
const INCOMING_CHANGE = v.object({
  status: v.picklist(INCOMING_TRANSFER_STATUSES),
  transferDate: v.exactOptional(v.nullable(v.string())),
  accountId: v.exactOptional(v.nullable(id<AccountId>())),
  clientId: v.exactOptional(v.nullable(id<ClientId>())),
  feeMinor: v.exactOptional(minor),
  holdReason: v.optional(v.nullable(v.picklist(HOLD_REASONS)), null),
  failureCode: nullAtFirst,
} satisfies Record<ChangingIncomingField, unknown>);
