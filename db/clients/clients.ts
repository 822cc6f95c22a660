import { and, asc, eq, sql } from 'drizzle-orm';
import type {
  Client,
  ClientIdentity,
  ClientProfile,
  ClientRelation,
  ClientStatus,
} from '../../domain/clients/clients.ts';
import { presentClientWithRelations } from '../../domain/clients/relations.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { ClientId } from '../../domain/common/ids.ts';
import { clientNumber } from '../../domain/common/numbers/numbers.ts';
import { emailKey } from '../../domain/common/parties/emails.ts';
import { fullNameOf } from '../../domain/common/parties/names.ts';
import { appendAuditEntry, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { appendFirstEvent, FIRST_SEQUENCE } from '../common/events.ts';
import { anyPart, equalTo, matchesPart } from '../common/filters.ts';
import { drawNumber, newId } from '../common/ids.ts';
import { clients } from '../common/schema.ts';
import { countedListOf, keyed } from '../query/counted-lists.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type PageOf, type PageRequest, readPage } from '../query/lists.ts';
import {
  type BoundedCount,
  type Newest,
  type NewestConditions,
  type NewestPage,
  newestListOf,
} from '../query/newest-lists.ts';
import { type Given, prepared } from '../query/queries.ts';
import { lookUpIn, sendInsertion } from '../query/rows.ts';
import { insertClientRelations, type NewClientRelation } from './relations.ts';
import { clientConnections } from './schema.ts';

export interface NewClient {
  readonly identity: ClientIdentity;
  readonly profile: ClientProfile;
  readonly relations: readonly NewClientRelation[];
}

/** Stores a client, active from the start, with its relations and its event. */
export async function createClient(
  tx: Transaction,
  client: NewClient,
  initiator: Initiator,
): Promise<{ client: Client; relations: readonly ClientRelation[]; now: Date }> {
  const [now, number] = await Promise.all([readClock(tx), drawNumber(tx, 'client_numbers')]);
  const { identity, profile } = client;
  const row = sendInsertion(tx, clients, {
    id: newId<ClientId>(),
    clientNumber: clientNumber(number),
    status: 'active',
    identityType: identity.type,
    identity,
    profile,
    fullName: fullNameOf(identity),
    email: profile.email,
    country: identity.country,
    ...FIRST_SEQUENCE,
    createdAt: now,
  });
  const relations = insertClientRelations(tx, row.id, client.relations, now, initiator);
  const entry = { type: 'created', data: presentClientWithRelations(row, relations) };
  appendFirstEvent(tx, { module: 'clients', resourceId: row.id, occurredAt: now, entry });
  const after = { clientNumber: row.clientNumber, status: row.status, identityType: row.identityType };
  appendAuditEntry(tx, { initiator, resource: 'client', resourceId: row.id, action: 'created', after });
  return { client: row, relations, now };
}

const CLIENT = lookUpIn(clients);

export function findClient(reader: Reader, id: ClientId): Promise<Client | null> {
  return reader.find(CLIENT, id);
}

/** For a client id in a request body: reports an unknown client before checking what it owns. */
export async function requireClient(reader: Reader, entity: string, id: ClientId): Promise<void> {
  if ((await findClient(reader, id)) === null) throw recordNotFound(entity, 'clientId', id);
}

const CONNECTIONS = prepared((db, given: Given<{ clientId: ClientId }>) =>
  db
    .select({
      id: clientConnections.id,
      serviceProvider: clientConnections.provider,
      reference: clientConnections.reference,
      state: clientConnections.state,
    })
    .from(clientConnections)
    .where(eq(clientConnections.clientId, given.clientId))
    .orderBy(asc(clientConnections.id)),
);

export function readClientConnections(reader: Reader, clientId: ClientId) {
  return reader.run(CONNECTIONS, { clientId });
}

export interface ClientFilter {
  readonly status?: ClientStatus | undefined;
  readonly clientNumber?: string | undefined;
  readonly fullName?: string | undefined;
  readonly email?: string | undefined;
  readonly country?: string | undefined;
  readonly identityType?: 'individual' | 'corporate' | undefined;
}

function conditionsOf(given: Partial<Given<ClientFilter>>): NewestConditions {
  return {
    indexed: equalTo([
      [clients.clientNumber, given.clientNumber],
      [sql`lower(${clients.email})`, given.email],
    ]),
    others: [
      ...equalTo([
        [clients.status, given.status],
        [clients.country, given.country],
        [clients.identityType, given.identityType],
      ]),
      ...matchesPart([[clients.fullName, given.fullName]]),
    ],
  };
}

const LIST = countedListOf<ClientFilter, typeof clients>(
  clients,
  (given) => {
    const { indexed, others } = conditionsOf(given);
    return and(...indexed, ...others);
  },
  { status: keyed('status'), country: keyed('country'), identityType: keyed('identityType') },
);

function valuesOf(filter: ClientFilter): ClientFilter {
  const { fullName, email } = filter;
  return {
    ...filter,
    fullName: anyPart(fullName),
    email: email === undefined ? undefined : emailKey(email),
  };
}

/** One page of clients, and the total. */
export function listClients(reader: Reader, filter: ClientFilter, page: PageRequest): Promise<PageOf<Client>> {
  const values = valuesOf(filter);
  return readPage(reader, LIST(values), values, page);
}

const NEWEST = newestListOf<ClientFilter, typeof clients>(clients, conditionsOf);

/** Clients newest first, of which a page reads a bounded part. */
export function listNewestClients(reader: Reader, filter: ClientFilter, page: NewestPage): Promise<Newest<Client>> {
  return NEWEST.read(reader, valuesOf(filter), page);
}

export function countClients(reader: Reader, filter: ClientFilter, max: number): Promise<BoundedCount> {
  return NEWEST.count(reader, valuesOf(filter), max);
}
