import { isUuid } from '../../domain/common/ids.ts';
import type { Booking } from '../../domain/reconciliation/one-sided.ts';
import type { PaymentKey } from '../../domain/reconciliation/reconciliation.ts';
import type { Reader } from '../query/database.ts';
import type { Position } from './schema.ts';

// LIMIT, so that the account's postings are read from the transfer's creation to its booking, and no further. Arriving money is posted
// when it is recorded; undoing or sending back is the last change of a row.
// $1 provider, $2 currency, $3 ids, $4 the provider's references
const BOOKINGS = `
  WITH ids AS (SELECT jsonb_array_elements_text($3::jsonb)::uuid AS id),
    paid AS (
      SELECT transfer.*, booked.posted_at FROM ids JOIN outgoing_transfers transfer USING (id), LATERAL (
        SELECT posted_at FROM postings WHERE debit_account_id = transfer.account_id AND debit_version IS NOT NULL
          AND posted_at >= transfer.created_at AND posted_at <= transfer.updated_at + interval '1 hour'
          AND outgoing_transfer_id = transfer.id AND entry_type = 'principal' ORDER BY posted_at LIMIT 1) AS booked
      WHERE provider = $1 AND currency = $2
    ),
    booked AS (
      SELECT 'out' AS direction, id::text AS reference, 'payment-out' AS movement, amount_minor::bigint, posted_at AS booked_at, id AS resource_id FROM paid
      UNION ALL
      SELECT 'out', id::text, 'payment-out-undone', amount_minor, updated_at, id FROM paid WHERE status = 'failed'
      UNION ALL
      SELECT 'out', arrived.return_of::text, 'payment-out-undone', arrived.amount_minor, arrived.created_at, arrived.return_of
        FROM ids JOIN incoming_transfers arrived ON arrived.return_of = ids.id WHERE arrived.provider = $1 AND arrived.currency = $2
      UNION ALL
      SELECT 'out', paid.id::text, 'payment-out-undone', arrived.amount_minor, arrived.created_at, paid.id
        FROM paid JOIN incoming_transfers arrived ON arrived.id = paid.incoming_transfer_id WHERE arrived.return_of IS NULL
      UNION ALL
      SELECT 'in', service_provider_id, movement, amount_minor, booked_at, id FROM incoming_transfers, LATERAL (
          SELECT 'payment-in' AS movement, created_at AS booked_at
          UNION ALL SELECT 'payment-in-sent-back', updated_at WHERE send_back_status = 'done') AS moved
        WHERE provider = $1 AND currency = $2 AND service_provider_id IN (SELECT jsonb_array_elements_text($4::jsonb))
      UNION ALL
      SELECT 'opening', opening.account_id::text, 'opening-balance', opening.amount_minor, posted_at, opening.account_id
        FROM ids JOIN balance_adjustments opening ON opening.account_id = ids.id AND opening.workflow_type = 'opening-balance'
          JOIN accounts ON accounts.id = opening.account_id JOIN postings ON postings.id = opening.posting_id
        WHERE accounts.provider = $1 AND accounts.currency = $2
    )
  SELECT direction, reference, movement, amount_minor AS "amountMinor", booked_at AS "bookedAt", resource_id AS "resourceId",
    'ours' AS side, false AS "ofDay", '{}'::text[] AS accounts, EXISTS (
      SELECT FROM reconciliations WHERE provider = $1 AND currency = $2 AND day = (booked_at AT TIME ZONE 'UTC')::date) AS "isCompared"
  FROM booked ORDER BY booked_at`;

/** What our ledger has booked of these payments, whatever happened to them since. */
export async function listBookings(
  reader: Reader,
  { provider, currency }: Position,
  keys: readonly PaymentKey[],
): Promise<Booking[]> {
  if (keys.length === 0) return [];
  const ids = keys.filter(({ direction, reference }) => direction !== 'in' && isUuid(reference));
  const arrived = keys.filter(({ direction }) => direction === 'in');
  const of = (some: readonly PaymentKey[]) => JSON.stringify([...new Set(some.map(({ reference }) => reference))]);
  return reader.statement<Booking>(BOOKINGS, [provider, currency, of(ids), of(arrived)]);
}
