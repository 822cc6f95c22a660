import { and, eq } from 'drizzle-orm';
import { recordNotFound, rejection } from '../../domain/common/errors.ts';
import type { ClientId, UserId } from '../../domain/common/ids.ts';
import { emailKey } from '../../domain/common/parties/emails.ts';
import { requireTransition } from '../../domain/common/transitions.ts';
import {
  applyUserChange,
  presentUser,
  USER_TRANSITIONS,
  type UserChange,
  type UserIdentity,
  type UserProfile,
} from '../../domain/users/users.ts';
import { appendAuditEntry, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { appendEvents, appendFirstEvent, FIRST_SEQUENCE } from '../common/events.ts';
import { equalTo } from '../common/filters.ts';
import { newId } from '../common/ids.ts';
import { revokeConsentsOfUser } from '../open-banking/withdrawals.ts';
import { uniqueViolation } from '../postgres/failures.ts';
import { countedListOf } from '../query/counted-lists.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type PageOf, type PageRequest, readPage } from '../query/lists.ts';
import { type Given, prepared } from '../query/queries.ts';
import { insertRowOnce, lockIn, lookUpIn, sendInsertion, sendUpdate, updateRow } from '../query/rows.ts';
import { insertUserClientRelations, requireClients, type UserClientRelationRow } from './client-relations.ts';
import { users } from './schema.ts';

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
  if (taken !== null) throw emailTaken(user.email);
  return createUserOf(tx, user, { clientIds, now, initiator });
}

/** Rejects an address that a user has. */
export async function requireFreeEmail(tx: Transaction, email: string): Promise<void> {
  if ((await tx.first(BY_EMAIL, { emailKey: emailKey(email) })) !== null) throw emailTaken(email);
}

/** The same for clients that are known, as one that this transaction has created, and an address that is known to be free. */
export function createUserOf(
  tx: Transaction,
  user: NewUser,
  creation: { readonly clientIds: readonly ClientId[]; readonly now: Date; readonly initiator: Initiator },
): { user: UserRow; relations: readonly UserClientRelationRow[] } {
  const { clientIds, now, initiator } = creation;
  const row = sendInsertion(tx, users, newRow(user, { passwordHash: null, now }));
  recordCreation(tx, row, initiator);
  return { user: row, relations: insertUserClientRelations(tx, row.id, clientIds, now, initiator) };
}

/** Null if a user already has the address. Waits for a transaction that is about to take it. */
export async function insertUser(
  tx: Transaction,
  user: NewUser,
  creation: { readonly passwordHash: string | null; readonly now: Date; readonly initiator: Initiator },
): Promise<UserRow | null> {
  const row = await insertRowOnce(tx, users, newRow(user, creation));
  if (row !== null) recordCreation(tx, row, creation.initiator);
  return row;
}

function newRow(
  { email, identity, profile }: NewUser,
  { passwordHash, now }: { readonly passwordHash: string | null; readonly now: Date },
) {
  const id = newId<UserId>();
  const own = { id, email, emailKey: emailKey(email), status: 'active' as const, identity, profile, passwordHash };
  return { ...own, ...FIRST_SEQUENCE, createdAt: now };
}

function recordCreation(tx: Transaction, row: UserRow, initiator: Initiator): void {
  const entry = { type: 'user-created', data: presentUser(row) };
  appendFirstEvent(tx, { module: 'users', resourceId: row.id, occurredAt: row.createdAt, entry });
  const after = { status: row.status };
  appendAuditEntry(tx, { initiator, resource: 'user', resourceId: row.id, action: 'created', after });
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
  requireTransition('user', USER_TRANSITIONS, before.status, status);
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
    concealed: { before: concealedFields(before), after: concealedFields(after) },
  });
  if (before.status === 'active' && after.status !== 'active') await revokeConsentsOfUser(tx, id, initiator);
  return after;
}

function concealedFields({ email, identity, profile }: UserRow) {
  return { email, identity, profile };
}

function emailTaken(email: string) {
  return rejection(
    'common.state.illegal_transition',
    ['user', 'email', email],
    'Another user has this e-mail address.',
  );
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
