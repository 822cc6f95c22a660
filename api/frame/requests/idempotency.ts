import { hash } from 'node:crypto';
import { type Database, type Transaction, waitedForRowOf } from '../../../db/driver/client.ts';
import {
  claimIdempotencyKey,
  findIdempotencyKey,
  type IdempotencyRow,
  isTakenKey,
  storedAnswerRow,
  storeIdempotentAnswer,
} from '../../../db/frame/idempotency-keys.ts';
import type { Keyring } from '../../../db/frame/keyring.ts';
import { refusal } from '../../../domain/frame/errors.ts';
import type { ClaimedKey } from '../../../domain/ledger/changes.ts';
import type { IdempotencyClaim, RenderedAnswer } from '../route.ts';
import { canonicalJson, type JsonValue } from './json.ts';

/** How long a write waits for a lock, and so a second request for the first's answer (decisions, Idempotency). */
export const LOCK_WAIT_MS = 5_000;

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

/** What a repeated request has in common with the first, whatever its order of fields and parameters and its way to write numbers. */
interface Repeatable {
  readonly method: string;
  /** Of the contract, with the parameters as they were read. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: JsonValue;
}

export function idempotencyClaim(
  machineUserId: IdempotencyClaim['machineUserId'],
  { method, path, query, body }: Repeatable,
  key: string,
): IdempotencyClaim {
  const parameters = query.size === 0 ? '' : JSON.stringify([...query].sort(byText));
  const requestHash = hash('sha256', canonicalJson(body) + parameters, 'buffer');
  return { machineUserId, method, path, key, requestHash };
}

function byText(one: readonly string[], other: readonly string[]): number {
  const [first, second] = [JSON.stringify(one), JSON.stringify(other)];
  return first < second ? -1 : Number(first > second);
}

/** The key of a request for the statement that stores its answer; null without one. */
export function claimedKey(claim: IdempotencyClaim | null, { status, body }: RenderedAnswer): ClaimedKey | null {
  return claim === null ? null : { ...claim, status, body };
}

/**
 * Runs a write's one transaction: claims the key first, then works and stores the answer, or replays the stored one.
 * If storing fails, so does the commit. With a keyring the stored answer is encrypted. The work's first statements go to
 * Postgres together with the claim, and fail with it.
 */
export async function writeIdempotently(
  database: Database,
  claim: IdempotencyClaim | null,
  work: (tx: Transaction) => Promise<RenderedAnswer>,
  { keyring = null, shares = false }: { readonly keyring?: Keyring | null; readonly shares?: boolean } = {},
): Promise<RenderedAnswer> {
  const options = { lockTimeoutMs: LOCK_WAIT_MS, shares };
  if (claim === null) return database.transaction(work, options);
  const claimAndWork = async (tx: Transaction) => {
    const claimed = claimIdempotencyKey(tx, claim);
    const working = work(tx);
    // A refusal is the answer only to a request whose key is free.
    working.catch(() => {});
    await claimed;
    const answer = await working;
    storeIdempotentAnswer(tx, claim, stored(answer, claim, keyring));
    return answer;
  };
  try {
    return await database.transaction(claimAndWork, options);
  } catch (error) {
    if (isTakenKey(error)) return replay(await findIdempotencyKey(database.reader, claim), claim, keyring);
    throw refusalOf(error, claim);
  }
}

/**
 * The same for a write whose first statement also reads the facts it needs. `open` returns null if the key is taken.
 */
export async function openIdempotently<Opened>(
  database: Database,
  claim: IdempotencyClaim | null,
  open: (tx: Transaction) => Promise<Opened | null>,
  work: (tx: Transaction, opened: Opened) => Promise<RenderedAnswer>,
): Promise<RenderedAnswer> {
  return database.transaction(
    async (tx) => {
      const opened = await openOrRefuse(tx, claim, open);
      if (opened !== null) {
        const answer = await work(tx, opened);
        if (claim !== null) storeIdempotentAnswer(tx, claim, answer);
        return answer;
      }
      if (claim === null) throw new Error('a write without a key found its key taken');
      return replay(await findIdempotencyKey(tx, claim), claim, null);
    },
    { lockTimeoutMs: LOCK_WAIT_MS },
  );
}

async function openOrRefuse<Opened>(
  tx: Transaction,
  claim: IdempotencyClaim | null,
  open: (tx: Transaction) => Promise<Opened | null>,
): Promise<Opened | null> {
  try {
    return await open(tx);
  } catch (error) {
    throw claim === null ? error : refusalOf(error, claim);
  }
}

/** The first request with this key holds its row; any other long wait means that the database is unavailable. */
function refusalOf(error: unknown, claim: IdempotencyClaim): unknown {
  return waitedForRowOf(error, 'idempotency_keys') ? inProgress(claim) : error;
}

/** Replays the stored answer, or refuses a key that belongs to another request. */
export function replay(row: IdempotencyRow | null, claim: IdempotencyClaim, keyring: Keyring | null): RenderedAnswer {
  if (row === null || row.responseStatus === null || row.responseBody === null) throw inProgress(claim);
  if (!row.requestHash.equals(claim.requestHash)) {
    throw refusal(
      'common.idempotency.key_reused',
      ['header', 'Idempotency-Key', claim.key.slice(0, 100)],
      'This Idempotency-Key was used with another request.',
    );
  }
  const body = keyring === null ? row.responseBody : keyring.decrypt(row.responseBody, storedAnswerRow(claim));
  return { rendered: true, status: row.responseStatus, body, replayed: true };
}

function stored(answer: RenderedAnswer, claim: IdempotencyClaim, keyring: Keyring | null): RenderedAnswer {
  return keyring === null ? answer : { ...answer, body: keyring.encrypt(answer.body, storedAnswerRow(claim)) };
}

export function inProgress(claim: IdempotencyClaim) {
  return refusal(
    'common.idempotency.in_progress',
    ['header', 'Idempotency-Key', claim.key.slice(0, 100)],
    'The first request with this Idempotency-Key is still under way.',
  );
}
