import { and, count, eq } from 'drizzle-orm';
import { recordNotFound, refusal } from '../../domain/frame/errors.ts';
import type { ClientId, UserId } from '../../domain/frame/ids.ts';
import { requireMove } from '../../domain/frame/moves.ts';
import { emailKey } from '../../domain/frame/parties/emails.ts';
import {
  applyUserChange,
  presentUser,
  USER_MOVES,
  type User,
  type UserChange,
  type UserIdentity,
  type UserProfile,
} from '../../domain/users/users.ts';
import { type Reader, type Transaction, uniqueViolation } from '../driver/client.ts';
import { readClock } from '../frame/clock.ts';
import { appendEvents } from '../frame/events.ts';
import type { PageOf, PageRequest } from '../frame/filters.ts';
import { newId } from '../frame/ids.ts';
import { insertUserClientRelations, type UserClientRelationRow } from './client-relations.ts';
import { users } from './users-schema.ts';

export type UserRow = typeof users.$inferSelect;

export interface NewUser {
  readonly email: string;
  readonly identity: UserIdentity;
  readonly profile: UserProfile;
}

/** Creates a user without an invitation (`human.external.direct`), who therefore cannot sign in, with client relations. */
export async function createUser(
  tx: Transaction,
  user: NewUser,
  clientIds: readonly ClientId[],
): Promise<{ user: UserRow; relations: readonly UserClientRelationRow[] }> {
  const now = await readClock(tx);
  const row = await insertUser(tx, user, null, now);
  if (row === null) throw emailTaken(user.email);
  const relations = await insertUserClientRelations(tx, row.id, clientIds, now);
  return { user: row, relations };
}

/** Null if a user already has the address. Waits for a transaction that is about to take it. */
export async function insertUser(
  tx: Transaction,
  user: NewUser,
  passwordHash: string | null,
  now: Date,
): Promise<UserRow | null> {
  const { email, identity, profile } = user;
  const [row] = await tx.drizzle
    .insert(users)
    .values({
      id: newId<UserId>(),
      email,
      emailKey: emailKey(email),
      status: 'active',
      identity,
      profile,
      passwordHash,
      createdAt: now,
    })
    .onConflictDoNothing({ target: users.emailKey })
    .returning();
  if (row === undefined) return null;
  await appendUserEvent(tx, 'user-created', row, now);
  return row;
}

export async function changeUser(tx: Transaction, id: UserId, change: UserChange): Promise<UserRow> {
  const [before] = await tx.drizzle.select().from(users).where(eq(users.id, id)).for('update');
  if (before === undefined) throw recordNotFound('user', 'id', id);
  const now = await readClock(tx);
  const { email, identity, profile, status } = applyUserChange(before, change);
  requireMove('user', USER_MOVES, before.status, status);
  const changed = { email, emailKey: emailKey(email), identity, profile, status, revision: before.revision + 1n };
  const [after] = await tx.drizzle
    .update(users)
    .set(changed)
    .where(eq(users.id, id))
    .returning()
    .catch((error: unknown) => {
      throw uniqueViolation(error) === null ? error : emailTaken(email);
    });
  if (after === undefined) throw new Error(`user ${id} is gone under its lock`);
  if (JSON.stringify(presentUser(after)) !== JSON.stringify(presentUser(before))) {
    await appendUserEvent(tx, 'user-updated', after, now);
  }
  return after;
}

function emailTaken(email: string) {
  return refusal('common.state.illegal_transition', ['user', 'email', email], 'Another user has this e-mail address.');
}

async function appendUserEvent(tx: Transaction, type: string, user: User, now: Date): Promise<void> {
  const entries = [{ type, data: presentUser(user) }];
  await appendEvents(tx, { module: 'users', resourceId: user.id, occurredAt: now, entries });
}

export async function findUser(reader: Reader, id: UserId): Promise<UserRow | null> {
  const [row] = await reader.drizzle.select().from(users).where(eq(users.id, id));
  return row ?? null;
}

/** One page of users in order of creation, and the total. */
export async function listUsers(
  reader: Reader,
  filter: { readonly email?: string | undefined },
  page: PageRequest,
): Promise<PageOf<UserRow>> {
  const where = and(...(filter.email === undefined ? [] : [eq(users.emailKey, emailKey(filter.email))]));
  const [rows, [total]] = await Promise.all([
    reader.drizzle.select().from(users).where(where).orderBy(users.id).limit(page.size).offset(page.offset),
    reader.drizzle.select({ total: count() }).from(users).where(where),
  ]);
  return { rows, totalElements: total?.total ?? 0 };
}
