import { eq, sql } from 'drizzle-orm';
import { decideAuthenticationAttempt, forgetAt, withoutAttempt } from '../../domain/users/authentications.ts';
import { readClock } from '../common/clock.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type Given, prepared, preparedChange } from '../query/queries.ts';
import { deleteBatch } from '../query/rows.ts';
import { userAuthenticationFailures, users } from './schema.ts';
import type { UserRow } from './users.ts';

/** What is limited, by the SHA-256 of its name. */
export interface LimitedHash {
  readonly hash: Buffer;
  /** The SHA-256 of the address that it belongs to; null for a source, which belongs to all. */
  readonly ofAddressHash: Buffer | null;
  readonly failuresMax: number;
}

type LimitKey = { readonly addressHash: Uint8Array };

const ENTER = preparedChange((db, given: Given<LimitKey & { ofAddressHash: Uint8Array | null }>) =>
  db
    .insert(userAuthenticationFailures)
    .values({
      addressHash: given.addressHash,
      failedAt: sql`'{}'`,
      forgetAt: sql`service_now()`,
      ofAddressHash: given.ofAddressHash,
    })
    .onConflictDoNothing(),
);

const LOCK = preparedChange((db, given: Given<LimitKey>) =>
  db
    .select({ failedAt: sql<string[]>`to_json(${userAuthenticationFailures.failedAt})` })
    .from(userAuthenticationFailures)
    .where(eq(userAuthenticationFailures.addressHash, given.addressHash))
    .for('update'),
);

const RECORD = preparedChange((db, given: Given<LimitKey & { failedAt: readonly Date[]; forgetAt: Date }>) =>
  db
    .update(userAuthenticationFailures)
    .set({ failedAt: sql`${given.failedAt}::timestamptz[]`, forgetAt: sql`${given.forgetAt}::timestamptz` })
    .where(eq(userAuthenticationFailures.addressHash, given.addressHash)),
);

const FORGET = preparedChange((db, given: Given<LimitKey>) =>
  db.delete(userAuthenticationFailures).where(eq(userAuthenticationFailures.addressHash, given.addressHash)),
);

const FORGET_OF_ADDRESS = preparedChange((db, given: Given<LimitKey>) =>
  db.delete(userAuthenticationFailures).where(eq(userAuthenticationFailures.ofAddressHash, given.addressHash)),
);

export type ClaimedAttempt =
  | { readonly allowed: true; readonly attemptedAt: Date }
  | { readonly allowed: false; readonly retryAfterSeconds: number };

/** Counts an attempt before its password is checked, against each of its limits, or rejects it because too many have failed. */
export async function claimAuthenticationAttempt(
  tx: Transaction,
  limited: readonly LimitedHash[],
): Promise<ClaimedAttempt> {
  const found: { readonly one: LimitedHash; readonly failedAt: readonly Date[] }[] = [];
  for (const one of inOrder(limited)) {
    await tx.run(ENTER, { addressHash: one.hash, ofAddressHash: one.ofAddressHash });
    found.push({ one, failedAt: (await lockFailures(tx, one.hash)) ?? [] });
  }
  const now = await readClock(tx);
  const attempts = found.map(({ one, failedAt }) => ({
    hash: one.hash,
    attempt: decideAuthenticationAttempt(failedAt, now, one.failuresMax),
  }));
  const waits = attempts.flatMap(({ attempt }) => (attempt.allowed ? [] : [attempt.retryAfterSeconds]));
  if (waits.length > 0) return { allowed: false, retryAfterSeconds: Math.max(...waits) };
  for (const { hash, attempt } of attempts) if (attempt.allowed) await record(tx, hash, attempt.failedAt);
  return { allowed: true, attemptedAt: now };
}

/** The password was correct: the attempt is no failure. Earlier failures stay. */
export async function resetFailedAttempts(
  tx: Transaction,
  limited: readonly LimitedHash[],
  attemptedAt: Date,
): Promise<void> {
  for (const { hash } of inOrder(limited)) {
    const failures = await lockFailures(tx, hash);
    if (failures === null) continue;
    const failedAt = withoutAttempt(failures, attemptedAt);
    if (failedAt.length === 0) await tx.run(FORGET, { addressHash: hash });
    else await record(tx, hash, failedAt);
  }
}

/** Two attempts with common limits lock them in the same order. */
function inOrder(limited: readonly LimitedHash[]): readonly LimitedHash[] {
  return [...limited].sort((one, other) => one.hash.compare(other.hash));
}

async function lockFailures(tx: Transaction, addressHash: Uint8Array): Promise<readonly Date[] | null> {
  const row = await tx.first(LOCK, { addressHash });
  return row === null ? null : row.failedAt.map((at) => new Date(at));
}

async function record(tx: Transaction, addressHash: Uint8Array, failedAt: readonly Date[]): Promise<void> {
  await tx.run(RECORD, { addressHash, failedAt, forgetAt: forgetAt(failedAt) });
}

/** A new password resets the limits of the address, from every source. */
export async function forgetAuthenticationFailures(tx: Transaction, addressHash: Uint8Array): Promise<void> {
  await tx.run(FORGET_OF_ADDRESS, { addressHash });
}

/** Deletes a batch of failures that no longer count; returns how many rows. */
export function deleteOldAuthenticationFailures(tx: Transaction, batchSize: number): Promise<number> {
  return deleteBatch(tx, userAuthenticationFailures, sql`forget_at < service_now()`, batchSize);
}

const BY_ADDRESS = prepared((db, given: Given<{ emailKey: string }>) =>
  db.select().from(users).where(eq(users.emailKey, given.emailKey)),
);

/** The user with this address, whatever its status. */
export function findUserByAddress(reader: Reader, emailKey: string): Promise<UserRow | null> {
  return reader.first(BY_ADDRESS, { emailKey });
}
