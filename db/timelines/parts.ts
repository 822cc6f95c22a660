import { TIMELINE_KINDS, type TimelineKind, type TimelineResource } from '../../domain/timelines/timelines.ts';

/**
 * The parts of a timeline: one SELECT for each kind of entry, of what concerns one resource, `$1`. Each finds its rows by an index and
 * gives their instant, the place of their kind, their order within an instant, and what they say. `resource` is the resource's row.
 * A table that every transition writes would cost each payment, and could differ.
 */
export const TABLES: Readonly<Record<TimelineResource, string>> = {
  'outgoing-transfer': 'outgoing_transfers',
  'incoming-transfer': 'incoming_transfers',
  account: 'accounts',
  consent: 'open_banking_consents',
  client: 'clients',
};

function columns(kind: TimelineKind, at: string, order: string, contents: string): string {
  const place = TIMELINE_KINDS.indexOf(kind);
  return `'${kind}'::text AS kind, ${place} AS place, ${at} AS at, (${order})::text COLLATE "C" AS tie, json_build_object(${contents}) AS contents`;
}

/** Numbers as text that sorts as they do. */
function padded(number: string): string {
  return `lpad((${number})::text, 20, '0')`;
}

const ENTRIES =
  'resource_events event CROSS JOIN LATERAL json_array_elements(event.entries) WITH ORDINALITY AS entry (value, number)';

/**
 * What several parts of a timeline read, each found once: many months are looked into for it. A resource's events, deliveries and entries have
 * ids from `$5` on, so Postgres looks into no month before it; the sub-select lets one plan serve every month. Forgotten events may be in their month still.
 */
export function sharedParts(resource: TimelineResource): string {
  const workflow = `'${resource === 'account' ? 'account-connection' : resource}/' || $1::text`;
  return `resource_events AS MATERIALIZED (SELECT occurred_at, first_sequence, id, entries FROM events
      WHERE resource_id = $1::uuid AND id >= (SELECT $5::uuid)
        AND (first_position IS NULL OR first_position >= (SELECT first_position FROM event_log_start))),
    resource_entries AS MATERIALIZED (SELECT * FROM audit_entries WHERE resource_id = ANY (ARRAY[$1::text, ${workflow}])
      AND resource = CASE resource_id WHEN $1::text THEN '${resource}' ELSE 'workflow' END AND id >= (SELECT $5::uuid))`;
}

const EVENTS = `SELECT ${columns(
  'event',
  'event.occurred_at',
  padded('event.first_sequence + entry.number - 1'),
  `'eventId', event_id(event.id, entry.number - 1), 'type', entry.value ->> 'type', 'sequence', event.first_sequence + entry.number - 1,
    'status', entry.value -> 'data' ->> 'status', 'reasonCode', entry.value -> 'data' ->> 'failureCode',
    'holdReason', entry.value -> 'data' ->> 'holdReason'`,
)} FROM ${ENTRIES}`;

const DELIVERIES = `SELECT ${columns(
  'webhook-delivery',
  'created_at',
  'id',
  `'webhookDeliveryId', id, 'webhookSubscriptionId', subscription_id, 'eventId', event_id, 'type', type, 'status', status,
    'attemptCount', attempt_count, 'nextAttemptAt', CASE status WHEN 'pending' THEN next_attempt_at END, 'completedAt', completed_at`,
)} FROM webhook_deliveries WHERE resource_id = $1::uuid AND event_id >= (SELECT $5::uuid)`;

const AUDITED = columns(
  'audit-entry',
  'occurred_at',
  'id',
  `'id', id, 'actor', actor, 'action', action, 'resource', resource, 'resourceId', resource_id, 'requestId', request_id,
    'before', before, 'after', after, 'amountMinor', amount_minor::text, 'currency', currency, 'role', role, 'reason', reason`,
);

/** Its own entries, what was done about its workflow, and the derived one of its creation. */
function auditEntries(resource: TimelineResource): string {
  const entries = `SELECT ${AUDITED} FROM (SELECT *, NULL::bigint AS amount_minor, NULL::text AS currency FROM resource_entries) AS entry`;
  if (resource !== 'outgoing-transfer') return entries;
  return `${entries} UNION ALL SELECT ${AUDITED} FROM audit_log WHERE transfer_id = $1::uuid`;
}

function callbacks(reference: string): string {
  const contents = `'provider', callback.provider, 'providerEventId', provider_event_id, 'type', callback.kind, 'outcome', outcome`;
  return `SELECT ${columns('provider-callback', 'received_at', 'provider_event_id', contents)}
    FROM resource JOIN provider_callbacks callback
      ON callback.our_reference = ${reference} AND callback.provider = resource.provider`;
}

/** A compliance check that has been decided. Its deciders are in the audit log. */
const COMPLIANCE = `SELECT ${columns(
  'requirement',
  'compliance_decided_at',
  "'1'",
  `'requirement', 'compliance', 'status', compliance_check_status`,
)} FROM resource WHERE compliance_decided_at IS NOT NULL`;

const PROCESSING = `SELECT event.occurred_at FROM ${ENTRIES}
  WHERE entry.value ->> 'type' = 'outgoing-transfer-processing'`;

/**
 * A transfer is processed as soon as date and balance allow. The audit entry of its authorization is written after what follows from
 * that in the same transaction.
 */
const REQUIREMENTS = `${COMPLIANCE}
  UNION ALL SELECT ${columns(
    'requirement',
    `least(occurred_at, (${PROCESSING} LIMIT 1))`,
    "'0'",
    `'requirement', 'authorization', 'status', 'fulfilled'`,
  )} FROM resource_entries WHERE resource = 'outgoing-transfer' AND action = 'authorized'
  UNION ALL SELECT ${columns('requirement', 'occurred_at', 'of_both.tie', `'requirement', of_both.requirement, 'status', 'fulfilled'`)}
    FROM (${PROCESSING}) AS processing CROSS JOIN (VALUES ('date', '2'), ('balance', '3')) AS of_both (requirement, tie)`;

/** `side`: debit or credit. System accounts have a kind. */
function partyOf(side: 'debit' | 'credit', own: string): string {
  return `CASE WHEN ${side}_account_id = ${own} THEN 'account' ELSE coalesce((
    SELECT kind FROM system_accounts WHERE id = ${side}_account_id), 'other-account') END`;
}

/** A posting as the account `own` sees it. */
export function ledgerEntry(own: string, order: string): string {
  return columns(
    'ledger-entry',
    'posted_at',
    padded(order),
    `'debit', ${partyOf('debit', own)}, 'credit', ${partyOf('credit', own)}, 'amountMinor', posting.amount_minor::text,
      'currency', posting.currency, 'entryType', entry_type, 'balanceMinor', CASE ${own} WHEN debit_account_id
        THEN debit_balance_after_minor WHEN credit_account_id THEN credit_balance_after_minor END::text`,
  );
}

function postingsOf(column: string): string {
  return `SELECT ${ledgerEntry('resource.account_id', 'posting.id')} FROM resource JOIN postings posting ON posting.${column} = resource.id`;
}

/** All but an account's ledger entries, which may be millions: `timelines.ts` reads only those of a page. */
export function partsOf(resource: TimelineResource): Partial<Record<TimelineKind, string>> {
  const parts = { event: EVENTS, 'webhook-delivery': DELIVERIES, 'audit-entry': auditEntries(resource) };
  switch (resource) {
    case 'outgoing-transfer':
      return {
        ...parts,
        requirement: REQUIREMENTS,
        'ledger-entry': postingsOf('outgoing_transfer_id'),
        'provider-callback': callbacks('resource.id::text'),
      };
    case 'incoming-transfer':
      return {
        ...parts,
        requirement: COMPLIANCE,
        'ledger-entry': postingsOf('incoming_transfer_id'),
        'provider-callback': callbacks('resource.service_provider_id'),
      };
    case 'account':
      return { ...parts, 'provider-callback': callbacks('resource.id::text') };
    case 'consent':
    case 'client':
      return parts;
  }
}
