import { sql } from 'drizzle-orm';
import type { Reader, Transaction } from '../driver/client.ts';

/** A key identifies one request of one machine user. */
export interface IdempotencyScope {
  readonly machineUserId: string;
  readonly method: string;
  readonly path: string;
  readonly key: string;
}

export interface IdempotencyRow {
  readonly requestHash: Buffer;
  /** Null until the claiming transaction has an answer; only that transaction sees the null. */
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
}

/** The keyring's row name for a stored answer. */
export function storedAnswerRow(scope: IdempotencyScope): string {
  return `idempotency_keys.response_body ${JSON.stringify(valuesOf(scope))}`;
}

const OF_SCOPE = 'machine_user_id = $1 AND method = $2 AND path = $3 AND key = $4';
const CLAIM = `INSERT INTO idempotency_keys (machine_user_id, method, path, key, request_hash, created_at)
  VALUES ($1, $2, $3, $4, $5, service_now()) ON CONFLICT DO NOTHING RETURNING 1 AS claimed`;
const FIND = `SELECT request_hash AS "requestHash", response_status AS "responseStatus", response_body AS "responseBody"
  FROM idempotency_keys WHERE ${OF_SCOPE}`;
const STORE = `UPDATE idempotency_keys SET response_status = $5, response_body = $6 WHERE ${OF_SCOPE}`;

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
  const rows = await tx.statement(CLAIM, [...valuesOf(scope), requestHash]);
  return rows.length === 1;
}

export async function findIdempotencyKey(
  reader: Reader | Transaction,
  scope: IdempotencyScope,
): Promise<IdempotencyRow | null> {
  const [row] = await reader.statement<IdempotencyRow>(FIND, valuesOf(scope));
  return row ?? null;
}

/** Stores the answer of a claimed key in the transaction of the write. */
export async function storeIdempotentAnswer(
  tx: Transaction,
  scope: IdempotencyScope,
  answer: { readonly status: number; readonly body: string },
): Promise<void> {
  await tx.statement(STORE, [...valuesOf(scope), answer.status, answer.body]);
}

/** Deletes a batch of keys older than 30 days; returns how many. */
export async function deleteOldIdempotencyKeys(tx: Transaction, batchSize: number): Promise<number> {
  const rows = await tx.execute<{ gone: number }>(sql`
    DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM idempotency_keys WHERE created_at < service_now() - interval '30 days' LIMIT ${batchSize}))
    RETURNING 1 AS gone`);
  return rows.length;
}
