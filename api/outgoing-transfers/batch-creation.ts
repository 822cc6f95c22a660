import { hash } from 'node:crypto';
import { setImmediate as turnOfOthers } from 'node:timers/promises';
import * as v from 'valibot';
import { DatabaseUnavailable, LockTimeout, type Transaction, waitedForRowOf } from '../../db/driver/client.ts';
import { applyUnderLocks } from '../../db/ledger/transfer-changes.ts';
import { closeBatch, type OpenedBatch, openBatch } from '../../db/outgoing-transfers/batches.ts';
import { decideNewTransfer } from '../../db/outgoing-transfers/creation.ts';
import { DomainError, type Problem, refusal } from '../../domain/frame/errors.ts';
import { PRIORITIES } from '../../domain/frame/waits.ts';
import { AccountsInTurn, CHANGES_AT_ONCE } from '../../domain/ledger/accounts-in-turn.ts';
import { feeMinor } from '../../domain/ledger/fees.ts';
import { isReviewedOnArrival } from '../../domain/outgoing-transfers/requirement-rules.ts';
import { presentOutgoingTransfer } from '../../domain/outgoing-transfers/rows.ts';
import type { TransferChange } from '../../domain/outgoing-transfers/transfer-changes.ts';
import { HttpRefusal, showError } from '../frame/errors.ts';
import { LOCK_WAIT_MS, writeIdempotently } from '../frame/requests/idempotency.ts';
import { canonicalJson, parseJson, stringify } from '../frame/requests/json.ts';
import { check, furtherProblems } from '../frame/requests/problems.ts';
import type { Outcome, RouteContext, Shown } from '../frame/route.ts';
import { type batchResponse, batchResult, type batchWorkflow, type SentItem } from './batch-schemas.ts';
import { decideTransfer, idsOf, requestedTransfer, type TransferOrder } from './decisions.ts';
import { pricingContradictions } from './pricing.ts';
import { outgoingTransferShown, postTransferWorkflow } from './schemas.ts';

/** Items of one transaction in the mode `each`: long enough to share its cost, short enough for others to get their locks. */
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
type Refuse = (results: Results, item: Pick<Item, 'index' | 'reference'>, error: DomainError) => void;

/** Creates the transfers of a batch, and keeps the answer under its Idempotency-Key. */
export async function answerBatch(context: BatchContext): Promise<Outcome<Shown<typeof batchResponse>>> {
  const stored = await context.storedAnswer();
  if (stored !== null) return stored;
  const answer = { data: { results: await createBatch(context) } };
  if (context.idempotency === null) return answer;
  try {
    return await context.write(async () => answer);
  } catch (error) {
    // Another request took the key meanwhile. The items are done, so their results are the truth.
    if (error instanceof DomainError) return answer;
    throw asUnknown(error);
  }
}

/** Creates each transfer that can be, or all or none. */
async function createBatch(context: BatchContext): Promise<Result[]> {
  const { items } = context.body.data;
  const isAll = context.body.workflow.mode === 'all';
  const refuse = isAll ? refuseAll : refuseItem(context);
  const results: Result[] = [];
  const perTransaction = isAll ? items.length : ITEMS_PER_TRANSACTION;
  for (let from = 0; from < items.length; from += perTransaction) {
    const sent = items.slice(from, from + perTransaction);
    results.push(...(await createPart(context, sent, from, refuse).catch((error) => refuseRest(error, from > 0))));
  }
  return results;
}

async function validItems(
  context: BatchContext,
  sent: readonly SentItem[],
  from: number,
  results: Results,
  refuse: Refuse,
): Promise<Item[]> {
  const valid: Item[] = [];
  const pricing = parseJson(stringify(context.body.workflow.pricing ?? null));
  for (const [place, one] of sent.entries()) {
    if (place > 0 && place % CHANGES_AT_ONCE === 0) await turnOfOthers();
    const { reference, ...data } = one;
    const item = { index: from + place, reference };
    try {
      const requestHash = hash('sha256', canonicalJson([pricing, data]), 'buffer');
      valid.push({ ...item, requestHash, order: orderOf(context, data) });
    } catch (error) {
      refuse(results, item, refusalOf(error));
    }
  }
  return valid;
}

/** Validates an item as the body of a transfer that is sent alone; throws the refusal. */
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

function refusalOf(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  throw error;
}

/**
 * The results of consecutive items, in their order; their transfers are created in one transaction. `from` is the index of the first.
 * Under an Idempotency-Key the results, of malformed items too, are stored with the transfers: the same batch at the same time, or
 * after a crash, gets them again, so no item that one answer calls refused is created for another, and another batch gets nowhere.
 */
async function createPart(
  context: BatchContext,
  sent: readonly SentItem[],
  from: number,
  refuse: Refuse,
): Promise<Result[]> {
  const { idempotency, services } = context;
  const malformed: Results = new Map();
  const valid = await validItems(context, sent, from, malformed, refuse);
  const create = async (tx: Transaction) =>
    inOrder(valid.length === 0 ? malformed : [...malformed, ...(await createTogether(tx, context, valid, refuse))]);
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
  const answer = await writeIdempotently(services.database, claim, work);
  return answer.replayed ? storedResults(answer.body, sent.length) : results;
}

function inOrder(results: Iterable<[number, Result]>): Result[] {
  return [...results].sort(([one], [other]) => one - other).map(([, result]) => result);
}

function storedResults(body: string, count: number): Result[] {
  const stored = parseJson(body, [], Number.MAX_SAFE_INTEGER);
  if (!v.is(partResults, stored) || stored.length !== count)
    throw new Error('the results stored for a part of a batch are not its own');
  return stored;
}

/** Creates transfers decided in order: each sees the balances that those before it leave. */
async function createTogether(
  tx: Transaction,
  { caller, services }: BatchContext,
  items: readonly Item[],
  refuse: Refuse,
): Promise<Results> {
  const opening = openBatch(tx, caller.id, items, { ...idsOfAll(items), now: services.now() });
  const opened = await opening.catch((error) => refuseWhileOthersCreate(error, items));
  const inTurn = new AccountsInTurn<TransferChange>(opened.accounts);
  const results: Results = new Map();
  const created: { reference: string; body: string }[] = [];
  for (const [place, item] of items.entries()) {
    if (place > 0 && place % CHANGES_AT_ONCE === 0) await turnOfOthers();
    const { index, reference } = item;
    try {
      if (opened.claimed.has(reference)) {
        const outgoingTransfer = createItem(tx, item.order, opened, inTurn);
        created.push({ reference, body: stringify(outgoingTransfer) });
        results.set(index, { reference, result: 'created', outgoingTransfer });
      } else {
        results.set(index, { reference, result: 'replayed', outgoingTransfer: firstAnswer(item, opened) });
      }
    } catch (error) {
      refuse(results, item, refusalOf(error));
    }
  }
  applyUnderLocks(tx, inTurn.rest);
  const kept = new Set(created.map(({ reference }) => reference));
  const refused = [...opened.claimed].filter((reference) => !kept.has(reference));
  closeBatch(tx, caller.id, created, refused);
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

/** Decides a new transfer as one that is sent alone; throws the refusal. */
function createItem(
  tx: Transaction,
  order: TransferOrder,
  opened: OpenedBatch,
  inTurn: AccountsInTurn<TransferChange>,
) {
  const { request, configuration } = order;
  const { bankAccount } = idsOf(request);
  const { accounts } = inTurn;
  const facts = {
    accounts,
    bankAccount: bankAccount === null ? null : (opened.bankAccounts.get(bankAccount) ?? null),
    now: opened.now,
  };
  const decided = decideTransfer(order, facts, opened.clientIds.has(request.clientId));
  const isReviewed = isReviewedOnArrival(configuration, request.currency);
  const receiver = decided.receiver === null ? null : { account: decided.receiver, isReviewed };
  const row = requestedTransfer(order, decided, opened.draw);
  const { created, change } = decideNewTransfer(row, receiver, accounts, configuration, opened.draw);
  // Postgres writes these while the next items are decided.
  applyUnderLocks(tx, inTurn.add({ ...change, priority: PRIORITIES.later }));
  return presentOutgoingTransfer(created);
}

/** What the first request with this reference got; throws if that was another one. */
function firstAnswer({ reference, requestHash }: Item, { answered }: OpenedBatch) {
  const first = answered.get(reference);
  if (first === undefined) throw inProgress([reference]);
  if (!first.requestHash.equals(requestHash)) {
    const message = 'This reference was used with another content.';
    throw refusal('common.idempotency.key_reused', ['item', 'reference', reference], message);
  }
  const shown = parseJson(first.body);
  if (!v.is(outgoingTransferShown, shown)) throw new Error(`the answer stored under ${reference} shows no transfer`);
  return shown;
}

function refuseItem({ services }: BatchContext): Refuse {
  return (results, { index, reference }, { problems }) => {
    results.set(index, { reference, result: 'refused', error: showError(problems, services.now()) });
  };
}

const refuseAll: Refuse = (_, { index }, { problems: [first, ...rest] }) => {
  throw new HttpRefusal(UNPROCESSABLE, [problemOfItem(first, index), ...rest.map((one) => problemOfItem(one, index))]);
};

/** The problem of one item as one of the batch: `items`, and the field within them. */
function problemOfItem({ code, message, messageParameters: [entity, field, value] }: Problem, index: number): Problem {
  const place = entity === 'item' || entity === 'data' ? field : `${entity}.${field}`;
  return { code, message: `Item ${index}: ${message}`, messageParameters: ['items', `${index}.${place}`, value] };
}

/** Says the truth of a batch whose first items may be done. */
function refuseRest(error: unknown, isBegun: boolean): never {
  throw isBegun ? asUnknown(error) : error;
}

/** Whoever holds one of these references is creating the same item; any other long wait means that the database is unavailable. */
function refuseWhileOthersCreate(error: unknown, items: readonly Item[]): never {
  throw waitedForRowOf(error, 'idempotency_keys') ? inProgress(items.map(({ reference }) => reference)) : error;
}

function asUnknown(error: unknown): unknown {
  const isAway = error instanceof DatabaseUnavailable || error instanceof LockTimeout;
  return isAway ? new DatabaseUnavailable(error.message, { outcome: 'unknown' }) : error;
}

/** Postgres does not say which of several references it waited for, so all of them are the offending value, as far as one has room. */
function inProgress(references: readonly string[]): DomainError {
  const which = references.length === 1 ? 'this reference' : 'one of these references';
  const message = `Another batch with ${which} is still under way. Send this one again.`;
  return refusal('common.idempotency.in_progress', ['item', 'reference', references.join(', ').slice(0, 100)], message);
}
