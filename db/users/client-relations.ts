import { and, eq, inArray, sql } from 'drizzle-orm';
import { recordNotFound, rejection } from '../../domain/common/errors.ts';
import type { ClientId, UserClientRelationId, UserId } from '../../domain/common/ids.ts';
import { statusesBefore } from '../../domain/common/transitions.ts';
import {
  USER_CLIENT_RELATION_STATUSES,
  USER_CLIENT_RELATION_TRANSITIONS,
  type UserClientRelationStatus,
} from '../../domain/users/client-relations.ts';
import { appendAuditEntry, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { equalTo } from '../common/filters.ts';
import { newId } from '../common/ids.ts';
import { clients } from '../common/schema.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { listOf, type PageOf, type PageRequest, readPage } from '../query/lists.ts';
import { type Given, prepared, preparedChange } from '../query/queries.ts';
import { lockIn, lookUpIn, sendInsertion } from '../query/rows.ts';
import { isListed } from '../query/values.ts';
import { userClientRelations, users } from './schema.ts';

export type UserClientRelationRow = typeof userClientRelations.$inferSelect;

const ENTITY = 'userClientRelation';

const LOCK_USER = lockIn(users, 'no key update');

/**
 * Creates a user's relations to clients that it has no relation to yet, allowed or revoked. Locks the user, so that requests that
 * name the same clients in different orders run one after the other.
 */
export async function createUserClientRelations(
  tx: Transaction,
  userId: UserId,
  clientIds: readonly ClientId[],
  initiator: Initiator,
): Promise<readonly UserClientRelationRow[]> {
  const [user, now, related] = await Promise.all([
    tx.lock(LOCK_USER, userId),
    readClock(tx),
    tx.run(RELATED, { userId, ids: clientIds }),
  ]);
  if (user === null) throw recordNotFound('user', 'id', userId);
  await requireClients(tx, ENTITY, clientIds);
  const [known] = related;
  if (known !== undefined) throw alreadyRelated(known.clientId);
  return insertUserClientRelations(tx, userId, clientIds, now, initiator);
}

/** The same for a user without relations to these clients, which are known. */
export function insertUserClientRelations(
  tx: Transaction,
  userId: UserId,
  clientIds: readonly ClientId[],
  now: Date,
  initiator: Initiator,
): readonly UserClientRelationRow[] {
  const twice = clientIds.find((clientId, index) => clientIds.indexOf(clientId) < index);
  if (twice !== undefined) throw alreadyRelated(twice);
  return clientIds.map((clientId) => {
    const row = sendInsertion(tx, userClientRelations, newRelation(userId, clientId, now));
    const after = { userId, clientId, status: row.status };
    appendAuditEntry(tx, { initiator, resource: 'user-client-relation', resourceId: row.id, action: 'created', after });
    return row;
  });
}

function alreadyRelated(clientId: ClientId) {
  const message = 'The user already has a relation to this client; its status is changed by PATCH.';
  return rejection('common.state.illegal_transition', [ENTITY, 'clientId', clientId], message);
}

const RELATED = prepared((db, given: Given<{ userId: UserId; ids: readonly ClientId[] }>) =>
  db
    .select({ clientId: userClientRelations.clientId })
    .from(userClientRelations)
    .where(and(eq(userClientRelations.userId, given.userId), isListed(userClientRelations.clientId, given.ids))),
);

function newRelation(userId: UserId, clientId: ClientId, now: Date) {
  return { id: newId<UserClientRelationId>(), userId, clientId, status: 'allowed' as const, createdAt: now };
}

const ALLOW = preparedChange((db, given: Given<ReturnType<typeof newRelation>>) =>
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
        statusesBefore(USER_CLIENT_RELATION_STATUSES, USER_CLIENT_RELATION_TRANSITIONS, 'allowed'),
      ),
    })
    .returning({ id: userClientRelations.id, revision: userClientRelations.revision }),
);

/** Allows the user to act for the clients, replacing any earlier status, because the invited person has accepted. */
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

/** As findUserClientRelation, as a condition. */
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
