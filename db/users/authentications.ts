import { eq, sql } from 'drizzle-orm';
import { decideAuthenticationAttempt, forgetAt, withoutAttempt } from '../../domain/users/authentications.ts';
import type { Reader, Transaction } from '../driver/client.ts';
import { type Given, prepared } from '../driver/queries/queries.ts';
import { deleteBatch } from '../driver/queries/rows.ts';
import { readClock } from '../frame/clock.ts';
import type { UserRow } from './users.ts';
import { userAuthenticationFailures, users } from './users-schema.ts';

type Place = { readonly addressHash: Uint8Array };

const ENTER = prepared((db, given: Given<Place>) =>
  db
    .insert(userAuthenticationFailures)
    .values({ addressHash: given.addressHash, failedAt: sql`'{}'`, forgetAt: sql`service_now()` })
    .onConflictDoNothing(),
);

const LOCK = prepared((db, given: Given<Place>) =>
  db
    .select({ failedAt: sql<string[]>`to_json(${userAuthenticationFailures.failedAt})` })
    .from(userAuthenticationFailures)
    .where(eq(userAuthenticationFailures.addressHash, given.addressHash))
    .for('update'),
);

const RECORD = prepared((db, given: Given<Place & { failedAt: readonly Date[]; forgetAt: Date }>) =>
  db
    .update(userAuthenticationFailures)
    .set({ failedAt: sql`${given.failedAt}::timestamptz[]`, forgetAt: sql`${given.forgetAt}::timestamptz` })
    .where(eq(userAuthenticationFailures.addressHash, given.addressHash)),
);

const FORGET = prepared((db, given: Given<Place>) =>
  db.delete(userAuthenticationFailures).where(eq(userAuthenticationFailures.addressHash, given.addressHash)),
);

export type ClaimedAttempt =
  | { readonly allowed: true; readonly attemptedAt: Date }
  | { readonly allowed: false; readonly retryAfterSeconds: number };

/** Counts an attempt before its password is checked, or refuses it because too many have failed. */
export async function claimAuthenticationAttempt(tx: Transaction, addressHash: Uint8Array): Promise<ClaimedAttempt> {
  await tx.run(ENTER, { addressHash });
  const failures = await lockFailures(tx, addressHash);
  const now = await readClock(tx);
  const attempt = decideAuthenticationAttempt(failures ?? [], now);
  if (!attempt.allowed) return attempt;
  await record(tx, addressHash, attempt.failedAt);
  return { allowed: true, attemptedAt: now };
}

/** The password was correct: the attempt is no failure. Earlier failures stay. */
export async function forgiveAuthenticationAttempt(
  tx: Transaction,
  addressHash: Uint8Array,
  attemptedAt: Date,
): Promise<void> {
  const failures = await lockFailures(tx, addressHash);
  if (failures === null) return;
  const failedAt = withoutAttempt(failures, attemptedAt);
  if (failedAt.length === 0) return forgetAuthenticationFailures(tx, addressHash);
  await record(tx, addressHash, failedAt);
}

async function lockFailures(tx: Transaction, addressHash: Uint8Array): Promise<readonly Date[] | null> {
  const row = await tx.first(LOCK, { addressHash });
  return row === null ? null : row.failedAt.map((at) => new Date(at));
}

async function record(tx: Transaction, addressHash: Uint8Array, failedAt: readonly Date[]): Promise<void> {
  await tx.run(RECORD, { addressHash, failedAt, forgetAt: forgetAt(failedAt) });
}

/** A new password starts anew. */
export async function forgetAuthenticationFailures(tx: Transaction, addressHash: Uint8Array): Promise<void> {
  await tx.run(FORGET, { addressHash });
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
