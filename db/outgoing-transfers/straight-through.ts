import type {
  AccountId,
  ClientId,
  IncomingTransferId,
  MachineUserId,
  OutgoingTransferId,
} from '../../domain/frame/ids.ts';
import { type CallLimits, type Database, isTakenNumber } from '../driver/client.ts';
import { batchedPerDatabase, fallBackToSingle } from '../driver/sharing/batcher.ts';
import { toWire } from '../driver/values.ts';
import { newEventRowId } from '../frame/events.ts';
import type { AppliedChange } from '../ledger/transfer-changes.ts';

/** Everything to store, including the text of the answer. Amounts in minor units. */
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

// Constant texts: a straight-through transfer's events differ from its row only in these fields.
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

// Checks the deadline before the function starts and again for the rows that it returns.
const SETTLE = `SELECT outcome, response_body AS "responseBody"
  FROM settle_straight_through_transfers(before_deadline($5, $1::json), $2::boolean, $3::json, $4::json) WHERE before_deadline($5)`;

/** One transfer's result, as settle_straight_through_transfers returns it. */
interface Settlement {
  readonly outcome: 'settled' | 'replayed' | 'undecided' | 'other-day' | 'alone';
  readonly responseBody: string | null;
}

/**
 * Applies an internal transfer that settles at once, by one statement in one round trip, which concurrent transfers share.
 * It reads nothing first: the request states its conditions, and the statement takes the rest from the locked accounts.
 * `not-applied`: a condition failed, and the transfer must be decided under locks like any other.
 */
export async function applyStraightThrough(database: Database, transfer: StraightThrough): Promise<AppliedChange> {
  const { outcome, responseBody } = await settleTogether(database, transfer).then((settlement) =>
    settlement.outcome === 'alone' ? settleAlone(database, transfer) : settlement,
  );
  if (outcome === 'replayed') return { outcome, responseBody: responseBody ?? '' };
  return { outcome: outcome === 'settled' ? 'applied' : 'not-applied', responseBody: null };
}

const ALONE: Settlement = { outcome: 'alone', responseBody: null };

// Transfers that share an account go through one at a time; otherwise each would hold a connection while waiting for its lock.
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

/** Waits for locks, unlike the shared statement. If its number is taken, the caller draws another one under locks. */
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

// The fields of the SQL type internal_transfer.
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
