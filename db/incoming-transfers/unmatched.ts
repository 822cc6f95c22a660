import type { PartyAccount } from '../../domain/incoming-transfers/incoming-transfers.ts';
import type { Reader } from '../query/database.ts';
import { oldestWaits, WAIT_PLACE, type WaitPlace, waitParams } from '../transfers/oldest-waits.ts';

/** Money that has arrived and matched no account, or several. */
export interface UnmatchedMoney extends WaitPlace {
  readonly transactionNumber: string;
  readonly holdReason: UnmatchedReason;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly provider: string;
  readonly scheme: string | null;
  readonly senderName: string | null;
  readonly senderInformation: string | null;
  readonly receiverAccount: PartyAccount | null;
  /** A payment of ours that came back. */
  readonly returnOf: string | null;
  readonly waitingSince: Date;
}

export const UNMATCHED_REASONS = ['no-match', 'ambiguous-match'] as const;
export type UnmatchedReason = (typeof UNMATCHED_REASONS)[number];

export interface UnmatchedFilter {
  readonly reason: UnmatchedReason | null;
  readonly provider: string | null;
  readonly currency: string | null;
}

const UNMATCHED = oldestWaits(
  'incoming_transfers',
  { waitingFor: 'match', status: 'on-hold' },
  {
    selected: `id, transaction_number AS "transactionNumber", hold_reason AS "holdReason", amount_minor::bigint AS "amountMinor", currency,
      provider, scheme, sender_name AS "senderName", sender_information AS "senderInformation", receiver_account AS "receiverAccount",
      return_of AS "returnOf", ${WAIT_PLACE}`,
    more: `AND ($4::text IS NULL OR hold_reason::text = $4) AND ($5::text IS NULL OR provider = $5) AND ($6::text IS NULL OR currency = $6)`,
  },
);

/** Oldest first. */
export function listUnmatchedMoney(
  reader: Reader,
  { reason, provider, currency }: UnmatchedFilter,
  { after, size }: { readonly after: WaitPlace | null; readonly size: number },
): Promise<UnmatchedMoney[]> {
  return reader.statement<UnmatchedMoney>(UNMATCHED, [...waitParams(size, after), reason, provider, currency]);
}

const SUMS = `SELECT currency, count(*)::integer AS count, sum("amountMinor")::text AS "sumMinor" FROM (${UNMATCHED}) AS found GROUP BY 1 ORDER BY 1`;

export interface UnmatchedSum {
  readonly currency: string;
  readonly count: number;
  readonly sumMinor: string;
}

/** Of the oldest, up to `max`. */
export function sumUnmatchedMoney(
  reader: Reader,
  { reason, provider, currency }: UnmatchedFilter,
  max: number,
): Promise<UnmatchedSum[]> {
  return reader.statement<UnmatchedSum>(SUMS, [...waitParams(max, null), reason, provider, currency]);
}
