import { and, eq, sql } from 'drizzle-orm';
import { sqlState } from '../postgres/failures.ts';
import { type Reader, sendWithCommit, type Transaction } from '../query/database.ts';
import type { ListStatement, RowWriter } from '../query/list-statements.ts';
import { type Given, prepared, preparedChange, type RowOf } from '../query/queries.ts';
import { writing } from '../query/row-writers.ts';
import { deleteBatch } from '../query/rows.ts';
import { toWire } from '../query/values.ts';
import { idempotencyKeys } from './schema.ts';

/** A key identifies one request of one machine user. */
export interface IdempotencyScope {
  readonly machineUserId: string;
  readonly method: string;
  readonly path: string;
  readonly key: string;
}

/** The response is null until the claiming transaction has an answer; only that transaction sees the null. */
export type IdempotencyRow = RowOf<typeof FIND>;

/** The name of the row by which the keyring encrypts a stored answer. */
export function storedAnswerRow(scope: IdempotencyScope): string {
  return `idempotency_keys.response_body ${JSON.stringify(valuesOf(scope))}`;
}

type GivenScope = Given<IdempotencyScope>;

function ofScope({ machineUserId, method, path, key }: GivenScope) {
  const t = idempotencyKeys;
  return and(eq(t.machineUserId, machineUserId), eq(t.method, method), eq(t.path, path), eq(t.key, key));
}

// The function raises TAKEN_KEY, so that the statements sent after this one have no effect.
const CLAIM = `
  WITH claimed AS (
    INSERT INTO idempotency_keys (machine_user_id, method, path, key, request_hash, created_at)
    VALUES ($1, $2, $3, $4, $5, service_now()) ON CONFLICT DO NOTHING RETURNING key
  )
  SELECT reject_taken_key() WHERE NOT EXISTS (SELECT FROM claimed)`;

/** Raised by reject_taken_key() (db/functions/writes.sql). */
const TAKEN_KEY = 'ZD002';

const ANSWERED: RowWriter<KeyOfRequest & KeyAnswer> = {
  name: 'idempotency key',
  stage: 'answers',
  columns: 'machine_user_id uuid, method text, path text, key text, request_hash bytea, status integer, body text',
  recordOf: ({ requestHash, status, body, ...scope }) =>
    JSON.stringify({ ...columnsOf(scope), request_hash: toWire(requestHash), status, body }),
  textOf: (
    rows,
  ) => `INSERT INTO idempotency_keys (machine_user_id, method, path, key, request_hash, response_status, response_body, created_at)
    SELECT machine_user_id, method, path, key, request_hash, status, body, service_now() FROM ${rows}`,
};

// Without its row nothing of the write is done. Two equal requests never go in one statement.
const INSERT_EACH: ListStatement<KeyOfRequest & KeyAnswer, undefined> = {
  ...writing(ANSWERED),
  handOver: (answered, rows) =>
    rows.claim(
      { writer: ANSWERED, key: ['machine_user_id', 'method', 'path', 'key'], nameOf: storedAnswerRow },
      answered,
    ),
};

function columnsOf({ machineUserId, method, path, key }: IdempotencyScope) {
  return { machine_user_id: machineUserId, method, path, key };
}

const FIND = prepared((db, given: GivenScope) =>
  db
    .select({
      requestHash: idempotencyKeys.requestHash,
      responseStatus: idempotencyKeys.responseStatus,
      responseBody: idempotencyKeys.responseBody,
    })
    .from(idempotencyKeys)
    .where(ofScope(given)),
);

const STORE = preparedChange((db, given: Given<IdempotencyScope & { status: number; body: string }>) =>
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
 * all that follow fail (`isTakenKey`), so a write sends them without awaiting it.
 */
export async function claimIdempotencyKey(tx: Transaction, key: KeyOfRequest): Promise<void> {
  await tx.statement(CLAIM, [...valuesOf(key), key.requestHash]);
}

/** Claims the key and stores its answer at once, for a write in one statement, which is not done if the key is taken. */
export function claimWithAnswer(tx: Transaction, key: KeyOfRequest, { status, body }: KeyAnswer): void {
  tx.sendEach(INSERT_EACH, [{ ...key, status, body }]);
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
  sendWithCommit(tx.run(STORE, { ...key, status, body }));
}

/** Deletes a batch of keys older than so many days; returns how many. */
export function deleteOldIdempotencyKeys(tx: Transaction, days: number, batchSize: number): Promise<number> {
  const isOld = sql`created_at < service_now() - make_interval(days => ${days})`;
  return deleteBatch(tx, idempotencyKeys, isOld, batchSize);
}
