import { createHash } from 'node:crypto';
import { type Database, LockTimeout, type Transaction } from '../../db/client.ts';
import {
  claimIdempotencyKey,
  findIdempotencyKey,
  type IdempotencyRow,
  storeIdempotentAnswer,
} from '../../db/idempotency-keys.ts';
import { refusal } from '../../domain/errors.ts';
import type { MachineUserId } from '../../domain/ids.ts';
import type { IdempotencyClaim, RenderedAnswer } from './route.ts';

/** How long a second request waits for the first's answer (decisions, Idempotency). */
const IN_PROGRESS_WAIT_MS = 5_000;

const KEY_LENGTH_MAX = 255;

/** Reads the key of a POST: from Idempotency-Key, or X-Idempotency-Key as the older name. Null without one. */
export function readIdempotencyKey(header: (name: string) => string | undefined): string | null {
  const key = header('idempotency-key');
  const older = header('x-idempotency-key');
  if (key !== undefined && older !== undefined && key !== older) {
    throw refusal(
      'common.validation.mutually_exclusive',
      ['header', 'Idempotency-Key', ''],
      'Idempotency-Key and X-Idempotency-Key differ: send one of them.',
    );
  }
  const chosen = key ?? older;
  if (chosen === undefined) return null;
  if (chosen.length >= 1 && chosen.length <= KEY_LENGTH_MAX) return chosen;
  throw refusal(
    'common.validation.field_invalid',
    ['header', 'Idempotency-Key', ''],
    `Idempotency-Key must have 1 to ${KEY_LENGTH_MAX} characters.`,
  );
}

export function idempotencyClaim(
  machineUserId: MachineUserId,
  request: { readonly method: string; readonly path: string; readonly body: Buffer },
  key: string,
): IdempotencyClaim {
  const requestHash = createHash('sha256').update(request.body).digest();
  return { machineUserId, method: request.method, path: request.path, key, requestHash };
}

/**
 * Runs a write's one transaction under its claim. First statement: claim the key; then work and store the answer, or
 * replay what is stored.
 */
export async function writeIdempotently(
  database: Database,
  claim: IdempotencyClaim | null,
  work: (tx: Transaction) => Promise<RenderedAnswer>,
): Promise<RenderedAnswer> {
  if (claim === null) return database.transaction(work);
  return database.transaction(
    async (tx) => {
      if (!(await claimOrRefuse(tx, claim))) return replay(await findIdempotencyKey(tx, claim), claim);
      const answer = await work(tx);
      await storeIdempotentAnswer(tx, claim, answer);
      return answer;
    },
    { lockTimeoutMs: IN_PROGRESS_WAIT_MS },
  );
}

async function claimOrRefuse(tx: Transaction, claim: IdempotencyClaim): Promise<boolean> {
  try {
    return await claimIdempotencyKey(tx, claim, claim.requestHash);
  } catch (error) {
    if (error instanceof LockTimeout) throw inProgress(claim);
    throw error;
  }
}

/** The stored answer as it was sent, or the refusal of a key that stands for another body. */
export function replay(row: IdempotencyRow | null, claim: IdempotencyClaim): RenderedAnswer {
  if (row === null || row.responseStatus === null || row.responseBody === null) throw inProgress(claim);
  if (!row.requestHash.equals(claim.requestHash)) {
    throw refusal(
      'common.idempotency.key_reused',
      ['header', 'Idempotency-Key', claim.key.slice(0, 100)],
      'This Idempotency-Key was used with another body.',
    );
  }
  return { rendered: true, status: row.responseStatus, body: row.responseBody, replayed: true };
}

export function inProgress(claim: IdempotencyClaim) {
  return refusal(
    'common.idempotency.in_progress',
    ['header', 'Idempotency-Key', claim.key.slice(0, 100)],
    'The first request with this Idempotency-Key is still under way.',
  );
}
