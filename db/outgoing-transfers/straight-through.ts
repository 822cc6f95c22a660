import type { AccountId, IncomingTransferId, MachineUserId } from '../../domain/common/ids.ts';
import type { OutgoingTransferRecord } from '../../domain/outgoing-transfers/rows.ts';
import { batchedPerDatabase, fallBackToSingle } from '../batching/batcher.ts';
import { newEventRowId } from '../common/events.ts';
import { isTakenMeanwhile } from '../postgres/failures.ts';
import type { CallLimits, Database } from '../query/database.ts';
import { toWire } from '../query/values.ts';
import { type AppliedChange, sentTextsOnWire } from '../transfers/transfer-changes.ts';

/** Everything to store, including the text of the answer. Amounts in minor units. */
export interface StraightThrough {
  readonly machineUserId: MachineUserId;
  readonly idempotency: { readonly path: string; readonly key: string; readonly requestHash: Buffer } | null;
  readonly responseBody: string;
  /** As the answer shows it. */
  readonly outgoing: OutgoingTransferRecord & {
    readonly destinationAccountId: AccountId;
    readonly incomingTransferId: IncomingTransferId;
  };
  readonly incomingNumber: string;
}

interface TracedTransfer extends StraightThrough {
  readonly traceparent: string | undefined;
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
export async function applyStraightThrough(database: Database, given: StraightThrough): Promise<AppliedChange> {
  const transfer = { ...given, traceparent: database.limits().traceparent };
  const { outcome, responseBody } = await settleTogether(database, transfer).then((settlement) =>
    settlement.outcome === 'alone' ? settleAlone(database, transfer) : settlement,
  );
  if (outcome === 'replayed') return { outcome, responseBody: responseBody ?? '' };
  return { outcome: outcome === 'settled' ? 'applied' : 'not-applied', responseBody: null };
}

const ALONE: Settlement = { outcome: 'alone', responseBody: null };

// Transfers that share an account go through one at a time; otherwise each would hold a connection while waiting for its lock.
const settleTogether = batchedPerDatabase<TracedTransfer, Settlement>(
  (database, transfers, limits) =>
    fallBackToSingle(
      database,
      'settle_straight_through_transfers',
      transfers,
      () => settle(database, transfers, false, limits),
      ALONE,
    ),
  ({ outgoing }) => [outgoing.accountId, outgoing.destinationAccountId],
);

/** Waits for locks, unlike the shared statement. If its number is taken, the caller draws another one under locks. */
async function settleAlone(database: Database, transfer: TracedTransfer): Promise<Settlement> {
  try {
    const [settlement] = await settle(database, [transfer], true, database.limits());
    if (settlement === undefined) throw new Error('settle_straight_through_transfers answered no row');
    return settlement;
  } catch (error) {
    if (isTakenMeanwhile(error)) return { outcome: 'undecided', responseBody: null };
    throw error;
  }
}

function settle(
  database: Database,
  transfers: readonly TracedTransfer[],
  waits: boolean,
  limits: CallLimits,
): Promise<Settlement[]> {
  const rows = JSON.stringify(transfers.map(toRow));
  return database.write<Settlement>(SETTLE, [rows, waits, OUTGOING_ENTRIES, INCOMING_ENTRIES], limits);
}

// The fields of the SQL type internal_transfer.
function toRow({ machineUserId, idempotency, responseBody, outgoing, incomingNumber, traceparent }: TracedTransfer) {
  return {
    machine_user_id: machineUserId,
    path: idempotency?.path,
    key: idempotency?.key,
    request_hash: toWire(idempotency?.requestHash),
    response_body: idempotency === null ? undefined : responseBody,
    outgoing_id: outgoing.id,
    incoming_id: outgoing.incomingTransferId,
    outgoing_number: outgoing.transactionNumber,
    incoming_number: incomingNumber,
    outgoing_event_id: newEventRowId(),
    incoming_event_id: newEventRowId(),
    client_id: outgoing.clientId,
    source_id: outgoing.accountId,
    destination_id: outgoing.destinationAccountId,
    currency: outgoing.currency,
    amount_minor: outgoing.amountMinor.toString(),
    fee_minor: outgoing.feeMinor.toString(),
    transfer_date: outgoing.transferDate,
    ...sentTextsOnWire(outgoing),
    traceparent,
  };
}
