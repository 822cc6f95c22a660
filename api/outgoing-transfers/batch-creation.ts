import { hash } from 'node:crypto';
import { setImmediate as turnOfOthers } from 'node:timers/promises';
import * as v from 'valibot';
import { closeBatch, type OpenedBatch, openBatch } from '../../db/outgoing-transfers/batches.ts';
import { decideNewTransfer } from '../../db/outgoing-transfers/creation.ts';
import { DatabaseUnavailable, LockTimeout, waitedForRowOf } from '../../db/postgres/failures.ts';
import type { Transaction } from '../../db/query/database.ts';
import { applyUnderLocks } from '../../db/transfers/transfer-changes.ts';
import { DomainError, type Problem, rejection } from '../../domain/common/errors.ts';
import { PRIORITIES } from '../../domain/common/waits.ts';
import { BatchedAccounts, CHANGES_PER_LIST } from '../../domain/ledger/batched-accounts.ts';
import { feeMinor } from '../../domain/ledger/fees.ts';
import { isReviewedOnArrival } from '../../domain/outgoing-transfers/requirement-rules.ts';
import { presentOutgoingTransfer } from '../../domain/outgoing-transfers/rows.ts';
import type { TransferChange } from '../../domain/outgoing-transfers/transfer-changes.ts';
import { HttpRejection, showError } from '../http/errors.ts';
import { LOCK_WAIT_MS, writeInTransaction } from '../http/requests/idempotency.ts';
import { canonicalJson, parseJson, stringify } from '../http/requests/json.ts';
import { check, furtherProblems } from '../http/requests/problems.ts';
import type { Outcome, RouteContext, Shown } from '../http/route.ts';
import { type batchResponse, batchResult, type batchWorkflow, type SentItem } from './batch-schemas.ts';
import { pricingContradictions } from './pricing.ts';
import { outgoingTransferShown, postTransferWorkflow } from './schemas.ts';
import { decideTransfer, idsOf, requestedTransfer, type TransferOrder } from './validation.ts';
import { paymentRecorders } from './verified-payments.ts';

/** Items per transaction in the mode `each`: enough to share its cost, few enough to release the locks for others soon. */
const ITEMS_PER_TRANSACTION = 32;
const CREATED = 201;
const UNPROCESSABLE = 422;

type Workflows = { 'client.direct': typeof batchWorkflow };
export type BatchContext = RouteContext<Record<never, never>, Record<never, never>, Workflows, typeof batchResponse>;
type Result = v.InferInput<typeof batchResult>;
const partResults = v.array(batchResult);

interface Item {
  readonly index: number;
  readonly reference: string;
  readonly requestHash: Buffer;
  readonly order: TransferOrder;
}

/** Results by the index of their item. */
type Results = Map<number, Result>;
type Reject = (results: Results, item: Pick<Item, 'index' | 'reference'>, error: DomainError) => void;

/**
 * Creates the transfers of a batch, and keeps the answer under its Idempotency-Key, rejected items included: of two equal batches at
 * once, the later could otherwise create what money had arrived for meanwhile, while the stored answer said rejected.
 */
export async function answerBatch(context: BatchContext): Promise<Outcome<Shown<typeof batchResponse>>> {
  const stored = await context.storedAnswer();
  if (stored !== null) return stored;
  const answer = { data: { results: await createBatch(context) } };
  if (context.idempotency === null) return answer;
  try {
    return await context.write(async () => answer);
  } catch (error) {
    // A concurrent request took the key. The items have been processed, so their results are valid.
    if (error instanceof DomainError) return answer;
    throw asUnknown(error);
  }
}

/** Creates each transfer that can be, or all or none. */
async function createBatch(context: BatchContext): Promise<Result[]> {
  const { items } = context.body.data;
  const isAll = context.body.workflow.mode === 'all';
  const reject = isAll ? rejectAll : rejectItem(context);
  const results: Result[] = [];
  const perTransaction = isAll ? items.length : ITEMS_PER_TRANSACTION;
  for (let from = 0; from < items.length; from += perTransaction) {
    const sent = items.slice(from, from + perTransaction);
    results.push(...(await createPart(context, sent, from, reject).catch((error) => rejectRest(error, from > 0))));
  }
  return results;
}

async function validItems(
  context: BatchContext,
  sent: readonly SentItem[],
  from: number,
  results: Results,
  reject: Reject,
): Promise<Item[]> {
  const valid: Item[] = [];
  const pricing = parseJson(stringify(context.body.workflow.pricing ?? null));
  for (const [place, one] of sent.entries()) {
    if (place > 0 && place % CHANGES_PER_LIST === 0) await turnOfOthers();
    const { reference, ...data } = one;
    const item = { index: from + place, reference };
    try {
      const requestHash = hash('sha256', canonicalJson([pricing, data]), 'buffer');
      valid.push({ ...item, requestHash, order: orderOf(context, data) });
    } catch (error) {
      reject(results, item, rejectionOf(error));
    }
  }
  return valid;
}

/** Validates an item like the body of a single transfer; throws the rejection. */
function orderOf({ body, caller, requestId, services: { configuration } }: BatchContext, data: object): TransferOrder {
  const { value, problems } = check(postTransferWorkflow.data, data, ['data']);
  const terms = 'pricing' in data ? data.pricing : undefined;
  const contradictions = pricingContradictions(body.workflow.pricing, terms);
  const [first, ...rest] = [...problems, ...furtherProblems(problems, contradictions)];
  if (first !== undefined) throw new DomainError([first, ...rest]);
  const { outgoingTransfer: request } = value;
  const fee = feeMinor(request, { pricing: body.workflow.pricing, terms: value.pricing }, configuration.prices);
  return { request, feeMinor: fee, origin: 'batch', createdBy: caller.id, requestId, configuration };
}

function rejectionOf(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  throw error;
}

/**
 * Creates the transfers of consecutive items in one transaction, and returns their results in order. `from` is the index of the first item.
 * Under an Idempotency-Key all results, also of malformed items, are stored with the transfers: the same batch, sent concurrently or
 * after a crash, gets them again. So no item is rejected in one answer and created in another, and a different batch is rejected.
 */
async function createPart(
  context: BatchContext,
  sent: readonly SentItem[],
  from: number,
  reject: Reject,
): Promise<Result[]> {
  const { idempotency, services } = context;
  const malformed: Results = new Map();
  const valid = await validItems(context, sent, from, malformed, reject);
  const create = async (tx: Transaction) =>
    inOrder(valid.length === 0 ? malformed : [...malformed, ...(await createTogether(tx, context, valid, reject))]);
  if (idempotency === null) {
    if (valid.length === 0) return inOrder(malformed);
    return services.database.transaction(create, { lockTimeoutMs: LOCK_WAIT_MS });
  }
  let results: Result[] = [];
  const claim = { ...idempotency, path: `${idempotency.path}/parts/${from}` };
  const work = async (tx: Transaction) => {
    results = await create(tx);
    return { rendered: true, status: CREATED, body: stringify(results), replayed: false } as const;
  };
  const answer = await writeInTransaction(services.database, claim, work, null);
  return answer.replayed ? storedResults(answer.body, sent.length) : results;
}

function inOrder(results: Iterable<[number, Result]>): Result[] {
  return [...results].sort(([one], [other]) => one - other).map(([, result]) => result);
}

function storedResults(body: string, count: number): Result[] {
  const stored = parseJson(body, [], Number.MAX_SAFE_INTEGER);
  if (!v.is(partResults, stored) || stored.length !== count)
    throw new Error('the results stored for a part of a batch belong to another part');
  return stored;
}

/** Creates transfers in order: each is decided on the balances that the earlier ones leave. */
async function createTogether(
  tx: Transaction,
  { caller, initiator, services }: BatchContext,
  items: readonly Item[],
  reject: Reject,
): Promise<Results> {
  const opening = openBatch(tx, caller.id, items, { ...idsOfAll(items), now: services.now() });
  const opened = await opening.catch((error) => rejectWhileOthersCreate(error, items));
  const recorderOf = await paymentRecorders(
    tx,
    initiator,
    items.map(({ order }) => order),
  );
  const inTurn = new BatchedAccounts<TransferChange>(opened.accounts);
  const results: Results = new Map();
  const created: { reference: string; body: string }[] = [];
  for (const [place, item] of items.entries()) {
    if (place > 0 && place % CHANGES_PER_LIST === 0) await turnOfOthers();
    const { index, reference } = item;
    try {
      if (opened.claimed.has(reference)) {
        const outgoingTransfer = createItem(tx, item.order, opened, { inTurn, recorderOf });
        created.push({ reference, body: stringify(outgoingTransfer) });
        results.set(index, { reference, result: 'created', outgoingTransfer });
      } else {
        results.set(index, { reference, result: 'replayed', outgoingTransfer: firstAnswer(item, opened) });
      }
    } catch (error) {
      reject(results, item, rejectionOf(error));
    }
  }
  applyUnderLocks(tx, inTurn.rest);
  const kept = new Set(created.map(({ reference }) => reference));
  const rejected = [...opened.claimed].filter((reference) => !kept.has(reference));
  closeBatch(tx, caller.id, created, rejected);
  return results;
}

function idsOfAll(items: readonly Item[]) {
  const named = items.map(({ order }) => idsOf(order.request));
  const accounts = named.flatMap(({ source, destination }) =>
    destination === null ? [source] : [source, destination],
  );
  return {
    clients: [...new Set(items.map(({ order }) => order.request.clientId))],
    accounts: [...new Set(accounts)],
    bankAccounts: [...new Set(named.flatMap(({ bankAccount }) => (bankAccount === null ? [] : [bankAccount])))],
  };
}

interface ItemContext {
  readonly inTurn: BatchedAccounts<TransferChange>;
  readonly recorderOf: Awaited<ReturnType<typeof paymentRecorders>>;
}

/** Decides a new transfer like a single one; throws the rejection. */
function createItem(tx: Transaction, order: TransferOrder, opened: OpenedBatch, { inTurn, recorderOf }: ItemContext) {
  const { request, configuration } = order;
  const { bankAccount } = idsOf(request);
  const { accounts } = inTurn;
  const facts = {
    accounts,
    bankAccount: bankAccount === null ? null : (opened.bankAccounts.get(bankAccount) ?? null),
    now: opened.now,
  };
  const decided = decideTransfer(order, facts, opened.clientIds.has(request.clientId));
  const record = recorderOf(order, decided);
  const isReviewed = isReviewedOnArrival(configuration, request.currency);
  const receiver = decided.receiver === null ? null : { account: decided.receiver, isReviewed };
  const row = requestedTransfer(order, decided, opened.draw);
  const { created, change } = decideNewTransfer(row, receiver, accounts, configuration, opened.draw);
  // Postgres writes these rows while the next items are decided.
  applyUnderLocks(tx, inTurn.add({ ...change, priority: PRIORITIES.later }));
  record(created.id);
  return presentOutgoingTransfer(created);
}

/** The answer to the first request with this reference; throws if its content was different. */
function firstAnswer({ reference, requestHash }: Item, { answered }: OpenedBatch) {
  const first = answered.get(reference);
  if (first === undefined) throw inProgress([reference]);
  if (!first.requestHash.equals(requestHash)) {
    const message = 'This reference was used with different content.';
    throw rejection('common.idempotency.key_reused', ['item', 'reference', reference], message);
  }
  const shown = parseJson(first.body);
  if (!v.is(outgoingTransferShown, shown)) throw new Error(`the answer stored under ${reference} shows no transfer`);
  return shown;
}

function rejectItem({ services }: BatchContext): Reject {
  return (results, { index, reference }, { problems }) => {
    results.set(index, { reference, result: 'rejected', error: showError(problems, services.now()) });
  };
}

const rejectAll: Reject = (_, { index }, { problems: [first, ...rest] }) => {
  throw new HttpRejection(UNPROCESSABLE, [
    problemOfItem(first, index),
    ...rest.map((one) => problemOfItem(one, index)),
  ]);
};

/** The problem of an item as a problem of the batch, with the field's path in `items`. */
function problemOfItem({ code, message, messageParameters: [entity, field, value] }: Problem, index: number): Problem {
  const place = entity === 'item' || entity === 'data' ? field : `${entity}.${field}`;
  return { code, message: `Item ${index}: ${message}`, messageParameters: ['items', `${index}.${place}`, value] };
}

/** Reports the outcome as unknown if earlier items of the batch may have been created. */
function rejectRest(error: unknown, isBegun: boolean): never {
  throw isBegun ? asUnknown(error) : error;
}

/** A lock on one of these references means that another batch is creating the same item; any other long wait means that the database is unavailable. */
function rejectWhileOthersCreate(error: unknown, items: readonly Item[]): never {
  throw waitedForRowOf(error, 'idempotency_keys') ? inProgress(items.map(({ reference }) => reference)) : error;
}

function asUnknown(error: unknown): unknown {
  const isAway = error instanceof DatabaseUnavailable || error instanceof LockTimeout;
  return isAway ? new DatabaseUnavailable(error.message, { outcome: 'unknown' }) : error;
}

/** Postgres does not report which of several references it waited for, so all of them are named, up to the length of a value. */
function inProgress(references: readonly string[]): DomainError {
  const which = references.length === 1 ? 'this reference' : 'one of these references';
  const message = `Another batch with ${which} is still in progress. Send this one again.`;
  return rejection(
    'common.idempotency.in_progress',
    ['item', 'reference', references.join(', ').slice(0, 100)],
    message,
  );
}
