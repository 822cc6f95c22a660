import { and, asc, count, eq } from 'drizzle-orm';
import type { ClientProfile, ClientRelation, ClientRelationKind } from '../../domain/clients/clients.ts';
import {
  applyClientRelationChange,
  CLIENT_RELATIONS_MAX,
  type ClientRelationChange,
} from '../../domain/clients/relations.ts';
import { recordNotFound, refusal } from '../../domain/frame/errors.ts';
import type { ClientId, ClientRelationId } from '../../domain/frame/ids.ts';
import { fullNameOf } from '../../domain/frame/parties/names.ts';
import type { Reader, Transaction } from '../driver/client.ts';
import { readClock } from '../frame/clock.ts';
import type { PageOf, PageRequest } from '../frame/filters.ts';
import { newId } from '../frame/ids.ts';
import { clientRelations, clients } from '../frame/schema.ts';

const ENTITY = 'clientRelation';

export interface NewClientRelation {
  readonly relation: ClientRelationKind;
  readonly identity: ClientRelation['identity'];
  readonly profile: ClientProfile;
}

/** Relates individuals to a corporate client. Locks the client, so that concurrent requests respect the maximum. */
export async function addClientRelations(
  tx: Transaction,
  clientId: ClientId,
  relations: readonly NewClientRelation[],
): Promise<readonly ClientRelation[]> {
  const [client] = await tx.drizzle
    .select({ type: clients.identityType })
    .from(clients)
    .where(eq(clients.id, clientId))
    .for('no key update');
  if (client === undefined) throw recordNotFound('client', 'id', clientId);
  if (client.type !== 'corporate') {
    const message = 'Only corporate clients have relations.';
    throw refusal('common.validation.field_invalid', ['client', 'identity.type', client.type], message);
  }
  const [held] = await tx.drizzle
    .select({ total: count() })
    .from(clientRelations)
    .where(eq(clientRelations.clientId, clientId));
  const total = (held?.total ?? 0) + relations.length;
  if (total > CLIENT_RELATIONS_MAX) {
    const message = `A client has at most ${CLIENT_RELATIONS_MAX} relations; with these it would have ${total}.`;
    throw refusal('common.validation.limit_exceeded', ['client', 'relations', String(total)], message);
  }
  return insertClientRelations(tx, clientId, relations, await readClock(tx));
}

/** The same for a client that this transaction created or locked. */
export async function insertClientRelations(
  tx: Transaction,
  clientId: ClientId,
  relations: readonly NewClientRelation[],
  now: Date,
): Promise<readonly ClientRelation[]> {
  if (relations.length === 0) return [];
  const rows = relations.map((relation) => ({
    ...relation,
    id: newId<ClientRelationId>(),
    clientId,
    fullName: fullNameOf(relation.identity),
    createdAt: now,
  }));
  return tx.drizzle.insert(clientRelations).values(rows).returning();
}

export async function changeClientRelation(
  tx: Transaction,
  clientId: ClientId,
  id: ClientRelationId,
  change: ClientRelationChange,
): Promise<ClientRelation> {
  const [before] = await tx.drizzle.select().from(clientRelations).where(ofClient(clientId, id)).for('update');
  if (before === undefined) throw recordNotFound(ENTITY, 'id', id);
  const [after] = await tx.drizzle
    .update(clientRelations)
    .set({ ...applyClientRelationChange(before, change), revision: before.revision + 1n })
    .where(eq(clientRelations.id, id))
    .returning();
  if (after === undefined) throw new Error(`relation ${id} is gone under its lock`);
  return after;
}

export async function deleteClientRelation(tx: Transaction, clientId: ClientId, id: ClientRelationId): Promise<void> {
  const [gone] = await tx.drizzle
    .delete(clientRelations)
    .where(ofClient(clientId, id))
    .returning({ id: clientRelations.id });
  if (gone === undefined) throw recordNotFound(ENTITY, 'id', id);
}

export async function findClientRelation(
  reader: Reader,
  clientId: ClientId,
  id: ClientRelationId,
): Promise<ClientRelation | null> {
  const [row] = await reader.drizzle.select().from(clientRelations).where(ofClient(clientId, id));
  return row ?? null;
}

function ofClient(clientId: ClientId, id: ClientRelationId) {
  return and(eq(clientRelations.id, id), eq(clientRelations.clientId, clientId));
}

/** All of a client's relations in order of creation. */
export async function readClientRelations(reader: Reader, clientId: ClientId): Promise<readonly ClientRelation[]> {
  return reader.drizzle
    .select()
    .from(clientRelations)
    .where(eq(clientRelations.clientId, clientId))
    .orderBy(asc(clientRelations.id));
}

/** One page of a client's relations in order of creation, and the total. */
export async function listClientRelations(
  reader: Reader,
  clientId: ClientId,
  page: PageRequest,
): Promise<PageOf<ClientRelation>> {
  const t = clientRelations;
  const where = eq(t.clientId, clientId);
  const [rows, [total]] = await Promise.all([
    reader.drizzle.select().from(t).where(where).orderBy(t.id).limit(page.size).offset(page.offset),
    reader.drizzle.select({ total: count() }).from(t).where(where),
  ]);
  return { rows, totalElements: total?.total ?? 0 };
}
