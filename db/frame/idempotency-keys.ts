import { and, eq, sql } from 'drizzle-orm';
import type { Reader, Transaction } from '../driver/client.ts';
import { type Given, prepared, type RowOf } from '../driver/queries/queries.ts';
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

/** The keyring's row name for a stored answer. */
export function storedAnswerRow(scope: IdempotencyScope): string {
  return `idempotency_keys.response_body ${JSON.stringify(valuesOf(scope))}`;
}

type Place = Given<IdempotencyScope>;

function ofScope({ machineUserId, method, path, key }: Place) {
  const t = idempotencyKeys;
  return and(eq(t.machineUserId, machineUserId), eq(t.method, method), eq(t.path, path), eq(t.key, key));
}

const CLAIM = prepared(
  (db, { machineUserId, method, path, key, requestHash }: Given<IdempotencyScope & { requestHash: Buffer }>) =>
    db
      .insert(idempotencyKeys)
      .values({ machineUserId, method, path, key, requestHash, createdAt: sql`service_now()` })
      .onConflictDoNothing()
      .returning({ method: idempotencyKeys.method }),
);

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
 * Claims the key, or finds it taken. Waits, up to the lock timeout, for a transaction that holds it. The read is a statement
 * of its own: its snapshot must be taken after the wait.
 */
export async function claimIdempotencyKey(
  tx: Transaction,
  scope: IdempotencyScope,
  requestHash: Buffer,
): Promise<boolean> {
  return (await tx.first(CLAIM, { ...scope, requestHash })) !== null;
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
export async function deleteOldIdempotencyKeys(tx: Transaction, days: number, batchSize: number): Promise<number> {
  const rows = await tx.execute<{ gone: number }>(sql`
    DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM idempotency_keys WHERE created_at < service_now() - make_interval(days => ${days}) LIMIT ${batchSize}))
    RETURNING 1 AS gone`);
  return rows.length;
}
