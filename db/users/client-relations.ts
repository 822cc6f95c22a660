import { and, eq, inArray, sql } from 'drizzle-orm';
import { recordNotFound, refusal } from '../../domain/frame/errors.ts';
import type { ClientId, UserClientRelationId, UserId } from '../../domain/frame/ids.ts';
import { statusesBefore } from '../../domain/frame/moves.ts';
import {
  USER_CLIENT_RELATION_MOVES,
  USER_CLIENT_RELATION_STATUSES,
  type UserClientRelationStatus,
} from '../../domain/users/client-relations.ts';
import type { Reader, Transaction } from '../driver/client.ts';
import { listOf, type PageOf, type PageRequest, readPage } from '../driver/queries/lists.ts';
import { type Given, prepared } from '../driver/queries/queries.ts';
import { insertRowOnce, lockIn, lookUpIn } from '../driver/queries/rows.ts';
import { isListed } from '../driver/values.ts';
import { appendAuditEntry, type Initiator } from '../frame/audit-entries.ts';
import { readClock } from '../frame/clock.ts';
import { equalTo } from '../frame/filters.ts';
import { newId } from '../frame/ids.ts';
import { clients } from '../frame/schema.ts';
import { userClientRelations, users } from './users-schema.ts';

export type UserClientRelationRow = typeof userClientRelations.$inferSelect;

const ENTITY = 'userClientRelation';

const LOCK_USER = lockIn(users, 'no key update');

/**
 * Relates a user to clients that it has no relation to yet, allowed or revoked. Locks the user, so that requests that name
 * the same clients in different orders run one after the other.
 */
export async function createUserClientRelations(
  tx: Transaction,
  userId: UserId,
  clientIds: readonly ClientId[],
  initiator: Initiator,
): Promise<readonly UserClientRelationRow[]> {
  const [user, now] = await Promise.all([tx.lock(LOCK_USER, userId), readClock(tx)]);
  if (user === null) throw recordNotFound('user', 'id', userId);
  await requireClients(tx, ENTITY, clientIds);
  return insertUserClientRelations(tx, userId, clientIds, now, initiator);
}

/** The same for a user that this transaction created or locked, and clients that are known. */
export async function insertUserClientRelations(
  tx: Transaction,
  userId: UserId,
  clientIds: readonly ClientId[],
  now: Date,
  initiator: Initiator,
): Promise<readonly UserClientRelationRow[]> {
  const inserted = await Promise.all(
    clientIds.map((clientId) => insertRowOnce(tx, userClientRelations, newRelation(userId, clientId, now))),
  );
  const rows = inserted.filter((row) => row !== null);
  for (const { id, clientId, status } of rows) {
    const after = { userId, clientId, status };
    appendAuditEntry(tx, { initiator, resource: 'user-client-relation', resourceId: id, action: 'created', after });
  }
  const related = new Set(rows.map((row) => row.clientId));
  const known = clientIds.find((clientId) => !related.has(clientId));
  if (known === undefined) return rows;
  const message = 'The user already has a relation to this client; its status is changed by PATCH.';
  throw refusal('common.state.illegal_transition', [ENTITY, 'clientId', known], message);
}

function newRelation(userId: UserId, clientId: ClientId, now: Date) {
  return { id: newId<UserClientRelationId>(), userId, clientId, status: 'allowed' as const, createdAt: now };
}

const ALLOW = prepared((db, given: Given<ReturnType<typeof newRelation>>) =>
  db
    .insert(userClientRelations)
    .values({
      id: given.id,
      userId: given.userId,
      clientId: given.clientId,
      status: given.status,
      createdAt: given.createdAt,
    })
    .onConflictDoUpdate({
      target: [userClientRelations.userId, userClientRelations.clientId],
      set: { status: 'allowed', revision: sql`${userClientRelations.revision} + 1` },
      setWhere: inArray(
        userClientRelations.status,
        statusesBefore(USER_CLIENT_RELATION_STATUSES, USER_CLIENT_RELATION_MOVES, 'allowed'),
      ),
    })
    .returning({ id: userClientRelations.id, revision: userClientRelations.revision }),
);

/** Lets the user act for the clients, replacing any earlier status, because the invited person has accepted. */
export async function allowUserClientRelations(
  tx: Transaction,
  userId: UserId,
  clientIds: readonly ClientId[],
  now: Date,
  initiator: Initiator,
): Promise<void> {
  const allow = async (clientId: ClientId) => {
    const row = await tx.first(ALLOW, newRelation(userId, clientId, now));
    if (row === null) return;
    const action = row.revision === 1n ? 'created' : 'changed';
    const after = { userId, clientId, status: 'allowed' };
    appendAuditEntry(tx, { initiator, resource: 'user-client-relation', resourceId: row.id, action, after });
  };
  await Promise.all(clientIds.map(allow));
}

const CLIENTS = prepared((db, given: Given<{ ids: readonly ClientId[] }>) =>
  db.select({ id: clients.id }).from(clients).where(isListed(clients.id, given.ids)),
);

/** Rejects an id that is not a client's. */
export async function requireClients(tx: Transaction, entity: string, clientIds: readonly ClientId[]): Promise<void> {
  if (clientIds.length === 0) return;
  const found = await tx.run(CLIENTS, { ids: clientIds });
  const known = new Set(found.map(({ id }) => id));
  const unknown = clientIds.find((id) => !known.has(id));
  if (unknown !== undefined) throw recordNotFound(entity, 'clientId', unknown);
}

const RELATION = lookUpIn(userClientRelations);

/** The relation with this id, if it belongs to this user. */
export async function findUserClientRelation(
  reader: Reader,
  userId: UserId,
  id: UserClientRelationId,
): Promise<UserClientRelationRow | null> {
  const relation = await reader.find(RELATION, id);
  return relation?.userId === userId ? relation : null;
}

/** The same as a condition. */
export function ofUser(given: Given<{ userId: UserId; id: UserClientRelationId }>) {
  return and(eq(userClientRelations.id, given.id), eq(userClientRelations.userId, given.userId));
}

interface Filter {
  readonly clientId: ClientId;
  readonly status?: UserClientRelationStatus | undefined;
}

const LIST = listOf<Filter & { userId: UserId }, typeof userClientRelations>(userClientRelations, (given) =>
  and(
    ...equalTo([
      [userClientRelations.userId, given.userId],
      [userClientRelations.clientId, given.clientId],
      [userClientRelations.status, given.status],
    ]),
  ),
);

/** One page of a user's relations, and the total. */
export function listUserClientRelations(
  reader: Reader,
  userId: UserId,
  filter: Filter,
  page: PageRequest,
): Promise<PageOf<UserClientRelationRow>> {
  const values = { ...filter, userId };
  return readPage(reader, LIST(values), values, page);
}
