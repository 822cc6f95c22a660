import { and, asc, eq } from 'drizzle-orm';
import type { UserSignUpId } from '../../domain/frame/ids.ts';
import { emailKey } from '../../domain/frame/parties/emails.ts';
import { isExpired } from '../../domain/users/invitations.ts';
import { NO_PROFILE } from '../../domain/users/users.ts';
import type { Reader, Transaction } from '../driver/client.ts';
import { readClock } from '../frame/clock.ts';
import { clients } from '../frame/schema.ts';
import { allowUserClientRelations } from './client-relations.ts';
import { endSignUp, type LockedSignUp, lockSignUp, type UserSignUpRow } from './invitations.ts';
import { insertUser } from './users.ts';
import { userInvitations, userSignUpLinks, userSignUps, users } from './users-schema.ts';

/** The content of the e-mail and of the page behind its link. */
export interface SignUp {
  readonly signUp: UserSignUpRow;
  /** The full names of the clients with pending invitations, in the order of the request. */
  readonly clientNames: readonly string[];
  /** Whether the person must set a password to accept. */
  readonly needsPassword: boolean;
  readonly now: Date;
}

/** Creates the link for a sign-up's next e-mail; null if there is nothing left to send. */
export async function createSignUpLink(
  tx: Transaction,
  id: UserSignUpId,
  tokenHash: Uint8Array,
): Promise<SignUp | null> {
  const { signUp, now } = await lockSignUp(tx, id);
  if (signUp.status !== 'pending' || signUp.mailedAt !== null || isExpired(signUp, now)) return null;
  await tx.drizzle.insert(userSignUpLinks).values({ tokenHash, signUpId: id, createdAt: now });
  return describeSignUp(tx, signUp, now);
}

/** Deletes the link of an e-mail that a mail server rejected, because it never reached anyone. */
export async function deleteSignUpLink(tx: Transaction, tokenHash: Uint8Array): Promise<void> {
  await tx.drizzle.delete(userSignUpLinks).where(eq(userSignUpLinks.tokenHash, tokenHash));
}

/** The sign-up of a link, whatever its status; null for an unknown link. */
export async function findSignUp(reader: Reader, tokenHash: Uint8Array): Promise<SignUp | null> {
  const [row] = await reader.drizzle
    .select({ signUp: userSignUps })
    .from(userSignUpLinks)
    .innerJoin(userSignUps, eq(userSignUps.id, userSignUpLinks.signUpId))
    .where(eq(userSignUpLinks.tokenHash, tokenHash));
  return row === undefined ? null : describeSignUp(reader, row.signUp, await readClock(reader));
}

async function describeSignUp(reader: Reader, signUp: UserSignUpRow, now: Date): Promise<SignUp> {
  const names = await reader.drizzle
    .select({ name: clients.fullName })
    .from(userInvitations)
    .innerJoin(clients, eq(clients.id, userInvitations.clientId))
    .where(and(eq(userInvitations.signUpId, signUp.id), eq(userInvitations.status, 'pending')))
    .orderBy(asc(userInvitations.id));
  const [user] = await reader.drizzle
    .select({ passwordHash: users.passwordHash })
    .from(users)
    .where(eq(users.emailKey, emailKey(signUp.email)));
  const needsPassword = (user?.passwordHash ?? null) === null;
  return { signUp, clientNames: names.map(({ name }) => name), needsPassword, now };
}

export type SignUpAnswer = 'done' | 'closed';

/**
 * Accepts all pending invitations of a sign-up. The user, if new, and its relations are created together; an existing
 * password stays. `closed` if the sign-up was answered, was cancelled or expired before.
 */
export async function acceptSignUp(
  tx: Transaction,
  id: UserSignUpId,
  passwordHash: string | null,
): Promise<SignUpAnswer | 'password-needed'> {
  const locked = await lockSignUp(tx, id);
  if (isClosed(locked)) return 'closed';
  const { signUp, now } = locked;
  if (passwordHash !== null) {
    await insertUser(tx, { email: signUp.email, identity: signUp.identity, profile: NO_PROFILE }, passwordHash, now);
  }
  const [user] = await tx.drizzle
    .select()
    .from(users)
    .where(eq(users.emailKey, emailKey(signUp.email)))
    .for('update');
  if (user === undefined || (user.passwordHash === null && passwordHash === null)) return 'password-needed';
  if (user.passwordHash === null) {
    await tx.drizzle
      .update(users)
      .set({ passwordHash, revision: user.revision + 1n })
      .where(eq(users.id, user.id));
  }
  const accepted = await endSignUp(tx, locked, 'accepted');
  const clientIds = accepted.map(({ clientId }) => clientId);
  await allowUserClientRelations(tx, user.id, clientIds, now);
  return 'done';
}

export async function rejectSignUp(tx: Transaction, id: UserSignUpId): Promise<SignUpAnswer> {
  const locked = await lockSignUp(tx, id);
  if (isClosed(locked)) return 'closed';
  await endSignUp(tx, locked, 'rejected');
  return 'done';
}

function isClosed({ signUp, now }: LockedSignUp): boolean {
  return signUp.status !== 'pending' || isExpired(signUp, now);
}
