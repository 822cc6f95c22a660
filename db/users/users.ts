import { and, eq } from 'drizzle-orm';
import { recordNotFound, refusal } from '../../domain/frame/errors.ts';
import type { ClientId, UserId } from '../../domain/frame/ids.ts';
import { requireMove } from '../../domain/frame/moves.ts';
import { emailKey } from '../../domain/frame/parties/emails.ts';
import {
  applyUserChange,
  presentUser,
  USER_MOVES,
  type UserChange,
  type UserIdentity,
  type UserProfile,
} from '../../domain/users/users.ts';
import { type Reader, type Transaction, uniqueViolation } from '../driver/client.ts';
import { countedListOf } from '../driver/queries/counted-lists.ts';
import { type PageOf, type PageRequest, readPage } from '../driver/queries/lists.ts';
import { type Given, prepared } from '../driver/queries/queries.ts';
import { insertRowOnce, lockIn, lookUpIn, sendUpdate, updateRow } from '../driver/queries/rows.ts';
import { appendAuditEntry, type Initiator } from '../frame/audit-entries.ts';
import { readClock } from '../frame/clock.ts';
import { appendEvents, appendFirstEvent, FIRST_SEQUENCE } from '../frame/events.ts';
import { equalTo } from '../frame/filters.ts';
import { newId } from '../frame/ids.ts';
import { revokeConsentsOfUser } from '../open-banking/withdrawals.ts';
import { insertUserClientRelations, requireClients, type UserClientRelationRow } from './client-relations.ts';
import { users } from './users-schema.ts';

export type UserRow = typeof users.$inferSelect;

export interface NewUser {
  readonly email: string;
  readonly identity: UserIdentity;
  readonly profile: UserProfile;
}

const BY_EMAIL = prepared((db, given: Given<{ emailKey: string }>) =>
  db.select({ id: users.id }).from(users).where(eq(users.emailKey, given.emailKey)),
);

/** Creates a user without an invitation (`human.external.direct`), who therefore cannot sign in, with client relations. */
export async function createUser(
  tx: Transaction,
  user: NewUser,
  clientIds: readonly ClientId[],
  initiator: Initiator,
): Promise<{ user: UserRow; relations: readonly UserClientRelationRow[] }> {
  const [now, taken] = await Promise.all([
    readClock(tx),
    tx.first(BY_EMAIL, { emailKey: emailKey(user.email) }),
    requireClients(tx, 'userClientRelation', clientIds),
  ]);
  // The insertion refuses it too; but a write that refuses after it has written makes those beside it begin again.
  if (taken !== null) throw emailTaken(user.email);
  return createUserOf(tx, user, { clientIds, now, initiator });
}

/** The same for clients that are known, as one that this transaction has created. */
export async function createUserOf(
  tx: Transaction,
  user: NewUser,
  creation: { readonly clientIds: readonly ClientId[]; readonly now: Date; readonly initiator: Initiator },
): Promise<{ user: UserRow; relations: readonly UserClientRelationRow[] }> {
  const { clientIds, now, initiator } = creation;
  const row = await insertUser(tx, user, { passwordHash: null, now, initiator });
  if (row === null) throw emailTaken(user.email);
  const relations = await insertUserClientRelations(tx, row.id, clientIds, now, initiator);
  return { user: row, relations };
}

/** Null if a user already has the address. Waits for a transaction that is about to take it. */
export async function insertUser(
  tx: Transaction,
  user: NewUser,
  creation: { readonly passwordHash: string | null; readonly now: Date; readonly initiator: Initiator },
): Promise<UserRow | null> {
  const { passwordHash, now, initiator } = creation;
  const { email, identity, profile } = user;
  const row = await insertRowOnce(tx, users, {
    id: newId<UserId>(),
    email,
    emailKey: emailKey(email),
    status: 'active',
    identity,
    profile,
    passwordHash,
    ...FIRST_SEQUENCE,
    createdAt: now,
  });
  if (row === null) return null;
  const entry = { type: 'user-created', data: presentUser(row) };
  appendFirstEvent(tx, { module: 'users', resourceId: row.id, occurredAt: now, entry });
  const after = { status: row.status };
  appendAuditEntry(tx, { initiator, resource: 'user', resourceId: row.id, action: 'created', after });
  return row;
}

const LOCK = lockIn(users, 'update');

export async function changeUser(
  tx: Transaction,
  id: UserId,
  change: UserChange,
  initiator: Initiator,
): Promise<UserRow> {
  const [before, now] = await Promise.all([tx.lock(LOCK, id), readClock(tx)]);
  if (before === null) throw recordNotFound('user', 'id', id);
  const { email, identity, profile, status } = applyUserChange(before, change);
  requireMove('user', USER_MOVES, before.status, status);
  const changed = { email, emailKey: emailKey(email), identity, profile, status, revision: before.revision + 1n };
  const after =
    changed.emailKey === before.emailKey
      ? sendUpdate(tx, users, before, changed)
      : await updateRow(tx, users, id, changed).catch((error: unknown) => {
          throw uniqueViolation(error) === null ? error : emailTaken(email);
        });
  if (JSON.stringify(presentUser(after)) !== JSON.stringify(presentUser(before))) {
    const entries = [{ type: 'user-updated', data: presentUser(after) }];
    appendEvents(tx, { module: 'users', resourceId: id, occurredAt: now, entries });
  }
  appendAuditEntry(tx, {
    initiator,
    resource: 'user',
    resourceId: id,
    action: 'changed',
    before: { status: before.status },
    after: { status: after.status },
    concealed: { before: namedFields(before), after: namedFields(after) },
  });
  if (before.status === 'active' && after.status !== 'active') await revokeConsentsOfUser(tx, id, initiator);
  return after;
}

function namedFields({ email, identity, profile }: UserRow) {
  return { email, identity, profile };
}

function emailTaken(email: string) {
  return refusal('common.state.illegal_transition', ['user', 'email', email], 'Another user has this e-mail address.');
}

const USER = lookUpIn(users);

export function findUser(reader: Reader, id: UserId): Promise<UserRow | null> {
  return reader.find(USER, id);
}

const LIST = countedListOf<{ emailKey: string | undefined }, typeof users>(
  users,
  (given) => and(...equalTo([[users.emailKey, given.emailKey]])),
  {},
);

/** One page of users, and the total. */
export function listUsers(
  reader: Reader,
  filter: { readonly email?: string | undefined },
  page: PageRequest,
): Promise<PageOf<UserRow>> {
  const values = { emailKey: filter.email === undefined ? undefined : emailKey(filter.email) };
  return readPage(reader, LIST(values), values, page);
}
