import { DEBIT_NOT_KNOWN, PAID_BEFORE, RESTORED } from '../../domain/bank-files/exchange/holds.ts';
import { IS_LATER } from './restores.ts';

// Why a submission waits for a person, in terms of the parameters of the statement that stores it ($1 transfer, $3 provider, $9 amount,
// $11 reasons of its rejection, $12 whether it is a return, $13 the adapter's own reason).

// A payment of before a restore may have been in a file that is lost, unless it was dated later: dates only move on. So may the return of
// money that the bank had booked by then, under an id that is lost as well.
const RESTORE = `EXISTS (SELECT FROM bank_restores restore WHERE restore.provider = $3 AND NOT EXISTS (
      SELECT FROM outgoing_transfers WHERE id = $1::uuid AND ${IS_LATER})
      AND NOT EXISTS (SELECT FROM incoming_transfers incoming JOIN bank_entries entry ON (entry.provider, entry.key) = (incoming.provider, service_provider_id)
        WHERE incoming.id = $1::uuid AND booked_on > (began_at AT TIME ZONE 'UTC')::date + 5))`;
// The bank may have returned the money by itself, by a booking that named nothing of it, or came before this return was due.
const DEBIT_UNKNOWN = `EXISTS (SELECT FROM incoming_transfers incoming
      JOIN bank_entries credit ON (credit.provider, credit.key) = (incoming.provider, incoming.service_provider_id)
      JOIN bank_entries debit ON debit.provider = incoming.provider AND debit.currency = incoming.currency AND debit.booked_on >= credit.booked_on
    WHERE incoming.id = $1::uuid AND debit.direction = 'debit' AND debit.kind = 'unknown' AND debit.outcome = 'waiting'
      AND $9 IN (debit.amount_minor, debit.amount_minor - coalesce(debit.charges_minor, 0)))`;
// Of a sum that is too much for its batch it is not known whether it has paid an earlier submission.
const SUM_CONTRADICTS = `EXISTS (SELECT FROM bank_instructions earlier
      JOIN bank_entries told ON (told.provider, told.batch_id) = (earlier.provider, earlier.batch_id) AND told.kind = 'batch' AND told.outcome = 'break'
    WHERE earlier.transfer_id = $1::uuid)`;
/** As SQL: whether it is stored as rejected. */
export const IS_REJECTED = `($11::text[] IS NOT NULL AND NOT $12 AND NOT ${RESTORE})`;
/** As SQL: why no file takes it; null: the next one does. */
export const HELD = `CASE WHEN ${IS_REJECTED} THEN NULL
      WHEN EXISTS (SELECT FROM bank_entries WHERE transfer_id = $1::uuid AND kind = 'payment') OR ${SUM_CONTRADICTS} THEN '${PAID_BEFORE}'
      WHEN $12 AND ${DEBIT_UNKNOWN} THEN '${DEBIT_NOT_KNOWN}'
      WHEN ${RESTORE} THEN '${RESTORED}' ELSE $13 END`;
