import { newId } from '../../db/common/ids.ts';
import { applyStraightThrough } from '../../db/outgoing-transfers/straight-through.ts';
import { waitedForRowOf } from '../../db/postgres/failures.ts';
import { drawTransactionNumber } from '../../db/transfers/transaction-numbers.ts';
import type { IncomingTransferId, OutgoingTransferId } from '../../domain/common/ids.ts';
import { dateInUtc } from '../../domain/common/time/dates.ts';
import { sentTextsOf } from '../../domain/outgoing-transfers/requests/sent-texts.ts';
import { startingRequirements } from '../../domain/outgoing-transfers/requirement-rules.ts';
import { newOutgoingTransferRecord, presentOutgoingTransfer } from '../../domain/outgoing-transfers/rows.ts';
import { inProgress } from '../http/requests/idempotency.ts';
import type { RenderedAnswer, RouteContext } from '../http/route.ts';
import type { fields } from '../http/schemas/schemas.ts';
import type { outgoingTransferShown, plannedTransferShown, postTransferWorkflow } from './schemas.ts';

type Workflows = { 'client.direct': typeof postTransferWorkflow };
type Shown = ReturnType<typeof fields<{ outgoingTransfer: typeof outgoingTransferShown }>>;
type DryRun = ReturnType<typeof fields<{ outgoingTransfer: typeof plannedTransferShown }>>;
export type PostContext = RouteContext<Record<never, never>, Record<never, never>, Workflows, Shown | DryRun>;

/**
 * Settles the transfer in one statement, which also stores the answer in the idempotency row. Null if a condition
 * does not hold: nothing was done, and the transfer is created or rejected under locks instead.
 */
export async function settleStraightThrough(context: PostContext, fee: bigint): Promise<RenderedAnswer | null> {
  const { body, caller, services, idempotency } = context;
  const request = body.data.outgoingTransfer;
  if (request.destination.type !== 'client-account') throw new Error('an internal transfer goes to a client account');
  const now = services.serviceNow();
  // By this process's clock. If the database is on another day, the locked path decides by its clock.
  const today = dateInUtc(now);
  const outgoing = newOutgoingTransferRecord({
    id: newId<OutgoingTransferId>(),
    transactionNumber: drawTransactionNumber('outgoing-transfer', now),
    clientId: request.clientId,
    accountId: request.source.accountId,
    status: 'pending' as const,
    scope: 'internal' as const,
    currency: request.currency,
    amountMinor: request.amountMinor,
    feeMinor: fee,
    transferDate: today,
    originalTransferDate: today,
    ...sentTextsOf(request),
    destinationAccountId: request.destination.accountId,
    incomingTransferId: newId<IncomingTransferId>(),
    ...startingRequirements(services.configuration, request),
  });
  const answer = context.render({ data: { outgoingTransfer: presentOutgoingTransfer(outgoing) } });
  const transfer = {
    machineUserId: caller.id,
    idempotency,
    responseBody: answer.body,
    outgoing,
    incomingNumber: drawTransactionNumber('incoming-transfer', now),
  };
  try {
    const applied = await applyStraightThrough(services.database, transfer);
    if (applied.outcome === 'replayed') return { ...answer, body: applied.responseBody, replayed: true };
    return applied.outcome === 'applied' ? answer : null;
  } catch (error) {
    // The first request with this key holds its row; any other long wait means that the database is unavailable.
    if (idempotency !== null && waitedForRowOf(error, 'idempotency_keys')) throw inProgress(idempotency);
    throw error;
  }
}
