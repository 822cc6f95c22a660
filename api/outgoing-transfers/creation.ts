import { waitedForRowOf } from '../../db/driver/client.ts';
import { newId } from '../../db/frame/ids.ts';
import { drawTransactionNumber } from '../../db/ledger/transaction-numbers.ts';
import { applyStraightThrough, type StraightThrough } from '../../db/outgoing-transfers/straight-through.ts';
import type { IncomingTransferId, OutgoingTransferId } from '../../domain/frame/ids.ts';
import { dateInUtc } from '../../domain/frame/time/dates.ts';
import type { Requirements } from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import { startingRequirements } from '../../domain/outgoing-transfers/requirement-rules.ts';
import {
  newOutgoingTransferRecord,
  type OutgoingTransferRecord,
  presentOutgoingTransfer,
} from '../../domain/outgoing-transfers/rows.ts';
import { inProgress } from '../frame/requests/idempotency.ts';
import type { RenderedAnswer, RouteContext } from '../frame/route.ts';
import type { fields } from '../frame/schemas/schemas.ts';
import type { outgoingTransferShown, postTransferWorkflow } from './schemas.ts';

type Workflows = { 'client.direct': typeof postTransferWorkflow };
type Shown = ReturnType<typeof fields<{ outgoingTransfer: typeof outgoingTransferShown }>>;
export type PostContext = RouteContext<Record<never, never>, Record<never, never>, Workflows, Shown>;

/**
 * Settles the transfer in one statement, which also stores the answer in the idempotency row. Null if a condition
 * does not hold: nothing was done, and the transfer is created or refused under locks instead.
 */
export async function settleStraightThrough(context: PostContext, fee: bigint): Promise<RenderedAnswer | null> {
  const { body, caller, services, idempotency } = context;
  const request = body.data.outgoingTransfer;
  if (request.destination.type !== 'client-account') throw new Error('an internal transfer goes to a client account');
  const now = services.serviceNow();
  const transfer = {
    machineUserId: caller.id,
    idempotency,
    outgoingTransferId: newId<OutgoingTransferId>(),
    incomingTransferId: newId<IncomingTransferId>(),
    outgoingNumber: drawTransactionNumber('outgoing-transfer', now),
    incomingNumber: drawTransactionNumber('incoming-transfer', now),
    clientId: request.clientId,
    sourceAccountId: request.source.accountId,
    destinationAccountId: request.destination.accountId,
    currency: request.currency,
    amountMinor: request.amountMinor,
    feeMinor: fee,
    // Today by this process's clock. If the database is on another day, the locked path decides by its clock.
    transferDate: dateInUtc(now),
    description: request.description ?? null,
    transferReasonId: request.transferReasonId ?? null,
    transferCustomReason: request.transferCustomReason ?? null,
  };
  const requirements = startingRequirements(services.configuration, request);
  const answer = context.render({
    data: { outgoingTransfer: presentOutgoingTransfer(recordOf(transfer, requirements)) },
  });
  try {
    const applied = await applyStraightThrough(services.database, { ...transfer, responseBody: answer.body });
    if (applied.outcome === 'replayed') return { ...answer, body: applied.responseBody, replayed: true };
    return applied.outcome === 'applied' ? answer : null;
  } catch (error) {
    // The first request with this key holds its row; any other long wait means that the database is unavailable.
    if (idempotency !== null && waitedForRowOf(error, 'idempotency_keys')) throw inProgress(idempotency);
    throw error;
  }
}

function recordOf(transfer: Omit<StraightThrough, 'responseBody'>, requirements: Requirements): OutgoingTransferRecord {
  return newOutgoingTransferRecord({
    id: transfer.outgoingTransferId,
    transactionNumber: transfer.outgoingNumber,
    clientId: transfer.clientId,
    accountId: transfer.sourceAccountId,
    status: 'pending',
    scope: 'internal',
    currency: transfer.currency,
    amountMinor: transfer.amountMinor,
    feeMinor: transfer.feeMinor,
    transferDate: transfer.transferDate,
    originalTransferDate: transfer.transferDate,
    description: transfer.description,
    transferReasonId: transfer.transferReasonId,
    transferCustomReason: transfer.transferCustomReason,
    destinationAccountId: transfer.destinationAccountId,
    incomingTransferId: transfer.incomingTransferId,
    authorizationStatus: requirements.authorizationStatus,
    complianceCheckStatus: requirements.complianceCheckStatus,
    transferDateStatus: requirements.transferDateStatus,
    balanceCheckStatus: requirements.balanceCheckStatus,
  });
}
