import { findClient } from '../../db/clients/clients.ts';
import type { Reader, Transaction } from '../../db/driver/client.ts';
import { createOutgoingTransfer, createWithoutLocks, readTransferFacts } from '../../db/outgoing-transfers/creation.ts';
import { openOutgoingTransfer, type TransferFacts } from '../../db/outgoing-transfers/transfer-facts.ts';
import { DomainError } from '../../domain/frame/errors.ts';
import { availableMinor } from '../../domain/ledger/ledger.ts';
import { foreseenRequirements, isReviewedOnArrival } from '../../domain/outgoing-transfers/requirement-rules.ts';
import {
  newOutgoingTransfer,
  presentOutgoingTransfer,
  presentPlannedTransfer,
  presentRequirements,
  totalMinor,
} from '../../domain/outgoing-transfers/rows.ts';
import { claimedKey, openIdempotently } from '../frame/requests/idempotency.ts';
import type { RenderedAnswer } from '../frame/route.ts';
import type { PostContext } from './creation.ts';
import {
  type DecidedTransfer,
  decideTransfer,
  idsOf,
  plannedTransfer,
  requestedTransfer,
  type TransferOrder,
} from './decisions.ts';

type PostAnswer = Parameters<PostContext['render']>[0];
type Made = PostAnswer | RenderedAnswer;

/** Creates a transfer that waits, goes outside or could not be settled at once, or answers a dry run. */
export async function makeTransfer(context: PostContext, feeMinor: bigint): Promise<Made> {
  const { body, caller, requestId, services } = context;
  const request = body.data.outgoingTransfer;
  const order = {
    request,
    feeMinor,
    origin: 'request' as const,
    createdBy: caller.id,
    requestId,
    configuration: services.configuration,
  };
  return (await makeWithoutLocks(context, order)) ?? makeUnderLocks(context, order);
}

/**
 * Decides an external transfer on facts read without locks, and creates it if they still hold. Both statements are
 * shared with concurrent requests. A dry run holds up no payment for its answer. Null if the locked path must create, refuse
 * or answer.
 */
async function makeWithoutLocks(context: PostContext, order: TransferOrder): Promise<Made | null> {
  const { services, idempotency, body } = context;
  const { source, bankAccount } = idsOf(order.request);
  if (bankAccount === null) return null;
  const facts = await readTransferFacts(services.database, {
    scope: idempotency,
    sourceAccountId: source,
    bankAccountId: bankAccount,
  });
  if (facts === null) return null;
  const decided = await findClientAndDecide(services.database.reader, order, facts).catch(ignoreRefusal);
  if (decided === null) return null;
  if (body.workflow.dryRun === true) {
    const dryRun = answerDryRun(order, decided);
    return idempotency === null ? context.render(dryRun) : context.write(async () => dryRun);
  }
  const row = requestedTransfer(order, decided);
  const answer = context.render({ data: { outgoingTransfer: presentOutgoingTransfer(newOutgoingTransfer(row)) } });
  const key = claimedKey(idempotency, answer);
  const created = await createWithoutLocks(services.database, row, decided.source, services.configuration, key);
  return created ? answer : null;
}

// The locked path decides again, and finds the answer of a repeated key.
function ignoreRefusal(error: unknown): null {
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
  { body, services }: PostContext,
  order: TransferOrder,
  facts: TransferFacts,
): Promise<PostAnswer> {
  const decided = await findClientAndDecide(tx, order, facts);
  if (body.workflow.dryRun === true) return answerDryRun(order, decided);
  const transfer = requestedTransfer(order, decided);
  const isReviewed = isReviewedOnArrival(services.configuration, body.data.outgoingTransfer.currency);
  const receiver = decided.receiver === null ? null : { account: decided.receiver, isReviewed };
  const created = createOutgoingTransfer(tx, transfer, receiver, decided.accounts, services.configuration);
  return { data: { outgoingTransfer: presentOutgoingTransfer(created) } };
}

/** The transfer that would be created, with its requirements as each would come out now. */
function answerDryRun(order: TransferOrder, decided: DecidedTransfer) {
  const planned = plannedTransfer(order, decided);
  const requirements = foreseenRequirements(planned, {
    immediate: decided.plan.immediate,
    totalMinor: totalMinor(planned),
    availableMinor: availableMinor(decided.source),
  });
  const shown = { ...presentPlannedTransfer(planned), requirementConfiguration: presentRequirements(requirements) };
  return { status: 200, data: { outgoingTransfer: shown } } as const;
}

/** Decides the transfer; throws the refusal. */
async function findClientAndDecide(
  reader: Reader,
  order: TransferOrder,
  facts: TransferFacts,
): Promise<DecidedTransfer> {
  const { clientId, source } = order.request;
  const isOwner = facts.accounts.get(source.accountId)?.clientId === clientId;
  return decideTransfer(order, facts, isOwner || (await findClient(reader, clientId)) !== null);
}
