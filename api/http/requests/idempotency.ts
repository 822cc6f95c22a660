import { hash } from 'node:crypto';
import {
  claimIdempotencyKey,
  claimWithAnswer,
  findIdempotencyKey,
  type IdempotencyRow,
  isTakenKey,
  storedAnswerRow,
  storeIdempotentAnswer,
} from '../../../db/common/idempotency-keys.ts';
import type { Keyring } from '../../../db/common/keyring.ts';
import { CallerGone, DatabaseUnavailable, uniqueViolation, waitedForRowOf } from '../../../db/postgres/failures.ts';
import type { Database, Transaction } from '../../../db/query/database.ts';
import { rejection } from '../../../domain/common/errors.ts';
import type { ClaimedKey } from '../../../domain/ledger/changes.ts';
import type { IdempotencyClaim, RenderedAnswer } from '../route.ts';
import { canonicalJson, type JsonValue } from './json.ts';

/** How long a write waits for a lock, and a repeated request for the first one's answer. */
export const LOCK_WAIT_MS = 5_000;

const KEY_LENGTH_MAX = 255;
/** Of a write that meets another one with a unique value. */
const ATTEMPTS_MAX = 3;

/** Reads the key of a POST: from Idempotency-Key, or X-Idempotency-Key as the older name. Null without one. */
export function readIdempotencyKey(header: (name: string) => string | undefined): string | null {
  const key = header('idempotency-key');
  const older = header('x-idempotency-key');
  if (key !== undefined && older !== undefined && key !== older) {
    throw rejection(
      'common.validation.mutually_exclusive',
      ['header', 'Idempotency-Key', ''],
      'Idempotency-Key and X-Idempotency-Key differ: send only one of them.',
    );
  }
  const chosen = key ?? older;
  if (chosen === undefined) return null;
  if (chosen.length >= 1 && chosen.length <= KEY_LENGTH_MAX) return chosen;
  throw rejection(
    'common.validation.field_invalid',
    ['header', 'Idempotency-Key', ''],
    `Idempotency-Key must have 1 to ${KEY_LENGTH_MAX} characters.`,
  );
}

/** What makes two requests the same, regardless of the order of fields and parameters and the notation of numbers. */
interface Repeatable {
  readonly method: string;
  /** The path of the contract, with parsed parameters. */
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
 * Writes what `work` hands over by one statement with the key and the answer, or in a transaction where that cannot be; or replays
 * the stored answer. With a keyring the stored answer is encrypted.
 */
export async function writeIdempotently(
  database: Database,
  claim: IdempotencyClaim | null,
  work: (tx: Transaction) => Promise<RenderedAnswer>,
  keyring: Keyring | null,
): Promise<RenderedAnswer> {
  const answer = await inOneStatement(database, claim, work, keyring);
  return answer ?? writeInTransaction(database, claim, work, keyring);
}

/**
 * The same in a transaction: claims the key first, then works and stores the answer. If storing fails, so does the commit. The work's
 * first statements go to Postgres together with the claim, and fail with it.
 */
export async function writeInTransaction(
  database: Database,
  claim: IdempotencyClaim | null,
  work: (tx: Transaction) => Promise<RenderedAnswer>,
  keyring: Keyring | null,
): Promise<RenderedAnswer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await inTransaction(database, claim, work, keyring);
    } catch (error) {
      // Work looks for what is unique before it writes: another that wrote it meanwhile is found the next time.
      if (uniqueViolation(error) === null || attempt >= ATTEMPTS_MAX) throw error;
    }
  }
}

async function inTransaction(
  database: Database,
  claim: IdempotencyClaim | null,
  work: (tx: Transaction) => Promise<RenderedAnswer>,
  keyring: Keyring | null,
): Promise<RenderedAnswer> {
  const options = { lockTimeoutMs: LOCK_WAIT_MS };
  if (claim === null) return database.transaction(work, options);
  const claimAndWork = async (tx: Transaction) => {
    const claimed = claimIdempotencyKey(tx, claim);
    const working = work(tx);
    // A rejection is the answer only if the key is free; otherwise the stored answer is.
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
    throw rejectionOf(error, claim);
  }
}

/** Null if it must be done in a transaction. The key is looked up only if the write comes to nothing. */
async function inOneStatement(
  database: Database,
  claim: IdempotencyClaim | null,
  work: (tx: Transaction) => Promise<RenderedAnswer>,
  keyring: Keyring | null,
): Promise<RenderedAnswer | null> {
  const earlier = async () => {
    const row = claim === null ? null : await findIdempotencyKey(database.reader, claim);
    return row === null || claim === null ? null : replay(row, claim, keyring);
  };
  try {
    const written = await database.inOneStatement(async (tx) => {
      const answer = await work(tx);
      if (claim !== null) claimWithAnswer(tx, claim, stored(answer, claim, keyring));
      return answer;
    });
    return written === null ? await earlier() : written.value;
  } catch (error) {
    if (error instanceof DatabaseUnavailable || error instanceof CallerGone) throw error;
    const answer = await earlier();
    if (answer === null) throw error;
    return answer;
  }
}

/**
 * As `writeIdempotently`, for a write whose first statement also reads the facts that it needs. `open` returns null if
 * the key is taken.
 */
export async function openIdempotently<Opened>(
  database: Database,
  claim: IdempotencyClaim | null,
  open: (tx: Transaction) => Promise<Opened | null>,
  work: (tx: Transaction, opened: Opened) => Promise<RenderedAnswer>,
): Promise<RenderedAnswer> {
  return database.transaction(
    async (tx) => {
      const opened = await openOrReject(tx, claim, open);
      if (opened !== null) {
        const answer = await work(tx, opened);
        if (claim !== null) storeIdempotentAnswer(tx, claim, answer);
        return answer;
      }
      if (claim === null) throw new Error('a write without an Idempotency-Key found its key taken');
      return replay(await findIdempotencyKey(tx, claim), claim, null);
    },
    { lockTimeoutMs: LOCK_WAIT_MS },
  );
}

async function openOrReject<Opened>(
  tx: Transaction,
  claim: IdempotencyClaim | null,
  open: (tx: Transaction) => Promise<Opened | null>,
): Promise<Opened | null> {
  try {
    return await open(tx);
  } catch (error) {
    throw claim === null ? error : rejectionOf(error, claim);
  }
}

/** The first request with this key holds its row; any other long wait means that the database is unavailable. */
function rejectionOf(error: unknown, claim: IdempotencyClaim): unknown {
  return waitedForRowOf(error, 'idempotency_keys') ? inProgress(claim) : error;
}

/** Replays the stored answer, or rejects a key that belongs to another request. */
export function replay(row: IdempotencyRow | null, claim: IdempotencyClaim, keyring: Keyring | null): RenderedAnswer {
  if (row === null || row.responseStatus === null || row.responseBody === null) throw inProgress(claim);
  if (!row.requestHash.equals(claim.requestHash)) {
    throw rejection(
      'common.idempotency.key_reused',
      ['header', 'Idempotency-Key', claim.key.slice(0, 100)],
      'This Idempotency-Key was used with a different request.',
    );
  }
  const body = keyring === null ? row.responseBody : keyring.decrypt(row.responseBody, storedAnswerRow(claim));
  return { rendered: true, status: row.responseStatus, body, replayed: true };
}

function stored(answer: RenderedAnswer, claim: IdempotencyClaim, keyring: Keyring | null): RenderedAnswer {
  return keyring === null ? answer : { ...answer, body: keyring.encrypt(answer.body, storedAnswerRow(claim)) };
}

export function inProgress(claim: IdempotencyClaim) {
  return rejection(
    'common.idempotency.in_progress',
    ['header', 'Idempotency-Key', claim.key.slice(0, 100)],
    'The first request with this Idempotency-Key is still in progress.',
  );
}
