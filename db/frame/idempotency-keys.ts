import { and, eq, sql } from 'drizzle-orm';
import { type Reader, sqlState, type Transaction } from '../driver/client.ts';
import { type Given, prepared, type RowOf } from '../driver/queries/queries.ts';
import { deleteBatch } from '../driver/queries/rows.ts';
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

/**
 * Claims the key. Waits, up to the lock timeout, for a transaction that holds it. If the key is taken, this statement and
 * all that follow fail (`isTakenKey`), so a write sends them without awaiting it.
 */
export async function claimIdempotencyKey(
  tx: Transaction,
  scope: IdempotencyScope,
  requestHash: Buffer,
): Promise<void> {
  await tx.statement(CLAIM, [...valuesOf(scope), requestHash]);
}

/** Whether a transaction failed because another request has claimed its key. */
export function isTakenKey(error: unknown): boolean {
  return sqlState(error) === TAKEN_KEY;
}

export function findIdempotencyKey(reader: Reader, scope: IdempotencyScope): Promise<IdempotencyRow | null> {
  return reader.first(FIND, scope);
}

/** Stores the answer of a claimed key in the transaction of the write. */
export async function storeIdempotentAnswer(
  tx: Transaction,
  scope: IdempotencyScope,
  answer: { readonly status: number; readonly body: string },
): Promise<void> {
  await tx.run(STORE, { ...scope, ...answer });
}

/** Deletes a batch of keys older than so many days; returns how many. */
export function deleteOldIdempotencyKeys(tx: Transaction, days: number, batchSize: number): Promise<number> {
  const isOld = sql`created_at < service_now() - make_interval(days => ${days})`;
  return deleteBatch(tx, idempotencyKeys, isOld, batchSize);
}
