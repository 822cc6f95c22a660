import { and, count, eq, inArray, sql } from 'drizzle-orm';
import { recordNotFound, refusal } from '../../domain/frame/errors.ts';
import type { ClientId, UserClientRelationId, UserId } from '../../domain/frame/ids.ts';
import { statusesBefore } from '../../domain/frame/moves.ts';
import {
  USER_CLIENT_RELATION_MOVES,
  USER_CLIENT_RELATION_STATUSES,
  type UserClientRelationStatus,
} from '../../domain/users/client-relations.ts';
import type { Reader, Transaction } from '../driver/client.ts';
import { readClock } from '../frame/clock.ts';
import type { PageOf, PageRequest } from '../frame/filters.ts';
import { newId } from '../frame/ids.ts';
import { clients } from '../frame/schema.ts';
import { userClientRelations, users } from './users-schema.ts';

export type UserClientRelationRow = typeof userClientRelations.$inferSelect;

const ENTITY = 'userClientRelation';

/**
 * Relates a user to clients that it has no relation to yet, allowed or revoked. Locks the user, so that requests that name
 * the same clients in different orders run one after the other.
 */
export async function createUserClientRelations(
  tx: Transaction,
  userId: UserId,
  clientIds: readonly ClientId[],
): Promise<readonly UserClientRelationRow[]> {
  const [user] = await tx.drizzle.select({ id: users.id }).from(users).where(eq(users.id, userId)).for('no key update');
  if (user === undefined) throw recordNotFound('user', 'id', userId);
  return insertUserClientRelations(tx, userId, clientIds, await readClock(tx));
}

/** The same for a user that this transaction created or locked. */
export async function insertUserClientRelations(
  tx: Transaction,
  userId: UserId,
  clientIds: readonly ClientId[],
  now: Date,
): Promise<readonly UserClientRelationRow[]> {
  if (clientIds.length === 0) return [];
  await requireClients(tx, ENTITY, clientIds);
  const rows = await tx.drizzle
    .insert(userClientRelations)
    .values(clientIds.map((clientId) => newRelation(userId, clientId, now)))
    .onConflictDoNothing({ target: [userClientRelations.userId, userClientRelations.clientId] })
    .returning();
  const related = new Set(rows.map((row) => row.clientId));
  const known = clientIds.find((clientId) => !related.has(clientId));
  if (known === undefined) return rows;
  const message = 'The user already has a relation to this client; its status is changed by PATCH.';
  throw refusal('common.state.illegal_transition', [ENTITY, 'clientId', known], message);
}

function newRelation(userId: UserId, clientId: ClientId, now: Date): typeof userClientRelations.$inferInsert {
  return { id: newId<UserClientRelationId>(), userId, clientId, status: 'allowed', createdAt: now };
}

/** Lets the user act for the clients, replacing any earlier status, because the invited person has accepted. */
export async function allowUserClientRelations(
  tx: Transaction,
  userId: UserId,
  clientIds: readonly ClientId[],
  now: Date,
): Promise<void> {
  const movable = statusesBefore(USER_CLIENT_RELATION_STATUSES, USER_CLIENT_RELATION_MOVES, 'allowed');
  await tx.drizzle
    .insert(userClientRelations)
    .values(clientIds.map((clientId) => newRelation(userId, clientId, now)))
    .onConflictDoUpdate({
      target: [userClientRelations.userId, userClientRelations.clientId],
      set: { status: 'allowed', revision: sql`${userClientRelations.revision} + 1` },
      setWhere: inArray(userClientRelations.status, movable),
    });
}

/** Rejects an id that is not a client's. */
export async function requireClients(tx: Transaction, entity: string, clientIds: readonly ClientId[]): Promise<void> {
  const found = await tx.drizzle
    .select({ id: clients.id })
    .from(clients)
    .where(inArray(clients.id, [...clientIds]));
  const known = new Set(found.map(({ id }) => id));
  const unknown = clientIds.find((id) => !known.has(id));
  if (unknown !== undefined) throw recordNotFound(entity, 'clientId', unknown);
}

export async function findUserClientRelation(
  reader: Reader,
  userId: UserId,
  id: UserClientRelationId,
): Promise<UserClientRelationRow | null> {
  const [row] = await reader.drizzle.select().from(userClientRelations).where(ofUser(userId, id));
  return row ?? null;
}

/** The relation with this id, if it belongs to this user. */
export function ofUser(userId: UserId, id: UserClientRelationId) {
  return and(eq(userClientRelations.id, id), eq(userClientRelations.userId, userId));
}

/** One page of a user's relations in order of creation, and the total. */
export async function listUserClientRelations(
  reader: Reader,
  userId: UserId,
  filter: { readonly clientId: ClientId; readonly status?: UserClientRelationStatus | undefined },
  page: PageRequest,
): Promise<PageOf<UserClientRelationRow>> {
  const t = userClientRelations;
  const where = and(
    eq(t.userId, userId),
    eq(t.clientId, filter.clientId),
    ...(filter.status === undefined ? [] : [eq(t.status, filter.status)]),
  );
  const [rows, [total]] = await Promise.all([
    reader.drizzle.select().from(t).where(where).orderBy(t.id).limit(page.size).offset(page.offset),
    reader.drizzle.select({ total: count() }).from(t).where(where),
  ]);
  return { rows, totalElements: total?.total ?? 0 };
}
