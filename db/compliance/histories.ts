import type { ProcedureResult } from '../../domain/compliance/procedures.ts';
import type { Reader } from '../query/database.ts';
import type { CheckedId, CheckedType } from './checks.ts';

/** Transfers of a time, in the reviewed transfer's currency. */
export interface Activity {
  readonly count: number;
  readonly sumMinor: string;
}

export interface EarlierDecision {
  readonly type: CheckedType;
  readonly id: string;
  readonly transactionNumber: string;
  readonly result: ProcedureResult;
  readonly decidedBy: string;
  readonly decidedAt: string;
}

/** What is known of the parties of a transfer in review, in the 30 and 365 days before it. */
export interface PartyHistory {
  /** Between the client and this other party, in the same direction. */
  readonly between: { readonly days30: Activity; readonly days365: Activity };
  readonly clientOut: { readonly days30: Activity; readonly days365: Activity };
  readonly clientIn: { readonly days30: Activity; readonly days365: Activity };
  /** The client has more transfers than were looked at: counts and sums are of the newest. */
  readonly isMore: boolean;
  /** About transfers between the two, newest first. */
  readonly decisions: readonly EarlierDecision[];
}

/** How many of the client's newest transfers of a direction are looked at. */
export const HISTORY_ROWS_MAX = 2_000;
const DECISIONS_MAX = 5;

const BETWEEN: Readonly<Record<CheckedType, string>> = {
  'outgoing-transfer': `coalesce(other.beneficiary_id, other.destination_account_id) = coalesce(reviewed.beneficiary_id, reviewed.destination_account_id)`,
  'incoming-transfer': `(other.sender_account_id = reviewed.sender_account_id OR other.sender_account ->> 'iban' = reviewed.sender_account ->> 'iban'
    OR (other.sender_account ->> 'accountNumber' = reviewed.sender_account ->> 'accountNumber'
      AND other.sender_account -> 'routingCodes' = reviewed.sender_account -> 'routingCodes')
    OR lower(other.sender_name) = lower(reviewed.sender_name))`,
};

const TABLES: Readonly<Record<CheckedType, string>> = {
  'outgoing-transfer': 'outgoing_transfers',
  'incoming-transfer': 'incoming_transfers',
};

/** The newest transfers of the client in one direction. Ids grow with time, and the index by client has them. */
function newest(type: CheckedType, isBetween: string): string {
  return `SELECT other.id, other.transaction_number, other.amount_minor::bigint AS amount_minor, other.compliance_result, other.compliance_decided_by,
      other.compliance_decided_at, other.status::text NOT IN ('failed', 'cancelled') AND other.currency = reviewed.currency AS is_counted,
      other.created_at > reviewed.created_at - interval '365 days' AS is_of_year,
      other.created_at > reviewed.created_at - interval '30 days' AS is_of_month, coalesce(${isBetween}, false) AS is_between
    FROM reviewed CROSS JOIN LATERAL (
      SELECT * FROM ${TABLES[type]} row WHERE row.client_id = reviewed.client_id AND row.id < reviewed.id ORDER BY row.id DESC LIMIT ${HISTORY_ROWS_MAX}
    ) AS other`;
}

function activity(rows: string, condition: string): string {
  const of = (
    time: string,
  ) => `(SELECT json_build_object('count', count(*), 'sumMinor', coalesce(sum(amount_minor), 0)::text)
    FROM ${rows} WHERE is_counted AND ${time} AND ${condition})`;
  return `json_build_object('days30', ${of('is_of_month')}, 'days365', ${of('is_of_year')})`;
}

function history(type: CheckedType): string {
  const other = type === 'outgoing-transfer' ? 'incoming-transfer' : 'outgoing-transfer';
  const out = type === 'outgoing-transfer' ? 'same' : 'opposite';
  const into = type === 'outgoing-transfer' ? 'opposite' : 'same';
  return `
  WITH reviewed AS (SELECT * FROM ${TABLES[type]} WHERE id = $1::uuid),
    same AS MATERIALIZED (${newest(type, BETWEEN[type])}),
    opposite AS MATERIALIZED (${newest(other, 'false')})
  SELECT ${activity('same', 'is_between')} AS between, ${activity(out, 'true')} AS "clientOut", ${activity(into, 'true')} AS "clientIn",
    greatest((SELECT count(*) FROM same), (SELECT count(*) FROM opposite)) >= ${HISTORY_ROWS_MAX} AS "isMore",
    (SELECT coalesce(json_agg(decided ORDER BY "decidedAt" DESC), '[]') FROM (
      SELECT '${type}' AS type, id, transaction_number AS "transactionNumber", compliance_result AS result,
        compliance_decided_by AS "decidedBy", compliance_decided_at AS "decidedAt"
      FROM same WHERE is_between AND compliance_decided_at IS NOT NULL ORDER BY compliance_decided_at DESC LIMIT ${DECISIONS_MAX}
    ) AS decided) AS decisions`;
}

const HISTORIES: Readonly<Record<CheckedType, string>> = {
  'outgoing-transfer': history('outgoing-transfer'),
  'incoming-transfer': history('incoming-transfer'),
};

export async function readPartyHistory(reader: Reader, { type, id }: CheckedId): Promise<PartyHistory> {
  const [found] = await reader.statement<PartyHistory>(HISTORIES[type], [id]);
  if (found === undefined) throw new Error('a history is one row');
  return found;
}
