import { and, eq, sql } from 'drizzle-orm';
import { type Reader, sendWithCommit, sqlState, type Transaction } from '../driver/client.ts';
import { type ListStatement, noResults } from '../driver/queries/list-statements.ts';
import { type Given, prepared, type RowOf } from '../driver/queries/queries.ts';
import { deleteBatch } from '../driver/queries/rows.ts';
import { toWire } from '../driver/values.ts';
import { idempotencyKeys } from './schemas/idempotency-keys-schema.ts';

/** A key identifies one request of one machine user. */
export interface IdempotencyScope {
  readonly machineUserId: string;
  readonly method: string;
  readonly path: string;
  readonly key: string;
}

/** The response is null until the claiming transaction has an answer; only that transaction sees the null. */
export type IdempotencyRow = RowOf<typeof FIND>;

/** The keyring's row name for a stored answer. */
export function storedAnswerRow(scope: IdempotencyScope): string {
  return `idempotency_keys.response_body ${JSON.stringify(valuesOf(scope))}`;
}

type Place = Given<IdempotencyScope>;

function ofScope({ machineUserId, method, path, key }: Place) {
  const t = idempotencyKeys;
  return and(eq(t.machineUserId, machineUserId), eq(t.method, method), eq(t.path, path), eq(t.key, key));
}

// The function raises TAKEN_KEY, so that the statements sent after this one have no effect.
const CLAIM = `
  WITH claimed AS (
    INSERT INTO idempotency_keys (machine_user_id, method, path, key, request_hash, created_at)
    VALUES ($1, $2, $3, $4, $5, service_now()) ON CONFLICT DO NOTHING RETURNING key
  )
  SELECT refuse_taken_key() WHERE NOT EXISTS (SELECT FROM claimed)`;

/** Raised by refuse_taken_key() (migration 0050). */
const TAKEN_KEY = 'ZD002';

const SCOPE = `FROM json_to_recordset($1::json) AS item (place integer, machine_user_id uuid, method text, path text, key text`;

// Item by item: a join would read the whole table on old statistics.
const LOOK_UP_EACH: ListStatement<IdempotencyScope, boolean> = {
  text: `SELECT place ${SCOPE}), LATERAL (
      SELECT FROM idempotency_keys AS taken WHERE taken.machine_user_id = item.machine_user_id
        AND taken.method = item.method AND taken.path = item.path AND taken.key = item.key LIMIT 1) AS taken`,
  stage: 'keys',
  paramsOf: (scopes) => [JSON.stringify(scopes.map((scope, place) => ({ place, ...columnsOf(scope) })))],
  resultsOf: (answer, scopes) => {
    const taken = new Set(answer.map(([place]) => place));
    return scopes.map((_, place) => taken.has(place));
  },
  holds: (scope) => ({ what: storedAnswerRow(scope), isExclusive: true }),
};

const INSERT_EACH: ListStatement<KeyOfRequest & KeyAnswer, undefined> = {
  text: `INSERT INTO idempotency_keys (machine_user_id, method, path, key, request_hash, response_status, response_body, created_at)
    SELECT machine_user_id, method, path, key, request_hash, status, body, service_now()
    ${SCOPE}, request_hash bytea, status integer, body text)`,
  stage: 'answers',
  paramsOf: (keys) => [
    JSON.stringify(
      keys.map(({ requestHash, status, body, ...scope }) => ({
        ...columnsOf(scope),
        request_hash: toWire(requestHash),
        status,
        body,
      })),
    ),
  ],
  resultsOf: noResults,
};

function columnsOf({ machineUserId, method, path, key }: IdempotencyScope) {
  return { machine_user_id: machineUserId, method, path, key };
}

const FIND = prepared((db, given: Place) =>
  db
    .select({
      requestHash: idempotencyKeys.requestHash,
      responseStatus: idempotencyKeys.responseStatus,
      responseBody: idempotencyKeys.responseBody,
    })
    .from(idempotencyKeys)
    .where(ofScope(given)),
);

const STORE = prepared((db, given: Given<IdempotencyScope & { status: number; body: string }>) =>
  db
    .update(idempotencyKeys)
    .set({ responseStatus: sql`${given.status}`, responseBody: sql`${given.body}` })
    .where(ofScope(given)),
);

function valuesOf({ machineUserId, method, path, key }: IdempotencyScope): string[] {
  return [machineUserId, method, path, key];
}

/** A key and the request that claims it, by the SHA-256 of its body. */
export interface KeyOfRequest extends IdempotencyScope {
  readonly requestHash: Buffer;
}

interface KeyAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * Claims the key. Waits, up to the lock timeout, for a transaction that holds it. If the key is taken, this statement and
 * all that follow fail (`isTakenKey`), so a write sends them without awaiting it. In a shared transaction the answer claims
 * the key; this one sees to it that nothing is decided about a request that has its answer already.
 */
export async function claimIdempotencyKey(tx: Transaction, key: KeyOfRequest): Promise<void> {
  if (!tx.isShared) {
    await tx.statement(CLAIM, [...valuesOf(key), key.requestHash]);
    return;
  }
  const [isTaken] = await tx.each(LOOK_UP_EACH, [key]);
  if (isTaken !== false) throw new Error('the key is taken: its transaction cannot be shared');
}

/** Whether a transaction failed because another request has claimed its key. */
export function isTakenKey(error: unknown): boolean {
  return sqlState(error) === TAKEN_KEY;
}

export function findIdempotencyKey(reader: Reader, scope: IdempotencyScope): Promise<IdempotencyRow | null> {
  return reader.first(FIND, scope);
}

/** Stores the answer of a claimed key, with the commit of the write. */
export function storeIdempotentAnswer(tx: Transaction, key: KeyOfRequest, { status, body }: KeyAnswer): void {
  if (tx.isShared) tx.sendEach(INSERT_EACH, [{ ...key, status, body }]);
  else sendWithCommit(tx.run(STORE, { ...key, status, body }));
}

/** Deletes a batch of keys older than so many days; returns how many. */
export function deleteOldIdempotencyKeys(tx: Transaction, days: number, batchSize: number): Promise<number> {
  const isOld = sql`created_at < service_now() - make_interval(days => ${days})`;
  return deleteBatch(tx, idempotencyKeys, isOld, batchSize);
}
