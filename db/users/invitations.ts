import { and, asc, eq } from 'drizzle-orm';
import type { ClientRelationKind } from '../../domain/clients/clients.ts';
import { recordNotFound, rejection } from '../../domain/common/errors.ts';
import { asId, type ClientId, type UserId, type UserInvitationId, type UserSignUpId } from '../../domain/common/ids.ts';
import { emailKey } from '../../domain/common/parties/emails.ts';
import { requireTransition } from '../../domain/common/transitions.ts';
import {
  decideSignUp,
  INVITATION_CHECK_MS,
  INVITATION_LIFETIME_MS,
  type SignUpStep,
  USER_INVITATION_TRANSITIONS,
  type UserInvitationStatus,
  type UserSignUpStatus,
} from '../../domain/users/invitations.ts';
import type { UserIdentity } from '../../domain/users/users.ts';
import { auditorOf, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { equalTo } from '../common/filters.ts';
import { newId } from '../common/ids.ts';
import { wake } from '../common/workflow-wakeups.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { listOf, type PageOf, type PageRequest, readPage } from '../query/lists.ts';
import { type Given, prepared } from '../query/queries.ts';
import { lockIn, lookUpIn, sendInsertion, sendUpdate, updateRow } from '../query/rows.ts';
import { isListed } from '../query/values.ts';
import { requireClients } from './client-relations.ts';
import { userInvitations, userSignUps } from './schema.ts';

const audit = auditorOf('user-invitation');

export type UserInvitationRow = typeof userInvitations.$inferSelect;
export type UserSignUpRow = typeof userSignUps.$inferSelect;

const ENTITY = 'userInvitation';

export interface NewInvitations {
  readonly email: string;
  readonly identity: UserIdentity;
  readonly invitations: readonly { readonly clientId: ClientId; readonly userClientRelation: ClientRelationKind }[];
}

/** Invites a person to act for clients. The workflow sends one e-mail for all of them. */
export async function inviteUser(
  tx: Transaction,
  wanted: NewInvitations,
  initiator: Initiator,
): Promise<readonly UserInvitationRow[]> {
  const { email, identity, invitations } = wanted;
  const clientIds = invitations.map(({ clientId }) => clientId);
  const [pending, now] = await Promise.all([
    tx.run(PENDING_OF, { emailKey: emailKey(email), ids: clientIds }),
    readClock(tx),
    requireClients(tx, ENTITY, clientIds),
  ]);
  const twice = pending[0]?.clientId ?? clientIds.find((clientId, index) => clientIds.indexOf(clientId) < index);
  if (twice !== undefined) {
    const message = 'This person has a pending invitation to act for this client; cancel it to send another.';
    throw rejection('common.state.illegal_transition', [ENTITY, 'clientId', twice], message);
  }
  const ids = invitations.map(() => newId<UserInvitationId>());
  const signUpId = asId<UserSignUpId>(ids[0] ?? newId());
  sendInsertion(tx, userSignUps, {
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
  const inOrder = wantedRows.toSorted((one, other) => (one.clientId < other.clientId ? -1 : 1));
  const inserted = inOrder.map((row) => sendInsertion(tx, userInvitations, row));
  const rows = ids.flatMap((id) => inserted.find((row) => row.id === id) ?? []);
  await wakeSignUp(tx, signUpId);
  for (const { id, clientId, userClientRelation, status } of rows) {
    audit(tx, id, { initiator, action: 'created', after: { clientId, userClientRelation, status } });
  }
  return rows;
}

const PENDING_OF = prepared((db, given: Given<{ emailKey: string; ids: readonly ClientId[] }>) => {
  const { emailKey, clientId, status } = userInvitations;
  return db
    .select({ clientId })
    .from(userInvitations)
    .where(and(eq(emailKey, given.emailKey), eq(status, 'pending'), isListed(clientId, given.ids)));
});

/** Records the invited person's answer to invitations that were pending. */
export function auditAnswers(
  tx: Transaction,
  invitations: readonly UserInvitationRow[],
  answer: { readonly userId?: UserId },
  initiator: Initiator,
): void {
  for (const { id, status } of invitations) {
    audit(tx, id, { initiator, action: status, before: { status: 'pending' }, after: { status, ...answer } });
  }
}

export async function wakeSignUp(tx: Transaction, id: UserSignUpId): Promise<void> {
  wake(tx, 'user-invitation', `user-invitation/${id}`);
}

export interface LockedSignUp {
  readonly signUp: UserSignUpRow;
  /** The service's time, read under the lock. */
  readonly now: Date;
}

const LOCK = lockIn(userSignUps, 'update', 'row and parts');

/** Locks a sign-up, and thereby its invitations: nothing changes them without this lock. */
export async function lockSignUp(tx: Transaction, id: UserSignUpId): Promise<LockedSignUp> {
  const [signUp, now] = await Promise.all([tx.lock(LOCK, id), readClock(tx)]);
  if (signUp === null) throw recordNotFound(ENTITY, 'id', id);
  return { signUp, now };
}

/** Ends a locked sign-up with its workflow and gives its pending invitations the matching status. */
export async function endSignUp(
  tx: Transaction,
  { signUp }: LockedSignUp,
  status: Exclude<UserSignUpStatus, 'pending'>,
): Promise<readonly UserInvitationRow[]> {
  const invitationStatus = status === 'expired' ? 'cancelled' : status;
  const movable = (await readInvitations(tx, signUp.id)).filter(({ status: from }) =>
    USER_INVITATION_TRANSITIONS[from].includes(invitationStatus),
  );
  sendUpdate(tx, userSignUps, signUp, { status, nextCheckAt: null, revision: signUp.revision + 1n });
  const ended = movable.map((row) => sendUpdate(tx, userInvitations, row, { status: invitationStatus }));
  // Only the workflow itself expires a sign-up, so it need not wake.
  if (status !== 'expired') await wakeSignUp(tx, signUp.id);
  return ended;
}

/** Transitions a sign-up as far as its row and the time allow, and says what its workflow does next. */
export async function advanceSignUp(tx: Transaction, id: UserSignUpId): Promise<SignUpStep> {
  const locked = await lockSignUp(tx, id);
  const step = decideSignUp(locked.signUp, locked.now);
  if (step.do !== 'expire') return step;
  await endSignUp(tx, locked, 'expired');
  return { do: 'end' };
}

/** A mail server has accepted the e-mail: the workflow now waits for the answer. */
export async function recordInvitationMailed(tx: Transaction, id: UserSignUpId): Promise<SignUpStep> {
  const { signUp, now } = await lockSignUp(tx, id);
  if (signUp.status === 'pending' && signUp.mailedAt === null) {
    const nextCheckAt = new Date(signUp.expiresAt.getTime() + INVITATION_CHECK_MS);
    await updateRow(tx, userSignUps, id, { mailedAt: now, nextCheckAt, revision: signUp.revision + 1n });
  }
  return advanceSignUp(tx, id);
}

/** `PATCH /users/{userEmail}/invitations/{id}`: callers can only cancel; any other answer is the invited person's. */
export async function changeUserInvitation(
  tx: Transaction,
  email: string,
  id: UserInvitationId,
  status: UserInvitationStatus,
  initiator: Initiator,
): Promise<UserInvitationRow> {
  const found = await findUserInvitation(tx, email, id);
  if (found === null) throw recordNotFound(ENTITY, 'id', id);
  const [locked, invitations] = await Promise.all([
    lockSignUp(tx, found.signUpId),
    readInvitations(tx, found.signUpId),
  ]);
  const before = invitations.find((invitation) => invitation.id === id) ?? found;
  if (status !== 'cancelled' || !USER_INVITATION_TRANSITIONS[before.status].includes(status)) {
    const message = `The invitation is ${before.status}; callers can only cancel a pending one.`;
    throw rejection('common.state.illegal_transition', [ENTITY, 'status', status], message);
  }
  await cancelInvitation(tx, locked, invitations, before, initiator);
  return { ...before, status };
}

/** Cancels a pending invitation of a locked sign-up, and the sign-up with its last one. */
async function cancelInvitation(
  tx: Transaction,
  locked: LockedSignUp,
  invitations: readonly UserInvitationRow[],
  invitation: UserInvitationRow,
  initiator: Initiator,
): Promise<void> {
  const { id, status } = invitation;
  requireTransition('user invitation', USER_INVITATION_TRANSITIONS, status, 'cancelled');
  const others = invitations.some((invitation) => invitation.id !== id && invitation.status === 'pending');
  if (!others) await endSignUp(tx, locked, 'cancelled');
  else sendUpdate(tx, userInvitations, invitation, { status: 'cancelled' });
  audit(tx, id, { initiator, action: 'cancelled', before: { status }, after: { status: 'cancelled' } });
}

const PENDING = prepared((db, given: Given<{ emailKey: string; clientId: ClientId }>) =>
  db
    .select()
    .from(userInvitations)
    .where(
      and(
        eq(userInvitations.emailKey, given.emailKey),
        eq(userInvitations.clientId, given.clientId),
        eq(userInvitations.status, 'pending'),
      ),
    ),
);

/** Cancels an address's pending invitation to act for a client, if there is one. */
export async function cancelPendingInvitation(
  tx: Transaction,
  email: string,
  clientId: ClientId,
  initiator: Initiator,
): Promise<void> {
  const pending = await tx.first(PENDING, { emailKey: email, clientId });
  if (pending === null) return;
  const locked = await lockSignUp(tx, pending.signUpId);
  const invitations = await readInvitations(tx, pending.signUpId);
  const present = invitations.find(({ id }) => id === pending.id);
  if (present?.status === 'pending') await cancelInvitation(tx, locked, invitations, present, initiator);
}

const OF_SIGN_UP = prepared((db, given: Given<{ signUpId: UserSignUpId }>) =>
  db
    .select()
    .from(userInvitations)
    .where(eq(userInvitations.signUpId, given.signUpId))
    .orderBy(asc(userInvitations.id)),
);

/** The invitations of one e-mail in order. */
export function readInvitations(reader: Reader, signUpId: UserSignUpId): Promise<readonly UserInvitationRow[]> {
  return reader.run(OF_SIGN_UP, { signUpId });
}

const INVITATION = lookUpIn(userInvitations);

/** The invitation with this id, if it went to this address. */
export async function findUserInvitation(
  reader: Reader,
  email: string,
  id: UserInvitationId,
): Promise<UserInvitationRow | null> {
  const invitation = await reader.find(INVITATION, id);
  return invitation?.emailKey === emailKey(email) ? invitation : null;
}

const LIST = listOf<{ emailKey: string }, typeof userInvitations>(userInvitations, (given) =>
  and(...equalTo([[userInvitations.emailKey, given.emailKey]])),
);

/** One page of an address's invitations, and the total. */
export function listUserInvitations(
  reader: Reader,
  email: string,
  page: PageRequest,
): Promise<PageOf<UserInvitationRow>> {
  const values = { emailKey: emailKey(email) };
  return readPage(reader, LIST(values), values, page);
}
