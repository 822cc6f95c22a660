import { sql } from 'drizzle-orm';
import type { Reader, Transaction } from './client.ts';

/** What a key stands for: the same request of the same machine user. */
export interface IdempotencyScope {
  readonly machineUserId: string;
  readonly method: string;
  readonly path: string;
  readonly key: string;
}

export interface IdempotencyRow {
  readonly requestHash: Buffer;
  /** Null while the transaction that claimed it has not answered, which only that transaction can see. */
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
}

/**
 * Claims the key, or finds it taken. Waits for a transaction that holds it, up to the lock timeout.
 * One statement of its own: whoever waited must look at the row with a snapshot taken afterwards.
 */
export async function claimIdempotencyKey(
  tx: Transaction,
  scope: IdempotencyScope,
  requestHash: Buffer,
): Promise<boolean> {
  const rows = await tx.execute<{ claimed: number }>(sql`
    INSERT INTO idempotency_keys (machine_user_id, method, path, key, request_hash, created_at)
    VALUES (${scope.machineUserId}, ${scope.method}, ${scope.path}, ${scope.key},
      ${requestHash}, service_now())
    ON CONFLICT DO NOTHING
    RETURNING 1 AS claimed`);
  return rows.length === 1;
}

export async function findIdempotencyKey(
  reader: Reader | Transaction,
  scope: IdempotencyScope,
): Promise<IdempotencyRow | null> {
  const [row] = await reader.execute<{
    request_hash: Buffer;
    response_status: number | null;
    response_body: string | null;
  }>(sql`
    SELECT request_hash, response_status, response_body
    FROM idempotency_keys
    WHERE machine_user_id = ${scope.machineUserId} AND method = ${scope.method} AND path = ${scope.path}
      AND key = ${scope.key}`);
  if (row === undefined) return null;
  return {
    requestHash: row.request_hash,
    responseStatus: row.response_status,
    responseBody: row.response_body,
  };
}

/** Stores the answer of a claimed key, in the transaction of the write that it answers. */
export async function storeIdempotentAnswer(
  tx: Transaction,
  scope: IdempotencyScope,
  answer: { readonly status: number; readonly body: string },
): Promise<void> {
  await tx.execute(sql`
    UPDATE idempotency_keys SET response_status = ${answer.status}, response_body = ${answer.body}
    WHERE machine_user_id = ${scope.machineUserId} AND method = ${scope.method} AND path = ${scope.path}
      AND key = ${scope.key}`);
}

/** Forgets keys older than 30 days, a batch at a time. Returns how many went. */
export async function deleteOldIdempotencyKeys(tx: Transaction, batchSize: number): Promise<number> {
  const rows = await tx.execute<{ gone: number }>(sql`
    DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM idempotency_keys WHERE created_at < service_now() - interval '30 days' LIMIT ${batchSize}))
    RETURNING 1 AS gone`);
  return rows.length;
}
