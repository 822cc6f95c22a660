import {
  type OmittedKind,
  TIMELINE_KINDS,
  type TimelineEntry,
  type TimelineKind,
  type TimelineResource,
} from '../../domain/timelines/timelines.ts';
import { leastIdAbout } from '../common/ids.ts';
import type { Reader } from '../query/database.ts';
import type { PageOf, PageRequest } from '../query/lists.ts';
import { ledgerEntry, partsOf, sharedParts, TABLES } from './parts.ts';

/** A page of a timeline: its entries in order, and the kinds of which some or all are missing. */
export interface TimelinePage extends PageOf<TimelineEntry> {
  readonly omitted: readonly OmittedKind[];
}

/** What of a timeline a caller reads. */
export interface AskedTimeline {
  readonly resource: TimelineResource;
  readonly id: string;
  /** Whether the caller's roles read audit entries. */
  readonly withAudit: boolean;
  /** After how many days ended deliveries are deleted. */
  readonly deliveriesKeptDays: number;
}

const ORDER = 'at, place, tie';

const DELETED = '"areEventsDeleted", "mayLackDeliveries"';

/**
 * The resource's row, its entries of all kinds but an account's ledger entries, and what of it is no longer kept. Deleted deliveries
 * leave no trace, so the resource's age says whether it may have had some.
 */
function beginningOf(resource: TimelineResource, kinds: readonly TimelineKind[]): string {
  const parts = partsOf(resource);
  return `WITH resource AS MATERIALIZED (SELECT * FROM ${TABLES[resource]} WHERE id = $1::uuid),
    ${sharedParts(resource)},
    entries AS MATERIALIZED (${kinds.flatMap((kind) => parts[kind] ?? []).join('\nUNION ALL ')}),
    kept AS MATERIALIZED (SELECT event_sequence > 0 AND coalesce(
      (SELECT min(first_sequence) FROM resource_events), 2) > 1 AS "areEventsDeleted",
      created_at < service_now() - make_interval(days => $4::integer) AS "mayLackDeliveries" FROM resource)`;
}

function statementOf(resource: TimelineResource, kinds: readonly TimelineKind[]): string {
  if (resource === 'account') return statementOfAccount(kinds);
  return `${beginningOf(resource, kinds)}
    SELECT (SELECT count(*) FROM entries)::integer AS "totalElements", ${DELETED}, kind, at, contents
    FROM kept LEFT JOIN (SELECT * FROM entries ORDER BY ${ORDER} LIMIT $2::bigint OFFSET $3::bigint) AS page ON true
    ORDER BY ${ORDER}`;
}

type Side = 'debit' | 'credit';

/** How many ledger entries of the account come before an entry; of those of the same instant, all or none. */
const LEDGER_ENTRIES_BEFORE = `greatest(${(['debit', 'credit'] as const)
  .map(
    (
      side: Side,
    ) => `(SELECT ${side}_version FROM postings WHERE ${side}_account_id = $1::uuid AND ${side}_version IS NOT NULL
      AND posted_at < entry.at + CASE WHEN entry.place > ${TIMELINE_KINDS.indexOf('ledger-entry')} THEN interval '1 microsecond' ELSE interval '0' END
      ORDER BY posted_at DESC, ${side}_version DESC LIMIT 1)`,
  )
  .join(', ')}, 0)`;

/**
 * An account may have millions of ledger entries. Their versions have no gaps and their times never go back, so the number of those
 * before any other entry is a look-up, and a page reads only its own.
 */
function statementOfAccount(kinds: readonly TimelineKind[]): string {
  const ofSide = (side: Side) => `SELECT ${ledgerEntry('$1::uuid', `${side}_version`)} FROM postings posting, range
    WHERE ${side}_account_id = $1::uuid AND ${side}_version > range.after AND ${side}_version <= range.last`;
  return `${beginningOf('account', kinds)},
    numbered AS MATERIALIZED (
      SELECT entry.*, row_number() OVER (ORDER BY ${ORDER}) + ${LEDGER_ENTRIES_BEFORE} AS number FROM entries entry),
    range AS MATERIALIZED (SELECT $3::bigint - count(*) FILTER (WHERE number <= $3::bigint) AS after,
      $3::bigint + $2::bigint - count(*) FILTER (WHERE number <= $3::bigint + $2::bigint) AS last FROM numbered)
    SELECT ((SELECT count(*) FROM entries) + (SELECT version FROM resource))::integer AS "totalElements", ${DELETED},
      kind, at, contents
    FROM kept LEFT JOIN (
      SELECT kind, place, at, tie, contents FROM numbered WHERE number > $3::bigint AND number <= $3::bigint + $2::bigint
      UNION ALL ${ofSide('debit')} UNION ALL ${ofSide('credit')}) AS page ON true
    ORDER BY ${ORDER}`;
}

const TEXTS = new Map<string, string>();

function textOf({ resource, withAudit }: AskedTimeline): string {
  const key = `${resource} ${withAudit}`;
  const known = TEXTS.get(key);
  if (known !== undefined) return known;
  const kinds = TIMELINE_KINDS.filter((kind) => withAudit || kind !== 'audit-entry');
  const text = statementOf(resource, kinds);
  TEXTS.set(key, text);
  return text;
}

interface Kept {
  readonly areEventsDeleted: boolean;
  readonly mayLackDeliveries: boolean;
}

type Row = { readonly totalElements: number } & Kept & (TimelineEntry | { kind: null });

/** One page of a resource's timeline and the total, in one statement; null if there is no such resource. */
export async function readTimeline(
  reader: Reader,
  asked: AskedTimeline,
  { size, offset }: PageRequest,
): Promise<TimelinePage | null> {
  const rows = await reader.statement<Row>(textOf(asked), [
    asked.id,
    size,
    offset,
    asked.deliveriesKeptDays,
    leastIdAbout(asked.id),
  ]);
  const [first] = rows;
  if (first === undefined) return null;
  return {
    rows: rows.flatMap((row) => (row.kind === null ? [] : [row])),
    totalElements: first.totalElements,
    omitted: omittedOf(asked, first),
  };
}

function omittedOf(
  { resource, withAudit }: AskedTimeline,
  { areEventsDeleted, mayLackDeliveries }: Kept,
): OmittedKind[] {
  // The requirements of a payment are read from its events.
  const deleted: TimelineKind[] = [
    ...(areEventsDeleted && resource === 'outgoing-transfer' ? (['requirement'] as const) : []),
    ...(areEventsDeleted ? (['event'] as const) : []),
    ...(mayLackDeliveries ? (['webhook-delivery'] as const) : []),
  ];
  return [
    ...(withAudit ? [] : [{ kind: 'audit-entry', reason: 'role' } as const]),
    ...deleted.map((kind) => ({ kind, reason: 'retention' }) as const),
  ];
}
