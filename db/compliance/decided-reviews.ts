import { RULES_ACTOR } from '../../domain/compliance/checks.ts';
import type { ProcedureResult } from '../../domain/compliance/procedures.ts';
import type { Reader } from '../query/database.ts';
import type { Cursor } from '../query/lists.ts';
import { AFTER_ALL_IDS } from '../query/values.ts';
import type { CheckedType } from './checks.ts';
import type { ReviewFilter } from './reviews.ts';

/** A decision about a transfer's check, as the audit log has it. */
export interface DecidedReview {
  /** Of the decision. */
  readonly entryId: string;
  readonly type: CheckedType;
  /** Of the transfer. */
  readonly id: string;
  readonly transactionNumber: string;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly scheme: string | null;
  readonly counterparty: string | null;
  readonly result: ProcedureResult;
  /** What became of the check: `in-review` after a stop. */
  readonly checkStatus: string;
  /** The rule that had stopped the transfer. */
  readonly rule: string | null;
  readonly actor: string;
  readonly role: string | null;
  readonly reason: string | null;
  readonly decidedAt: Date;
  /** With microseconds, as a cursor needs it. */
  readonly time: string;
}

/** How many decisions a page looks through: screenings by the built-in rules are in the log as well. */
export const DECISIONS_LOOKED_AT_MAX = 1_000;

const MONITORED = `after -> 'complianceCheck' -> 'procedureResults' -> 'transaction-monitoring'`;
const LOOKED = `SELECT id, occurred_at, actor, role, reason, resource, resource_id, after FROM audit_entries
  WHERE action = 'reviewed' AND (occurred_at, id) < ($1::text::timestamptz, $2::uuid) ORDER BY occurred_at DESC, id DESC`;

const DECIDED = `
  SELECT entry.id AS "entryId", entry.resource AS type, coalesce(outgoing.id, incoming.id) AS id,
    coalesce(outgoing.transaction_number, incoming.transaction_number) AS "transactionNumber",
    coalesce(outgoing.amount_minor, incoming.amount_minor)::bigint AS "amountMinor",
    coalesce(outgoing.currency, incoming.currency) AS currency, coalesce(outgoing.scheme, incoming.scheme)::text AS scheme,
    coalesce(outgoing.beneficiary ->> 'fullName', incoming.sender_name) AS counterparty,
    entry.${MONITORED} ->> 'result' AS result, entry.after -> 'complianceCheck' ->> 'status' AS "checkStatus",
    entry.${MONITORED} -> 'rule' ->> 'name' AS rule, actor, role, reason, occurred_at AS "decidedAt", occurred_at::text AS time
  FROM (${LOOKED} LIMIT ${DECISIONS_LOOKED_AT_MAX}) AS entry
    LEFT JOIN outgoing_transfers AS outgoing ON entry.resource = 'outgoing-transfer' AND outgoing.id = entry.resource_id::uuid
    LEFT JOIN incoming_transfers AS incoming ON entry.resource = 'incoming-transfer' AND incoming.id = entry.resource_id::uuid
  WHERE actor <> '${RULES_ACTOR}' AND coalesce(outgoing.id, incoming.id) IS NOT NULL AND ($4::text IS NULL OR entry.resource = $4)
    AND ($5::text IS NULL OR coalesce(outgoing.currency, incoming.currency) = $5)
    AND ($6::text IS NULL OR entry.${MONITORED} -> 'rule' ->> 'name' = $6)
  ORDER BY occurred_at DESC, entry.id DESC LIMIT $3`;

const LOOKED_TO = `SELECT occurred_at::text AS time, id FROM (${LOOKED} OFFSET ${DECISIONS_LOOKED_AT_MAX - 1} LIMIT 1) AS last`;

const NEWEST: Cursor = { time: 'infinity', id: AFTER_ALL_IDS };

/** What people and callers have decided, newest first. */
export async function listDecidedReviews(
  reader: Reader,
  { type, currency, rule }: ReviewFilter,
  { before, size }: { readonly before: Cursor | null; readonly size: number },
): Promise<{ readonly rows: readonly DecidedReview[]; readonly lookedTo: Cursor | null }> {
  const { time, id } = before ?? NEWEST;
  const rows = await reader.statement<DecidedReview>(DECIDED, [time, id, size, type, currency, rule]);
  if (rows.length === size) return { rows, lookedTo: null };
  const [last] = await reader.statement<Cursor>(LOOKED_TO, [time, id]);
  return { rows, lookedTo: last ?? null };
}
