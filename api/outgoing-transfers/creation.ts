import { findClient } from '../../db/clients/clients.ts';
import { createOutgoingTransfer, createWithoutLocks, readTransferFacts } from '../../db/outgoing-transfers/creation.ts';
import {
  openOutgoingTransfer,
  readFactsWithoutLocks,
  type TransferFacts,
} from '../../db/outgoing-transfers/transfer-facts.ts';
import type { Reader, Transaction } from '../../db/query/database.ts';
import { DomainError } from '../../domain/common/errors.ts';
import { availableMinor } from '../../domain/ledger/ledger.ts';
import { isReviewedOnArrival, previewRequirements } from '../../domain/outgoing-transfers/requirement-rules.ts';
import {
  newOutgoingTransfer,
  presentOutgoingTransfer,
  presentPlannedTransfer,
  presentRequirements,
  totalMinor,
} from '../../domain/outgoing-transfers/rows.ts';
import { claimedKey, openIdempotently } from '../http/requests/idempotency.ts';
import type { RenderedAnswer } from '../http/route.ts';
import type { PostContext } from './straight-through.ts';
import {
  type DecidedTransfer,
  decideTransfer,
  idsOf,
  plannedTransfer,
  requestedTransfer,
  type TransferOrder,
} from './validation.ts';
import { paymentRecorders, verificationsOf } from './verified-payments.ts';

type PostAnswer = Parameters<PostContext['render']>[0];
type Made = PostAnswer | RenderedAnswer;

/** Creates a transfer that waits, is external or could not be settled straight through. */
export async function makeTransfer(context: PostContext, feeMinor: bigint): Promise<Made> {
  const order = orderOf(context, feeMinor);
  return (await makeWithoutLocks(context, order)) ?? makeUnderLocks(context, order);
}

/**
 * Answers a dry run. It decides as a creation does, on facts read without locks, so that it holds no payer up. No answer is stored: a
 * caller that draws one key per intention would get 409 for the real request, and a repeated plan would show an old balance.
 */
export async function planTransfer(context: PostContext, feeMinor: bigint): Promise<PostAnswer> {
  const { reader } = context.services.database;
  const order = orderOf(context, feeMinor);
  const facts = await readFactsWithoutLocks(reader, idsOf(order.request));
  const decided = await findClientAndDecide(reader, order, facts);
  (await verificationsOf(reader, [order]))(order, decided);
  return answerDryRun(order, decided);
}

function orderOf({ body, caller, requestId, services }: PostContext, feeMinor: bigint): TransferOrder {
  const { configuration } = services;
  const request = body.data.outgoingTransfer;
  return { request, feeMinor, origin: 'request', createdBy: caller.id, requestId, configuration };
}

/**
 * Decides an external transfer on facts read without locks, and creates it if they still hold. Both statements are
 * shared with concurrent requests. Null if the locked path must create or reject, as it does after a verification, which it records.
 */
async function makeWithoutLocks(context: PostContext, order: TransferOrder): Promise<Made | null> {
  const { services, idempotency } = context;
  const { source, bankAccount } = idsOf(order.request);
  if (bankAccount === null || order.request.beneficiaryVerificationId !== undefined) return null;
  const facts = await readTransferFacts(services.database, {
    scope: idempotency,
    sourceAccountId: source,
    bankAccountId: bankAccount,
  });
  if (facts === null) return null;
  const decided = await findClientAndDecide(services.database.reader, order, facts).catch(ignoreRejection);
  if (decided === null) return null;
  const row = requestedTransfer(order, decided);
  const answer = context.render({ data: { outgoingTransfer: presentOutgoingTransfer(newOutgoingTransfer(row)) } });
  const key = claimedKey(idempotency, answer);
  const created = await createWithoutLocks(services.database, row, decided.source, services.configuration, key);
  return created ? answer : null;
}

// The locked path decides again, and finds the answer stored for a repeated key.
function ignoreRejection(error: unknown): null {
  if (error instanceof DomainError) return null;
  throw error;
}

/**
 * Decides the request with its accounts locked. The transaction waits for Postgres twice: for the facts and the
 * commit.
 */
async function makeUnderLocks(context: PostContext, order: TransferOrder): Promise<RenderedAnswer> {
  const { services, idempotency } = context;
  const ids = idsOf(order.request);
  return openIdempotently(
    services.database,
    idempotency,
    (tx) => openOutgoingTransfer(tx, idempotency, ids),
    async (tx, facts) => context.render(await createTransfer(tx, context, order, facts)),
  );
}

async function createTransfer(
  tx: Transaction,
  { body, initiator, services }: PostContext,
  order: TransferOrder,
  facts: TransferFacts,
): Promise<PostAnswer> {
  const decided = await findClientAndDecide(tx, order, facts);
  const record = (await paymentRecorders(tx, initiator, [order]))(order, decided);
  const transfer = requestedTransfer(order, decided);
  const isReviewed = isReviewedOnArrival(services.configuration, body.data.outgoingTransfer.currency);
  const receiver = decided.receiver === null ? null : { account: decided.receiver, isReviewed };
  const created = createOutgoingTransfer(tx, transfer, receiver, decided.accounts, services.configuration);
  record(created.id);
  return { data: { outgoingTransfer: presentOutgoingTransfer(created) } };
}

/** The transfer that would be created, with the result that each requirement would have now. */
function answerDryRun(order: TransferOrder, decided: DecidedTransfer) {
  const planned = plannedTransfer(order, decided);
  const requirements = previewRequirements(planned, {
    immediate: decided.plan.immediate,
    totalMinor: totalMinor(planned),
    availableMinor: availableMinor(decided.source),
  });
  const shown = { ...presentPlannedTransfer(planned), requirementConfiguration: presentRequirements(requirements) };
  return { status: 200, data: { outgoingTransfer: shown } } as const;
}

/** Decides the transfer; throws the rejection. */
async function findClientAndDecide(
  reader: Reader,
  order: TransferOrder,
  facts: TransferFacts,
): Promise<DecidedTransfer> {
  const { clientId, source } = order.request;
  const isOwner = facts.accounts.get(source.accountId)?.clientId === clientId;
  return decideTransfer(order, facts, isOwner || (await findClient(reader, clientId)) !== null);
}
