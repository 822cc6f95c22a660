import { inArray, sql } from 'drizzle-orm';
import { isLosslessNumber, type LosslessNumber, parse, stringify } from 'lossless-json';
import * as v from 'valibot';
import {
  type AccountId,
  asId,
  type ClientId,
  type Id,
  type IncomingTransferId,
  type OutgoingTransferId,
} from '../../domain/frame/ids.ts';
import { formatDateTime } from '../../domain/frame/time/dates.ts';
import type { ChangingIncomingField } from '../../domain/incoming-transfers/events.ts';
import { HOLD_REASONS, INCOMING_TRANSFER_STATUSES } from '../../domain/incoming-transfers/incoming-transfers.ts';
import { OUTGOING_TRANSFER_STATUSES } from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import { type ChangingOutgoingField, LATER_OUTGOING_FIELDS } from '../../domain/outgoing-transfers/rows.ts';
import type { Reader } from '../driver/client.ts';
import { incomingTransfers, outgoingTransfers } from '../frame/schema.ts';
import { shown as showIncoming, transfersWithAccounts } from '../incoming-transfers/reads.ts';
import { shown as showOutgoing, transfersWithDestination } from '../outgoing-transfers/reads.ts';

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

interface EventRow {
  readonly id: string;
  readonly firstPosition: bigint;
  readonly module: string;
  readonly resourceId: string;
  readonly firstSequence: bigint;
  readonly occurredAt: Date;
  /** As text: parsing would round large balances to JavaScript numbers. */
  readonly entries: string;
}

const EVENT_COLUMNS = sql`id, first_position AS "firstPosition", module, resource_id AS "resourceId",
  first_sequence AS "firstSequence", occurred_at AS "occurredAt", entries::text AS entries`;

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
  const rowIds = [...new Set(eventIds.map(rowIdOf))];
  const rows = await reader.execute<EventRow>(
    sql`SELECT ${EVENT_COLUMNS} FROM events WHERE id = ANY (${sql.param(rowIds)}::uuid[]) AND first_position IS NOT NULL`,
  );
  const bodies = new Map<string, string>();
  for (const { document } of await render(reader, rows)) {
    const { eventId } = document.metadata;
    if (wanted.has(eventId)) bodies.set(eventId, stringify(document) ?? '');
  }
  return bodies;
}

export interface EventLogPage {
  readonly events: readonly StoredEvent[];
  /** Where the next page starts; unchanged if there are no more events. */
  readonly nextPosition: bigint;
  readonly lastPosition: bigint;
}

/** The most rows to read for one page, so that a selective filter cannot scan the whole log. */
const SCAN_ROWS_MAX = 5_000;

/** Numbered events after a position, in order. */
export async function readEventLog(
  reader: Reader,
  query: { after: bigint; size: number; module?: string | undefined; type?: string | undefined },
): Promise<EventLogPage> {
  const { after, size, module, type } = query;
  const scanned = await reader.execute<EventRow & { matches: boolean; lastPosition: bigint }>(sql`
    SELECT ${EVENT_COLUMNS}, first_position + entry_count - 1 AS "lastPosition",
      (${module ?? null}::text IS NULL OR module = ${module ?? null}::text)
        AND (${type ?? null}::text IS NULL OR entries::text LIKE '%' || ${JSON.stringify(type ?? '')}::text || '%') AS matches
    FROM events WHERE first_position > ${after}::bigint - 16 AND first_position + entry_count - 1 > ${after}
    ORDER BY first_position LIMIT ${module === undefined && type === undefined ? size : SCAN_ROWS_MAX}`);
  const [sequencer] = await reader.execute<{ lastPosition: bigint }>(
    sql`SELECT last_position AS "lastPosition" FROM event_sequencer`,
  );
  const found = await render(reader, scanned.filter(({ matches }) => matches).slice(0, size));
  const events = found
    .filter(({ position, document }) => position > after && (type === undefined || document.webhook.type === type))
    .slice(0, size);
  const full = events.length === size;
  const lastPosition = sequencer?.lastPosition ?? 0n;
  // A caller that starts beyond the end must not miss the next event.
  const nextPosition =
    (full ? events.at(-1)?.position : scanned.at(-1)?.lastPosition) ?? (after < lastPosition ? after : lastPosition);
  return { events, nextPosition, lastPosition };
}

/** The rows' entries in order, as shown. */
async function render(reader: Reader, rows: readonly EventRow[]): Promise<StoredEvent[]> {
  const ids = (module: string) => rows.filter((row) => row.module === module).map((row) => row.resourceId);
  const outgoing = await loadOutgoing(reader, ids('outgoing-transfers').map(asId<OutgoingTransferId>));
  const incoming = await loadIncoming(reader, ids('incoming-transfers').map(asId<IncomingTransferId>));
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
      const found = present(outgoing.get(row.resourceId), row);
      const transfer = { ...found.transfer, ...v.parse(OUTGOING_CHANGE, own) };
      return { data: { outgoingTransfer: showOutgoing({ ...found, transfer }), ...check }, connect: {} };
    }
    case 'incoming-transfers': {
      const found = present(incoming.get(row.resourceId), row);
      const change = v.parse(INCOMING_CHANGE, own);
      const transfer = { ...found.transfer, ...change };
      const receiver = change.accountId === null ? null : found.receiver;
      return { data: { incomingTransfer: showIncoming({ ...found, transfer, receiver }), ...check }, connect: {} };
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

async function loadOutgoing(reader: Reader, ids: OutgoingTransferId[]) {
  if (ids.length === 0) return new Map<string, never>();
  const found = await transfersWithDestination(reader).where(inArray(outgoingTransfers.id, ids));
  return new Map(found.map((one) => [one.transfer.id as string, one]));
}

async function loadIncoming(reader: Reader, ids: IncomingTransferId[]) {
  if (ids.length === 0) return new Map<string, never>();
  const found = await transfersWithAccounts(reader).where(inArray(incomingTransfers.id, ids));
  return new Map(found.map((one) => [one.transfer.id as string, one]));
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
