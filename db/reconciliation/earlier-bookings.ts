import type { PaymentKey } from '../../domain/reconciliation/reconciliation.ts';
import type { Reader } from '../driver/client.ts';
import type { Position } from './statements.ts';

// $1 provider, $2 currency, $3 the day's beginning, $4 and $5 references
const UNCHANGED = `
  SELECT 'out' AS direction, id::text AS reference FROM outgoing_transfers
    WHERE id IN (SELECT jsonb_array_elements_text($4::jsonb)::uuid) AND provider = $1 AND currency = $2 AND updated_at < $3
  UNION ALL
  SELECT 'in', service_provider_id FROM incoming_transfers
    WHERE provider = $1 AND currency = $2 AND service_provider_id IN (SELECT jsonb_array_elements_text($5::jsonb)) AND updated_at < $3`;

// LIMIT, so that the account's postings are read from the transfer's creation to its booking, and no further. A payment in is posted
// as it is recorded.
const BOOKED_BEFORE = `
  SELECT 'out' AS direction, paid.id::text AS reference FROM outgoing_transfers AS paid, LATERAL (
      SELECT FROM postings WHERE debit_account_id = paid.account_id AND debit_version IS NOT NULL
        AND posted_at >= paid.created_at AND posted_at < $3 AND outgoing_transfer_id = paid.id AND entry_type = 'principal'
      ORDER BY posted_at LIMIT 1) AS booked
    WHERE paid.id IN (SELECT jsonb_array_elements_text($4::jsonb)::uuid) AND provider = $1 AND currency = $2
  UNION ALL
  SELECT 'in', service_provider_id FROM incoming_transfers
    WHERE provider = $1 AND currency = $2 AND service_provider_id IN (SELECT jsonb_array_elements_text($5::jsonb)) AND created_at < $3`;

/** Our ids of payments out, the provider's of payments in. */
interface References {
  readonly out: readonly string[];
  readonly in: readonly string[];
}

/** Those of the payments whose rows have not changed since an instant. */
export function listUnchangedSince(
  reader: Reader,
  position: Position,
  instant: Date,
  references: References,
): Promise<PaymentKey[]> {
  return listBefore(reader, UNCHANGED, position, instant, references);
}

/** Those of the payments that our ledger had booked before an instant, whatever has become of them since. */
export function listBookedBefore(
  reader: Reader,
  position: Position,
  instant: Date,
  references: References,
): Promise<PaymentKey[]> {
  return listBefore(reader, BOOKED_BEFORE, position, instant, references);
}

async function listBefore(
  reader: Reader,
  statement: string,
  { provider, currency }: Position,
  instant: Date,
  { out, in: arrived }: References,
): Promise<PaymentKey[]> {
  if (out.length + arrived.length === 0) return [];
  return reader.statement<PaymentKey>(statement, [
    provider,
    currency,
    instant,
    JSON.stringify(out),
    JSON.stringify(arrived),
  ]);
}
