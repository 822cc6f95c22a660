import { findClient } from '../../db/clients/clients.ts';
import type { Reader, Transaction } from '../../db/driver/client.ts';
import { newId } from '../../db/frame/ids.ts';
import { drawTransactionNumber } from '../../db/ledger/transaction-numbers.ts';
import { createOutgoingTransfer, createWithoutLocks, readTransferFacts } from '../../db/outgoing-transfers/creation.ts';
import {
  type DestinationBankAccount,
  openOutgoingTransfer,
  type TransferFacts,
} from '../../db/outgoing-transfers/transfer-facts.ts';
import { DomainError } from '../../domain/frame/errors.ts';
import type { AccountId, IncomingTransferId, OutgoingTransferId } from '../../domain/frame/ids.ts';
import type { LockedAccount } from '../../domain/ledger/ledger.ts';
import { planOutgoingTransfer, type TransferPlan } from '../../domain/outgoing-transfers/plans.ts';
import { transferReasons } from '../../domain/outgoing-transfers/requests/transfer-reasons.ts';
import { isReviewedOnArrival, startingRequirements } from '../../domain/outgoing-transfers/requirement-rules.ts';
import {
  newOutgoingTransfer,
  presentOutgoingTransfer,
  presentPlannedTransfer,
} from '../../domain/outgoing-transfers/rows.ts';
import { offerOf } from '../../domain/providers/providers.ts';
import { claimedKey, openIdempotently } from '../frame/requests/idempotency.ts';
import type { RenderedAnswer } from '../frame/route.ts';
import type { PostContext } from './creation.ts';
import type { PostedTransfer } from './schemas.ts';

type PostAnswer = Parameters<PostContext['render']>[0];

/** Creates a transfer that waits, goes outside or could not be settled at once, or answers a dry run. */
export async function makeTransfer(context: PostContext, fee: bigint): Promise<RenderedAnswer> {
  return (await makeWithoutLocks(context, fee)) ?? makeUnderLocks(context, fee);
}

/**
 * Decides an external transfer on facts read without locks, and creates it if they still hold. Both statements are
 * shared with concurrent requests. Null if the locked path must create, refuse or answer.
 */
async function makeWithoutLocks(context: PostContext, fee: bigint): Promise<RenderedAnswer | null> {
  const { services, idempotency, body } = context;
  const { source, destination } = body.data.outgoingTransfer;
  if (destination.type === 'client-account' || body.workflow.dryRun === true) return null;
  const facts = await readTransferFacts(services.database, {
    scope: idempotency,
    sourceAccountId: source.accountId,
    bankAccountId: destination.beneficiaryBankAccountId,
  });
  if (facts === null) return null;
  const decided = await decideTransfer(services.database.reader, context, facts, fee).catch(ignoreRefusal);
  if (decided === null) return null;
  const row = requestedTransfer(context, decided);
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
async function makeUnderLocks(context: PostContext, fee: bigint): Promise<RenderedAnswer> {
  const { services, idempotency, body } = context;
  const { source, destination } = body.data.outgoingTransfer;
  const ids = {
    source: source.accountId,
    destination: destination.type === 'client-account' ? destination.accountId : null,
    bankAccount: destination.type === 'client-account' ? null : destination.beneficiaryBankAccountId,
  };
  return openIdempotently(
    services.database,
    idempotency,
    (tx) => openOutgoingTransfer(tx, idempotency, ids),
    async (tx, facts) => context.render(await createTransfer(tx, context, facts, fee)),
  );
}

async function createTransfer(
  tx: Transaction,
  context: PostContext,
  facts: TransferFacts,
  fee: bigint,
): Promise<PostAnswer> {
  const { body, services } = context;
  const decided = await decideTransfer(tx, context, facts, fee);
  if (body.workflow.dryRun === true) {
    const planned = presentPlannedTransfer(plannedTransfer(context, decided));
    return { status: 200, data: { outgoingTransfer: planned } };
  }
  const transfer = requestedTransfer(context, decided);
  const isReviewed = isReviewedOnArrival(services.configuration, body.data.outgoingTransfer.currency);
  const receiver = decided.receiver === null ? null : { account: decided.receiver, isReviewed };
  const created = createOutgoingTransfer(tx, transfer, receiver, decided.accounts, services.configuration);
  return { data: { outgoingTransfer: presentOutgoingTransfer(created) } };
}

interface DecidedTransfer {
  readonly accounts: ReadonlyMap<AccountId, LockedAccount>;
  readonly source: LockedAccount;
  readonly receiver: LockedAccount | null;
  readonly to: DestinationBankAccount | null;
  readonly plan: TransferPlan;
  readonly feeMinor: bigint;
  readonly now: Date;
}

/** Decides the transfer; throws the refusal. */
async function decideTransfer(
  reader: Reader,
  context: PostContext,
  facts: TransferFacts,
  fee: bigint,
): Promise<DecidedTransfer> {
  const request = context.body.data.outgoingTransfer;
  const { configuration } = context.services;
  const { source: from, destination } = request;
  const internalTo = destination.type === 'client-account' ? destination.accountId : null;
  const { accounts, bankAccount: to, now } = facts;
  const source = accounts.get(from.accountId) ?? null;
  const receiver = internalTo === null ? null : (accounts.get(internalTo) ?? null);
  const clientExists = source?.clientId === request.clientId || (await findClient(reader, request.clientId)) !== null;
  const plan = planOutgoingTransfer(
    {
      ...request,
      scheme: request.scheme ?? null,
      transferDate: request.transferDate ?? null,
      transferReasonId: request.transferReasonId ?? null,
      transferCustomReason: request.transferCustomReason ?? null,
      schemeAttributes: request.schemeAttributes ?? null,
      sourceAccountId: from.accountId,
      destinationId: internalTo ?? destinationBankAccountId(request),
    },
    {
      clientExists,
      source,
      destination: receiver,
      bankAccount: to?.account ?? null,
      offeredSchemes: source === null ? [] : (offerOf(source, configuration.providers)?.schemes ?? []),
      reasons: to === null ? [] : transferReasons(to.account.country),
      tradeNames: configuration.tradeNames,
      schemes: configuration.schemes,
      feeMinor: fee,
      transferDateYearsMax: configuration.transferDateYearsMax,
      now,
    },
  );
  if (source === null) throw new Error('a plan without a source account');
  return { accounts, source, receiver, to, plan, feeMinor: fee, now };
}

function requestedTransfer(context: PostContext, decided: DecidedTransfer) {
  const { source, receiver, to, now } = decided;
  return {
    ...plannedTransfer(context, decided),
    schemeAttributes: context.body.data.outgoingTransfer.schemeAttributes ?? null,
    destinationPartyAccountId: receiver?.partyAccountId ?? null,
    beneficiary: to?.beneficiary ?? null,
    method: source.method,
    provider: source.provider,
    createdBy: context.caller.id,
    createdAt: now,
    updatedAt: now,
  };
}

function destinationBankAccountId({ destination }: PostedTransfer): string {
  return destination.type === 'beneficiary-bank-account' ? destination.beneficiaryBankAccountId : '';
}

function plannedTransfer(context: PostContext, { source, receiver, to, plan, feeMinor: fee, now }: DecidedTransfer) {
  const request = context.body.data.outgoingTransfer;
  return {
    id: newId<OutgoingTransferId>(),
    transactionNumber: drawTransactionNumber('outgoing-transfer', now),
    clientId: request.clientId,
    accountId: source.id,
    status: 'pending' as const,
    scope: request.scope,
    scheme: request.scheme ?? null,
    currency: request.currency,
    amountMinor: request.amountMinor,
    feeMinor: fee,
    transferDate: plan.transferDate,
    originalTransferDate: plan.originalTransferDate,
    rollCount: plan.rollCount,
    cutOffAt: plan.cutOffAt,
    description: request.description ?? null,
    transferReasonId: request.transferReasonId ?? null,
    transferCustomReason: request.transferCustomReason ?? null,
    destinationAccountId: receiver?.id ?? null,
    beneficiaryId: to?.account.beneficiaryId ?? null,
    beneficiaryBankAccountId: to?.account.id ?? null,
    returned: false,
    incomingTransferId: receiver === null ? null : newId<IncomingTransferId>(),
    ...startingRequirements(context.services.configuration, request),
  };
}
