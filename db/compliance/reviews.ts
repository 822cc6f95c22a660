import type { CheckedTransfer } from '../../domain/compliance/checks.ts';
import type { Reader } from '../query/database.ts';
import { oldestWaits, WAIT_PLACE, type WaitPlace, waitParams } from '../transfers/oldest-waits.ts';
import type { CheckedType } from './checks.ts';

/** A transfer that waits for a decision of compliance. */
export interface OpenReview extends WaitPlace, Pick<CheckedTransfer, 'complianceResult' | 'complianceRule'> {
  readonly type: CheckedType;
  readonly transactionNumber: string;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly clientId: string | null;
  readonly scheme: string | null;
  /** The other party's name, if the transfer has it. */
  readonly counterparty: string | null;
  readonly waitingSince: Date;
}

export interface ReviewFilter {
  readonly type: CheckedType | null;
  readonly currency: string | null;
  /** The name of the rule that stopped it. */
  readonly rule: string | null;
}

const WAIT = { waitingFor: 'compliance', status: 'pending' };

function ofTable(type: CheckedType): string {
  const [table, name] =
    type === 'outgoing-transfer'
      ? (['outgoing_transfers', `beneficiary ->> 'fullName'`] as const)
      : (['incoming_transfers', 'sender_name'] as const);
  const selected = `'${type}' AS type, id, transaction_number AS "transactionNumber", amount_minor::bigint AS "amountMinor", currency,
    client_id AS "clientId", scheme, ${name} AS counterparty, compliance_rule AS "complianceRule",
    compliance_result AS "complianceResult", ${WAIT_PLACE}`;
  const more = `AND coalesce($4::text, '${type}') = '${type}' AND ($5::text IS NULL OR currency = $5)
    AND ($6::text IS NULL OR compliance_rule ->> 'name' = $6)`;
  return `(${oldestWaits(table, WAIT, { selected, more })})`;
}

const REVIEWS = `${ofTable('outgoing-transfer')} UNION ALL ${ofTable('incoming-transfer')} ORDER BY "waitingSince", id LIMIT $1::integer`;

/** What waits for a decision of compliance now, oldest first. A transfer that waits for an authorization first is reviewed after it. */
export function listOpenReviews(
  reader: Reader,
  { type, currency, rule }: ReviewFilter,
  { after, size }: { readonly after: WaitPlace | null; readonly size: number },
): Promise<OpenReview[]> {
  return reader.statement<OpenReview>(REVIEWS, [...waitParams(size, after), type, currency, rule]);
}

const COUNT = `SELECT count(*)::integer AS count FROM (${REVIEWS}) AS found`;

/** Up to `max`. */
export async function countOpenReviews(
  reader: Reader,
  { type, currency, rule }: ReviewFilter,
  max: number,
): Promise<number> {
  const [row] = await reader.statement<{ count: number }>(COUNT, [...waitParams(max, null), type, currency, rule]);
  return row?.count ?? 0;
}
