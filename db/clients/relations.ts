import { and, eq, sql } from 'drizzle-orm';
import type { ClientProfile, ClientRelation, ClientRelationKind } from '../../domain/clients/clients.ts';
import {
  applyClientRelationChange,
  CLIENT_RELATIONS_MAX,
  type ClientRelationChange,
} from '../../domain/clients/relations.ts';
import { recordNotFound, rejection } from '../../domain/common/errors.ts';
import type { ClientId, ClientRelationId } from '../../domain/common/ids.ts';
import { fullNameOf } from '../../domain/common/parties/names.ts';
import { auditorOf, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { equalTo } from '../common/filters.ts';
import { newId } from '../common/ids.ts';
import { clientRelations } from '../common/schema.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { listOf, type PageOf, type PageRequest, readPage } from '../query/lists.ts';
import { type Given, prepared } from '../query/queries.ts';
import { childrenIn, lockIn, lookUpIn, sendDeletion, sendInsertion, sendUpdate } from '../query/rows.ts';
import { LOCK_CLIENT } from './locks.ts';

const audit = auditorOf('client-relation');

const ENTITY = 'clientRelation';

export interface NewClientRelation {
  readonly relation: ClientRelationKind;
  readonly identity: ClientRelation['identity'];
  readonly profile: ClientProfile;
}

const COUNT = prepared((db, given: Given<{ clientId: ClientId }>) =>
  db
    .select({ total: sql<number>`count(*)::integer` })
    .from(clientRelations)
    .where(eq(clientRelations.clientId, given.clientId)),
);

/** Relates individuals to a corporate client. Locks the client, so that concurrent requests respect the maximum. */
export async function addClientRelations(
  tx: Transaction,
  clientId: ClientId,
  relations: readonly NewClientRelation[],
  initiator: Initiator,
): Promise<readonly ClientRelation[]> {
  const [client, held, now] = await Promise.all([
    tx.lock(LOCK_CLIENT, clientId),
    tx.first(COUNT, { clientId }),
    readClock(tx),
  ]);
  if (client === null) throw recordNotFound('client', 'id', clientId);
  if (client.identityType !== 'corporate') {
    const message = 'Only corporate clients have relations.';
    throw rejection('common.validation.field_invalid', ['client', 'identity.type', client.identityType], message);
  }
  const total = (held?.total ?? 0) + relations.length;
  if (total > CLIENT_RELATIONS_MAX) {
    const message = `A client has at most ${CLIENT_RELATIONS_MAX} relations; with these it would have ${total}.`;
    throw rejection('common.validation.limit_exceeded', ['client', 'relations', String(total)], message);
  }
  return insertClientRelations(tx, clientId, relations, now, initiator);
}

/** The same for a client that this transaction created or locked. */
export function insertClientRelations(
  tx: Transaction,
  clientId: ClientId,
  relations: readonly NewClientRelation[],
  now: Date,
  initiator: Initiator,
): readonly ClientRelation[] {
  const rows = relations.map((relation) =>
    sendInsertion(tx, clientRelations, {
      ...relation,
      id: newId<ClientRelationId>(),
      clientId,
      fullName: fullNameOf(relation.identity),
      createdAt: now,
    }),
  );
  for (const { id, relation } of rows) audit(tx, id, { initiator, action: 'created', after: { clientId, relation } });
  return rows;
}

const LOCK = lockIn(clientRelations, 'update');

async function lockRelation(tx: Transaction, clientId: ClientId, id: ClientRelationId) {
  const relation = await tx.lock(LOCK, id);
  if (relation?.clientId !== clientId) throw recordNotFound(ENTITY, 'id', id);
  return relation;
}

export async function changeClientRelation(
  tx: Transaction,
  clientId: ClientId,
  id: ClientRelationId,
  change: ClientRelationChange,
  initiator: Initiator,
): Promise<ClientRelation> {
  const before = await lockRelation(tx, clientId, id);
  const changed = applyClientRelationChange(before, change);
  const after = sendUpdate(tx, clientRelations, before, { ...changed, revision: before.revision + 1n });
  audit(tx, id, {
    initiator,
    action: 'changed',
    before: { relation: before.relation },
    after: { relation: after.relation },
    concealed: { before: concealedFields(before), after: concealedFields(after) },
  });
  return after;
}

function concealedFields({ identity, profile }: ClientRelation) {
  return { identity, profile };
}

export async function deleteClientRelation(
  tx: Transaction,
  clientId: ClientId,
  id: ClientRelationId,
  initiator: Initiator,
): Promise<void> {
  const { relation } = await lockRelation(tx, clientId, id);
  sendDeletion(tx, clientRelations, id);
  audit(tx, id, { initiator, action: 'deleted', before: { clientId, relation } });
}

const RELATION = lookUpIn(clientRelations);

/** The relation with this id, if it belongs to this client. */
export async function findClientRelation(
  reader: Reader,
  clientId: ClientId,
  id: ClientRelationId,
): Promise<ClientRelation | null> {
  const relation = await reader.find(RELATION, id);
  return relation?.clientId === clientId ? relation : null;
}

const RELATIONS = childrenIn(clientRelations, clientRelations.clientId, ({ clientId }) => clientId);

/** All of a client's relations in order of creation. */
export function readClientRelations(reader: Reader, clientId: ClientId): Promise<readonly ClientRelation[]> {
  return reader.findChildren(RELATIONS, clientId);
}

const LIST = listOf<{ clientId: ClientId }, typeof clientRelations>(clientRelations, (given) =>
  and(...equalTo([[clientRelations.clientId, given.clientId]])),
);

/** One page of a client's relations, and the total. */
export function listClientRelations(
  reader: Reader,
  clientId: ClientId,
  page: PageRequest,
): Promise<PageOf<ClientRelation>> {
  return readPage(reader, LIST({ clientId }), { clientId }, page);
}
