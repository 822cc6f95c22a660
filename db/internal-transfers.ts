import type { AccountId, ClientId, IncomingTransferId, MachineUserId, OutgoingTransferId } from '../domain/ids.ts';
import type { Database } from './client.ts';
import { newEventRowId } from './events.ts';

/** Everything that the one statement stores; the answer's text was rendered beforehand. Amounts in minor units. */
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

const SETTLE = `SELECT replayed, response_body AS "responseBody" FROM settle_internal_transfer(
  $1::uuid, $2::text, $3::text, $4::bytea, $5::text, $6::uuid, $7::uuid, $8::text, $9::text, $10::uuid, $11::uuid,
  $12::json, $13::json, $14::uuid, $15::uuid, $16::uuid, $17::text, $18::bigint, $19::bigint, $20::date, $21::text,
  $22::uuid, $23::text)`;

/**
 * Settles an internal transfer whose requirements all hold, in one statement and one round trip. Returns the stored
 * first answer when the idempotency key was used before, else null. Throws the refusals of `refuse()` in SQL.
 */
export async function settleInternalTransfer(database: Database, transfer: InternalTransfer): Promise<string | null> {
  const { idempotency } = transfer;
  const [outcome] = await database.statement<{ replayed: boolean; responseBody: string | null }>(SETTLE, [
    transfer.machineUserId,
    idempotency?.path ?? null,
    idempotency?.key ?? null,
    idempotency?.requestHash ?? null,
    idempotency === null ? null : transfer.responseBody,
    transfer.outgoingTransferId,
    transfer.incomingTransferId,
    transfer.outgoingNumber,
    transfer.incomingNumber,
    newEventRowId(),
    newEventRowId(),
    OUTGOING_ENTRIES,
    INCOMING_ENTRIES,
    transfer.clientId,
    transfer.sourceAccountId,
    transfer.destinationAccountId,
    transfer.currency,
    transfer.amountMinor.toString(),
    transfer.feeMinor.toString(),
    transfer.transferDate,
    transfer.description,
    transfer.transferReasonId,
    transfer.transferCustomReason,
  ]);
  if (outcome === undefined) throw new Error('settle_internal_transfer returned no row');
  return outcome.replayed ? outcome.responseBody : null;
}
