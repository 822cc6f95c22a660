import { and, asc, count, eq, inArray } from 'drizzle-orm';
import type { ClientRelationKind } from '../../domain/clients/clients.ts';
import { recordNotFound, refusal } from '../../domain/frame/errors.ts';
import { asId, type ClientId, type UserInvitationId, type UserSignUpId } from '../../domain/frame/ids.ts';
import { requireMove, statusesBefore } from '../../domain/frame/moves.ts';
import { emailKey } from '../../domain/frame/parties/emails.ts';
import {
  decideSignUp,
  INVITATION_CHECK_MS,
  INVITATION_LIFETIME_MS,
  type SignUpStep,
  USER_INVITATION_MOVES,
  USER_INVITATION_STATUSES,
  type UserInvitationStatus,
  type UserSignUpStatus,
} from '../../domain/users/invitations.ts';
import type { UserIdentity } from '../../domain/users/users.ts';
import type { Reader, Transaction } from '../driver/client.ts';
import { readClock } from '../frame/clock.ts';
import type { PageOf, PageRequest } from '../frame/filters.ts';
import { newId } from '../frame/ids.ts';
import { wake } from '../frame/workflow-wakeups.ts';
import { requireClients } from './client-relations.ts';
import { userInvitations, userSignUps } from './users-schema.ts';

export type UserInvitationRow = typeof userInvitations.$inferSelect;
export type UserSignUpRow = typeof userSignUps.$inferSelect;

const ENTITY = 'userInvitation';

export interface NewInvitations {
  readonly email: string;
  readonly identity: UserIdentity;
  readonly invitations: readonly { readonly clientId: ClientId; readonly userClientRelation: ClientRelationKind }[];
}

/** Invites a person to act for clients. The workflow sends one e-mail for all of them. */
export async function inviteUser(tx: Transaction, wanted: NewInvitations): Promise<readonly UserInvitationRow[]> {
  const { email, identity, invitations } = wanted;
  const clientIds = invitations.map(({ clientId }) => clientId);
  await requireClients(tx, ENTITY, clientIds);
  const now = await readClock(tx);
  const ids = invitations.map(() => newId<UserInvitationId>());
  const signUpId = asId<UserSignUpId>(ids[0] ?? newId());
  await tx.drizzle.insert(userSignUps).values({
    id: signUpId,
    email,
    identity,
    status: 'pending',
    expiresAt: new Date(now.getTime() + INVITATION_LIFETIME_MS),
    nextCheckAt: new Date(now.getTime() + INVITATION_CHECK_MS),
    createdAt: now,
  });
  const wantedRows = invitations.map((invitation, index) => ({
    ...invitation,
    id: ids[index] ?? newId<UserInvitationId>(),
    signUpId,
    emailKey: emailKey(email),
    status: 'pending' as const,
    createdAt: now,
  }));
  // In a fixed order, so that requests that name the same clients in different orders wait instead of deadlocking.
  const inserted = await tx.drizzle
    .insert(userInvitations)
    .values(wantedRows.toSorted((one, other) => (one.clientId < other.clientId ? -1 : 1)))
    .onConflictDoNothing()
    .returning();
  const rows = ids.flatMap((id) => inserted.find((row) => row.id === id) ?? []);
  const invited = new Set(rows.map(({ clientId }) => clientId));
  const twice = clientIds.find((clientId) => !invited.has(clientId));
  if (twice !== undefined) {
    const message = 'This person has a pending invitation to act for this client; cancel it to send another.';
    throw refusal('common.state.illegal_transition', [ENTITY, 'clientId', twice], message);
  }
  await wakeSignUp(tx, signUpId);
  return rows;
}

async function wakeSignUp(tx: Transaction, id: UserSignUpId): Promise<void> {
  await wake(tx, 'user-invitation', `user-invitation/${id}`);
}

export interface LockedSignUp {
  readonly signUp: UserSignUpRow;
  /** The service's time, read under the lock. */
  readonly now: Date;
}

/** Locks a sign-up, and thereby its invitations: nothing changes them without this lock. */
export async function lockSignUp(tx: Transaction, id: UserSignUpId): Promise<LockedSignUp> {
  const [signUp] = await tx.drizzle.select().from(userSignUps).where(eq(userSignUps.id, id)).for('update');
  if (signUp === undefined) throw recordNotFound(ENTITY, 'id', id);
  return { signUp, now: await readClock(tx) };
}

/** Ends a locked sign-up with its workflow and gives its pending invitations the matching status. */
export async function endSignUp(
  tx: Transaction,
  { signUp }: LockedSignUp,
  status: Exclude<UserSignUpStatus, 'pending'>,
): Promise<readonly UserInvitationRow[]> {
  await tx.drizzle
    .update(userSignUps)
    .set({ status, nextCheckAt: null, revision: signUp.revision + 1n })
    .where(eq(userSignUps.id, signUp.id));
  const invitationStatus = status === 'expired' ? 'cancelled' : status;
  const movable = statusesBefore(USER_INVITATION_STATUSES, USER_INVITATION_MOVES, invitationStatus);
  const ended = await tx.drizzle
    .update(userInvitations)
    .set({ status: invitationStatus })
    .where(and(eq(userInvitations.signUpId, signUp.id), inArray(userInvitations.status, movable)))
    .returning();
  // Only the workflow itself expires a sign-up, so it need not wake.
  if (status !== 'expired') await wakeSignUp(tx, signUp.id);
  return ended;
}

/** Moves a sign-up as far as its row and the time allow, and says what its workflow does next. */
export async function advanceSignUp(tx: Transaction, id: UserSignUpId): Promise<SignUpStep> {
  const locked = await lockSignUp(tx, id);
  const step = decideSignUp(locked.signUp, locked.now);
  if (step.do !== 'expire') return step;
  await endSignUp(tx, locked, 'expired');
  return { do: 'end' };
}

/** A mail server has the e-mail: what is left is to wait for the answer. */
export async function recordInvitationMailed(tx: Transaction, id: UserSignUpId): Promise<SignUpStep> {
  const { signUp, now } = await lockSignUp(tx, id);
  if (signUp.status === 'pending' && signUp.mailedAt === null) {
    const nextCheckAt = new Date(signUp.expiresAt.getTime() + INVITATION_CHECK_MS);
    await tx.drizzle
      .update(userSignUps)
      .set({ mailedAt: now, nextCheckAt, revision: signUp.revision + 1n })
      .where(eq(userSignUps.id, id));
  }
  return advanceSignUp(tx, id);
}

/** `PATCH /users/{userEmail}/invitations/{id}`: callers can only cancel; any other answer is the invited person's. */
export async function changeUserInvitation(
  tx: Transaction,
  email: string,
  id: UserInvitationId,
  status: UserInvitationStatus,
): Promise<UserInvitationRow> {
  const found = await findUserInvitation(tx, email, id);
  if (found === null) throw recordNotFound(ENTITY, 'id', id);
  const locked = await lockSignUp(tx, found.signUpId);
  const invitations = await readInvitations(tx, found.signUpId);
  const before = invitations.find((invitation) => invitation.id === id) ?? found;
  if (status !== 'cancelled' || !USER_INVITATION_MOVES[before.status].includes(status)) {
    const message = `The invitation is ${before.status}; callers can only cancel a pending one.`;
    throw refusal('common.state.illegal_transition', [ENTITY, 'status', status], message);
  }
  await cancelInvitation(tx, locked, invitations, before);
  return { ...before, status };
}

/** Cancels a pending invitation of a locked sign-up, and the sign-up with its last one. */
async function cancelInvitation(
  tx: Transaction,
  locked: LockedSignUp,
  invitations: readonly UserInvitationRow[],
  { id, status }: UserInvitationRow,
): Promise<void> {
  requireMove('user invitation', USER_INVITATION_MOVES, status, 'cancelled');
  const others = invitations.some((invitation) => invitation.id !== id && invitation.status === 'pending');
  if (!others) await endSignUp(tx, locked, 'cancelled');
  else await tx.drizzle.update(userInvitations).set({ status: 'cancelled' }).where(eq(userInvitations.id, id));
}

/** Cancels an address's pending invitation to act for a client, if there is one. */
export async function cancelPendingInvitation(tx: Transaction, email: string, clientId: ClientId): Promise<void> {
  const t = userInvitations;
  const [pending] = await tx.drizzle
    .select()
    .from(t)
    .where(and(eq(t.emailKey, email), eq(t.clientId, clientId), eq(t.status, 'pending')));
  if (pending === undefined) return;
  const locked = await lockSignUp(tx, pending.signUpId);
  const invitations = await readInvitations(tx, pending.signUpId);
  const present = invitations.find(({ id }) => id === pending.id);
  if (present?.status === 'pending') await cancelInvitation(tx, locked, invitations, present);
}

/** The invitations of one e-mail in order. */
export async function readInvitations(reader: Reader, signUpId: UserSignUpId): Promise<readonly UserInvitationRow[]> {
  const t = userInvitations;
  return reader.drizzle.select().from(t).where(eq(t.signUpId, signUpId)).orderBy(asc(t.id));
}

export async function findUserInvitation(
  reader: Reader,
  email: string,
  id: UserInvitationId,
): Promise<UserInvitationRow | null> {
  const t = userInvitations;
  const [row] = await reader.drizzle
    .select()
    .from(t)
    .where(and(eq(t.id, id), eq(t.emailKey, emailKey(email))));
  return row ?? null;
}

/** One page of an address's invitations in order of creation, and the total. */
export async function listUserInvitations(
  reader: Reader,
  email: string,
  page: PageRequest,
): Promise<PageOf<UserInvitationRow>> {
  const t = userInvitations;
  const where = eq(t.emailKey, emailKey(email));
  const [rows, [total]] = await Promise.all([
    reader.drizzle.select().from(t).where(where).orderBy(t.id).limit(page.size).offset(page.offset),
    reader.drizzle.select({ total: count() }).from(t).where(where),
  ]);
  return { rows, totalElements: total?.total ?? 0 };
}
