import type {
  AccountId,
  ClientId,
  IncomingTransferId,
  MachineUserId,
  OutgoingTransferId,
} from '../../domain/frame/ids.ts';
import { batchedPerDatabase, fallBackToSingle } from '../driver/batcher.ts';
import type { CallLimits, Database } from '../driver/client.ts';
import { toWire } from '../driver/values.ts';
import { newEventRowId } from '../frame/events.ts';

/** Everything that is stored; the answer's text was rendered beforehand. Amounts in minor units. */
export interface InternalTransfer {
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
const SETTLE = `SELECT outcome, transfer_date AS "transferDate", response_body AS "responseBody"
  FROM settle_straight_through_transfers(before_deadline($5, $1::json), $2::boolean, $3::json, $4::json) WHERE before_deadline($5)`;

/** How one transfer ended, in the words of settle_straight_through_transfers. */
type Settlement = {
  readonly outcome: 'settled' | 'replayed' | 'undecided' | 'other-day' | 'alone';
  readonly transferDate: string;
  readonly responseBody: string | null;
};

/**
 * What became of a transfer: settled; or its key was used before, and this is the first answer; or the day asked for is over; or
 * something does not hold, nothing was done, and it is to be decided under its locks.
 */
export type SettledTransfer =
  | { readonly outcome: 'settled' }
  | { readonly outcome: 'undecided' }
  | { readonly outcome: 'replayed'; readonly responseBody: string }
  | { readonly outcome: 'other-day'; readonly transferDate: string };

/**
 * Settles an internal transfer whose requirements all hold, in one statement and one round trip, which it may share with
 * others.
 */
export async function settleInternalTransfer(database: Database, transfer: InternalTransfer): Promise<SettledTransfer> {
  let settlement = await settleTogether(database, transfer);
  if (settlement.outcome === 'alone') settlement = await settleAlone(database, transfer);
  const { outcome, transferDate, responseBody } = settlement;
  switch (outcome) {
    case 'settled':
    case 'undecided':
      return { outcome };
    case 'replayed':
      return { outcome, responseBody: responseBody ?? '' };
    case 'other-day':
      return { outcome, transferDate };
    case 'alone':
      throw new Error('a transfer that was settled alone was asked to be alone');
  }
}

const ALONE: Settlement = { outcome: 'alone', transferDate: '', responseBody: null };

// Two statements that lock the same account would wait for each other in the database, with a connection each.
const settleTogether = batchedPerDatabase<InternalTransfer, Settlement>(
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

async function settleAlone(database: Database, transfer: InternalTransfer): Promise<Settlement> {
  const [settlement] = await settle(database, [transfer], true, database.limits());
  if (settlement === undefined) throw new Error('settle_straight_through_transfers answered no row');
  return settlement;
}

function settle(
  database: Database,
  transfers: readonly InternalTransfer[],
  waits: boolean,
  limits: CallLimits,
): Promise<Settlement[]> {
  const rows = JSON.stringify(transfers.map(toRow));
  return database.write<Settlement>(SETTLE, [rows, waits, OUTGOING_ENTRIES, INCOMING_ENTRIES], limits);
}

// In the words of the SQL type internal_transfer.
function toRow(transfer: InternalTransfer) {
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
