import { eq, sql } from 'drizzle-orm';
import { SIGN_IN_MS_MAX } from '../../domain/people/sessions.ts';
import type { Transaction } from '../query/database.ts';
import { type Given, preparedChange } from '../query/queries.ts';
import { deleteBatch, sendInsertion } from '../query/rows.ts';
import { consoleSignIns } from './schema.ts';

/** A sign-in on its way to the identity provider and back. Hashes are SHA-256. */
export type SignIn = typeof consoleSignIns.$inferSelect;

/** What a begun sign-in deletes of old ones, so that a flood of beginnings leaves no more rows than it made in ten minutes. */
const OLD_AT_ONCE = 20;

export async function beginSignIn(tx: Transaction, signIn: SignIn): Promise<void> {
  await deleteOldSignIns(tx, signIn.createdAt, OLD_AT_ONCE);
  sendInsertion(tx, consoleSignIns, signIn);
}

const TAKE = preparedChange((db, given: Given<{ stateHash: Uint8Array }>) =>
  db.delete(consoleSignIns).where(eq(consoleSignIns.stateHash, given.stateHash)).returning(),
);

/** The sign-in of this state, which is thereby used up: of two concurrent uses, one finds it. */
export function takeSignIn(tx: Transaction, stateHash: Uint8Array): Promise<SignIn | null> {
  return tx.first(TAKE, { stateHash });
}

/** Deletes a batch of sign-ins that never came back; returns how many. `now`: real time. */
export function deleteOldSignIns(tx: Transaction, now: Date, batchSize: number): Promise<number> {
  const before = new Date(now.getTime() - SIGN_IN_MS_MAX);
  return deleteBatch(tx, consoleSignIns, sql`created_at < ${before}`, batchSize);
}
