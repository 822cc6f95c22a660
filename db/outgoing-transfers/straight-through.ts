import type {
  AccountId,
  ClientId,
  IncomingTransferId,
  MachineUserId,
  OutgoingTransferId,
} from '../../domain/frame/ids.ts';
import { batchedPerDatabase, fallBackToSingle } from '../driver/batcher.ts';
import { type CallLimits, type Database, isTakenNumber } from '../driver/client.ts';
import { toWire } from '../driver/values.ts';
import { newEventRowId } from '../frame/events.ts';
import type { AppliedChange } from '../ledger/transfer-changes.ts';

/** Everything that is stored; the answer's text was rendered beforehand. Amounts in minor units. */
export interface StraightThrough {
  readonly machineUserId: MachineUserId;
  readonly idempotency: { readonly path: string; readonly key: string; readonly requestHash: Buffer } | null;
  readonly responseBody: string;
  readonly outgoingTransferId: OutgoingTransferId;
  readonly incomingTransferId: IncomingTransferId;
  readonly outgoingNumber: string;
  readonly incomingNumber: string;
  readonly clientId: ClientId;
  readonly sourceAccountId: AccountId;
  readonly destinationAccountId: AccountId;
  readonly currency: string;
  readonly amountMinor: bigint;
  readonly feeMinor: bigint;
  readonly transferDate: string;
  readonly description: string | null;
  readonly transferReasonId: string | null;
  readonly transferCustomReason: string | null;
}

// Constant texts: the events of a straight-through transfer differ from its row in these fields alone.
const CHECKED = { transferDateStatus: 'fulfilled', balanceCheckStatus: 'fulfilled' };
const UNCHECKED = { transferDateStatus: 'not-checked', balanceCheckStatus: 'not-checked' };
const OUTGOING_ENTRIES = JSON.stringify([
  { type: 'outgoing-transfer-created', data: { status: 'pending', ...UNCHECKED } },
  { type: 'outgoing-transfer-processing', data: { status: 'processing', ...CHECKED } },
  { type: 'outgoing-transfer-released', data: { status: 'released', ...CHECKED } },
  { type: 'outgoing-transfer-completed', data: { status: 'completed', ...CHECKED } },
]);
const INCOMING_ENTRIES = JSON.stringify([
  { type: 'incoming-transfer-pending', data: { status: 'pending', transferDate: null } },
  { type: 'incoming-transfer-completed', data: { status: 'completed' } },
]);

// Its deadline is looked at before the function begins, and in the rows that it answers when it is done.
const SETTLE = `SELECT outcome, response_body AS "responseBody"
  FROM settle_straight_through_transfers(before_deadline($5, $1::json), $2::boolean, $3::json, $4::json) WHERE before_deadline($5)`;

/** How one transfer ended, in the words of settle_straight_through_transfers. */
interface Settlement {
  readonly outcome: 'settled' | 'replayed' | 'undecided' | 'other-day' | 'alone';
  readonly responseBody: string | null;
}

/**
 * Applies an internal transfer that settles at once, by one statement and in one round trip, which it may share with others. It
 * needs no read before it: the request states what must hold, and what only the locked accounts know the statement fills in.
 * `not-applied`: something does not hold, and it is to be decided under locks, as every other transfer is.
 */
export async function applyStraightThrough(database: Database, transfer: StraightThrough): Promise<AppliedChange> {
  const { outcome, responseBody } = await settleTogether(database, transfer).then((settlement) =>
    settlement.outcome === 'alone' ? settleAlone(database, transfer) : settlement,
  );
  if (outcome === 'replayed') return { outcome, responseBody: responseBody ?? '' };
  return { outcome: outcome === 'settled' ? 'applied' : 'not-applied', responseBody: null };
}

const ALONE: Settlement = { outcome: 'alone', responseBody: null };

// Two statements that lock the same account would wait for each other in the database, with a connection each.
const settleTogether = batchedPerDatabase<StraightThrough, Settlement>(
  (database, transfers, limits) =>
    fallBackToSingle(
      database,
      'settle_straight_through_transfers',
      transfers,
      () => settle(database, transfers, false, limits),
      ALONE,
    ),
  ({ sourceAccountId, destinationAccountId }) => [sourceAccountId, destinationAccountId],
);

/** Waits for the locks that it met. A number that is taken is drawn anew under locks. */
async function settleAlone(database: Database, transfer: StraightThrough): Promise<Settlement> {
  try {
    const [settlement] = await settle(database, [transfer], true, database.limits());
    if (settlement === undefined) throw new Error('settle_straight_through_transfers answered no row');
    return settlement;
  } catch (error) {
    if (isTakenNumber(error)) return { outcome: 'undecided', responseBody: null };
    throw error;
  }
}

function settle(
  database: Database,
  transfers: readonly StraightThrough[],
  waits: boolean,
  limits: CallLimits,
): Promise<Settlement[]> {
  const rows = JSON.stringify(transfers.map(toRow));
  return database.write<Settlement>(SETTLE, [rows, waits, OUTGOING_ENTRIES, INCOMING_ENTRIES], limits);
}

// In the words of the SQL type internal_transfer.
function toRow(transfer: StraightThrough) {
  const { idempotency } = transfer;
  return {
    machine_user_id: transfer.machineUserId,
    path: idempotency?.path,
    key: idempotency?.key,
    request_hash: toWire(idempotency?.requestHash),
    response_body: idempotency === null ? undefined : transfer.responseBody,
    outgoing_id: transfer.outgoingTransferId,
    incoming_id: transfer.incomingTransferId,
    outgoing_number: transfer.outgoingNumber,
    incoming_number: transfer.incomingNumber,
    outgoing_event_id: newEventRowId(),
    incoming_event_id: newEventRowId(),
    client_id: transfer.clientId,
    source_id: transfer.sourceAccountId,
    destination_id: transfer.destinationAccountId,
    currency: transfer.currency,
    amount_minor: transfer.amountMinor.toString(),
    fee_minor: transfer.feeMinor.toString(),
    transfer_date: transfer.transferDate,
    description: transfer.description,
    transfer_reason_id: transfer.transferReasonId,
    transfer_custom_reason: transfer.transferCustomReason,
  };
}
