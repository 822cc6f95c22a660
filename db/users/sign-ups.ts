import { and, asc, eq, getTableColumns } from 'drizzle-orm';
import type { UserSignUpId } from '../../domain/common/ids.ts';
import { emailKey } from '../../domain/common/parties/emails.ts';
import { isExpired } from '../../domain/users/invitations.ts';
import { NO_PROFILE } from '../../domain/users/users.ts';
import { appendAuditEntry, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { clients } from '../common/schema.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type Given, prepared, preparedChange } from '../query/queries.ts';
import { sendInsertion, updateRow } from '../query/rows.ts';
import { allowUserClientRelations } from './client-relations.ts';
import { auditAnswers, endSignUp, type LockedSignUp, lockSignUp, type UserSignUpRow } from './invitations.ts';
import { userInvitations, userSignUpLinks, userSignUps, users } from './schema.ts';
import { insertUser } from './users.ts';

/** The content of the e-mail and of the page behind its link. */
export interface SignUp {
  readonly signUp: UserSignUpRow;
  /** The full names of the clients with pending invitations, in the order of the request. */
  readonly clientNames: readonly string[];
  /** Whether the person must set a password: to accept, or because that is what the link is for. */
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
  sendInsertion(tx, userSignUpLinks, { tokenHash, signUpId: id, createdAt: now });
  return describeSignUp(tx, signUp, now);
}

const DELETE_LINK = preparedChange((db, given: Given<{ tokenHash: Uint8Array }>) =>
  db.delete(userSignUpLinks).where(eq(userSignUpLinks.tokenHash, given.tokenHash)),
);

/** Deletes the link of an e-mail that a mail server rejected, because it never reached anyone. */
export async function deleteSignUpLink(tx: Transaction, tokenHash: Uint8Array): Promise<void> {
  await tx.run(DELETE_LINK, { tokenHash });
}

const BY_LINK = prepared((db, given: Given<{ tokenHash: Uint8Array }>) =>
  db
    .select(getTableColumns(userSignUps))
    .from(userSignUpLinks)
    .innerJoin(userSignUps, eq(userSignUps.id, userSignUpLinks.signUpId))
    .where(eq(userSignUpLinks.tokenHash, given.tokenHash)),
);

/** The sign-up of a link, whatever its status; null for an unknown link. */
export async function findSignUp(reader: Reader, tokenHash: Uint8Array): Promise<SignUp | null> {
  const signUp = await reader.first(BY_LINK, { tokenHash });
  return signUp === null ? null : describeSignUp(reader, signUp, await readClock(reader));
}

const CLIENT_NAMES = prepared((db, given: Given<{ signUpId: UserSignUpId }>) =>
  db
    .select({ name: clients.fullName })
    .from(userInvitations)
    .innerJoin(clients, eq(clients.id, userInvitations.clientId))
    .where(and(eq(userInvitations.signUpId, given.signUpId), eq(userInvitations.status, 'pending')))
    .orderBy(asc(userInvitations.id)),
);

const PASSWORD = prepared((db, given: Given<{ emailKey: string }>) =>
  db.select({ passwordHash: users.passwordHash }).from(users).where(eq(users.emailKey, given.emailKey)),
);

async function describeSignUp(reader: Reader, signUp: UserSignUpRow, now: Date): Promise<SignUp> {
  const names = await reader.run(CLIENT_NAMES, { signUpId: signUp.id });
  const user = await reader.first(PASSWORD, { emailKey: emailKey(signUp.email) });
  const needsPassword = signUp.kind === 'password-reset' || (user?.passwordHash ?? null) === null;
  return { signUp, clientNames: names.map(({ name }) => name), needsPassword, now };
}

const LOCK_USER = preparedChange((db, given: Given<{ emailKey: string }>) =>
  db.select().from(users).where(eq(users.emailKey, given.emailKey)).for('update'),
);

export type SignUpAnswer = 'done' | 'closed';

/**
 * Accepts all pending invitations of a sign-up. The user, if new, and its relations are created together; an existing
 * password stays. `closed` if the sign-up was answered, was cancelled or expired before.
 */
export async function acceptSignUp(
  tx: Transaction,
  id: UserSignUpId,
  passwordHash: string | null,
  initiator: Initiator,
): Promise<SignUpAnswer | 'password-needed'> {
  const locked = await lockSignUp(tx, id);
  if (isClosed(locked)) return 'closed';
  const { signUp, now } = locked;
  if (passwordHash !== null) {
    const { email, identity } = signUp;
    await insertUser(tx, { email, identity, profile: NO_PROFILE }, { passwordHash, now, initiator });
  }
  const user = await tx.first(LOCK_USER, { emailKey: emailKey(signUp.email) });
  if (user === null || (user.passwordHash === null && passwordHash === null)) return 'password-needed';
  if (user.passwordHash === null) {
    await updateRow(tx, users, user.id, { passwordHash, revision: user.revision + 1n });
    const after = { changedFields: ['password'] };
    appendAuditEntry(tx, { initiator, resource: 'user', resourceId: user.id, action: 'changed', after });
  }
  const accepted = await endSignUp(tx, locked, 'accepted');
  const clientIds = accepted.map(({ clientId }) => clientId);
  await allowUserClientRelations(tx, user.id, clientIds, now, initiator);
  auditAnswers(tx, accepted, { userId: user.id }, initiator);
  return 'done';
}

export async function rejectSignUp(tx: Transaction, id: UserSignUpId, initiator: Initiator): Promise<SignUpAnswer> {
  const locked = await lockSignUp(tx, id);
  if (isClosed(locked)) return 'closed';
  auditAnswers(tx, await endSignUp(tx, locked, 'rejected'), {}, initiator);
  return 'done';
}

/** Whether the link has nothing left to do. */
export function isClosed({ signUp, now }: LockedSignUp): boolean {
  return signUp.status !== 'pending' || isExpired(signUp, now);
}
