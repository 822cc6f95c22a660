import { and, eq } from 'drizzle-orm';
import { recordNotFound, rejection } from '../../domain/common/errors.ts';
import type { UserId, UserSignUpId } from '../../domain/common/ids.ts';
import { emailKey } from '../../domain/common/parties/emails.ts';
import { INVITATION_CHECK_MS, PASSWORD_RESET_LIFETIME_MS } from '../../domain/users/invitations.ts';
import { auditorOf, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { newId } from '../common/ids.ts';
import type { Transaction } from '../query/database.ts';
import { type Given, prepared, preparedChange } from '../query/queries.ts';
import { insertRow, lockIn, updateRow } from '../query/rows.ts';
import { forgetAuthenticationFailures } from './authentications.ts';
import { endSignUp, lockSignUp, type UserSignUpRow, wakeSignUp } from './invitations.ts';
import { forgetKnownDevices } from './known-devices.ts';
import { userSignUps, users } from './schema.ts';
import { isClosed, type SignUpAnswer } from './sign-ups.ts';
import type { UserRow } from './users.ts';

const audit = auditorOf('user');

const LOCK_USER = lockIn(users, 'update');

const PENDING = preparedChange((db, given: Given<{ userId: UserId }>) =>
  db
    .select()
    .from(userSignUps)
    .where(
      and(
        eq(userSignUps.userId, given.userId),
        eq(userSignUps.kind, 'password-reset'),
        eq(userSignUps.status, 'pending'),
      ),
    )
    .for('update'),
);

/**
 * Has the workflow mail a link with which the user chooses a new password; an earlier link stops working. Resets lock the
 * user before the sign-up.
 */
export async function requestPasswordReset(
  tx: Transaction,
  userId: UserId,
  initiator: Initiator,
): Promise<UserSignUpRow> {
  const user = await tx.lock(LOCK_USER, userId);
  if (user === null) throw recordNotFound('user', 'id', userId);
  requirePassword(user);
  const now = await readClock(tx);
  for (const earlier of await tx.run(PENDING, { userId })) await endSignUp(tx, { signUp: earlier, now }, 'cancelled');
  const row = await insertRow(tx, userSignUps, {
    id: newId<UserSignUpId>(),
    kind: 'password-reset',
    userId,
    email: user.email,
    identity: user.identity,
    status: 'pending',
    expiresAt: new Date(now.getTime() + PASSWORD_RESET_LIFETIME_MS),
    nextCheckAt: new Date(now.getTime() + INVITATION_CHECK_MS),
    createdAt: now,
  });
  await wakeSignUp(tx, row.id);
  audit(tx, userId, { initiator, action: 'password-reset-requested', after: { passwordResetId: row.id } });
  return row;
}

/** A user without a password was never invited: a link must not let it sign in. */
function requirePassword({ id, status, passwordHash }: UserRow): void {
  if (status !== 'active') {
    throw rejection('user.status.not_active', ['user', 'id', id], 'The user is not active.');
  }
  if (passwordHash === null) {
    const message = 'The user has no password: an invitation sets the first one.';
    throw rejection('user.password.not_set', ['user', 'id', id], message);
  }
}

const USER_OF = prepared((db, given: Given<{ id: UserSignUpId }>) =>
  db.select({ userId: userSignUps.userId }).from(userSignUps).where(eq(userSignUps.id, given.id)),
);

/**
 * Sets the password that the person chose through the link. `closed` if the link was used, replaced or has expired, and if the
 * user is no longer active or has another address: the recipient of the e-mail may not be the user any more.
 */
export async function acceptPasswordReset(
  tx: Transaction,
  id: UserSignUpId,
  password: { readonly hash: string; readonly addressHash: Uint8Array },
  initiator: Initiator,
): Promise<SignUpAnswer> {
  const found = await tx.first(USER_OF, { id });
  const user = found?.userId ? await tx.lock(LOCK_USER, found.userId) : null;
  const locked = await lockSignUp(tx, id);
  if (user === null || isClosed(locked)) return 'closed';
  const isStillTheirs = user.status === 'active' && user.emailKey === emailKey(locked.signUp.email);
  await endSignUp(tx, locked, isStillTheirs ? 'accepted' : 'cancelled');
  if (!isStillTheirs) return 'closed';
  await updateRow(tx, users, user.id, { passwordHash: password.hash, revision: user.revision + 1n });
  await forgetAuthenticationFailures(tx, password.addressHash);
  await forgetKnownDevices(tx, user.id);
  audit(tx, user.id, { initiator, action: 'changed', after: { changedFields: ['password'] } });
  return 'done';
}
