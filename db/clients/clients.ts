import { and, asc, count, eq, type SQL, sql } from 'drizzle-orm';
import type {
  Client,
  ClientIdentity,
  ClientProfile,
  ClientRelation,
  ClientStatus,
} from '../../domain/clients/clients.ts';
import { presentClientWithRelations } from '../../domain/clients/relations.ts';
import { recordNotFound } from '../../domain/frame/errors.ts';
import type { ClientId } from '../../domain/frame/ids.ts';
import { clientNumber } from '../../domain/frame/numbers.ts';
import { emailKey } from '../../domain/frame/parties/emails.ts';
import { fullNameOf } from '../../domain/frame/parties/names.ts';
import type { Reader, Transaction } from '../driver/client.ts';
import { readClock } from '../frame/clock.ts';
import { appendEvents } from '../frame/events.ts';
import { contains, equalTo, type PageOf, type PageRequest } from '../frame/filters.ts';
import { newId } from '../frame/ids.ts';
import { clients } from '../frame/schema.ts';
import { clientConnections } from './connections-schema.ts';
import { insertClientRelations, type NewClientRelation } from './relations.ts';

export interface NewClient {
  readonly identity: ClientIdentity;
  readonly profile: ClientProfile;
  readonly relations: readonly NewClientRelation[];
}

/** Stores a client, active from the start, with its relations and its event. */
export async function createClient(
  tx: Transaction,
  client: NewClient,
): Promise<{ client: Client; relations: readonly ClientRelation[] }> {
  const [now, [sequence]] = await Promise.all([
    readClock(tx),
    tx.execute<{ number: bigint }>(sql`SELECT nextval('client_numbers') AS number`),
  ]);
  if (sequence === undefined) throw new Error('a sequence returned no value');
  const { identity, profile } = client;
  const [row] = await tx.drizzle
    .insert(clients)
    .values({
      id: newId<ClientId>(),
      clientNumber: clientNumber(sequence.number),
      status: 'active',
      identityType: identity.type,
      identity,
      profile,
      fullName: fullNameOf(identity),
      email: profile.email,
      country: identity.country,
      createdAt: now,
    })
    .returning();
  if (row === undefined) throw new Error('an insert returned no row');
  const relations = await insertClientRelations(tx, row.id, client.relations, now);
  const entries = [{ type: 'created', data: presentClientWithRelations(row, relations) }];
  await appendEvents(tx, { module: 'clients', resourceId: row.id, occurredAt: now, entries });
  return { client: row, relations };
}

export async function findClient(reader: Reader, id: ClientId): Promise<Client | null> {
  const [row] = await reader.drizzle.select().from(clients).where(eq(clients.id, id));
  return row ?? null;
}

/** For a client id in a request body: reports an unknown client before checking what it owns. */
export async function requireClient(reader: Reader, entity: string, id: ClientId): Promise<void> {
  if ((await findClient(reader, id)) === null) throw recordNotFound(entity, 'clientId', id);
}

export async function readClientConnections(reader: Reader, clientId: ClientId) {
  return reader.drizzle
    .select({
      id: clientConnections.id,
      serviceProvider: clientConnections.provider,
      reference: clientConnections.reference,
      state: clientConnections.state,
    })
    .from(clientConnections)
    .where(eq(clientConnections.clientId, clientId))
    .orderBy(asc(clientConnections.id));
}

export interface ClientFilter {
  readonly status?: ClientStatus | undefined;
  readonly clientNumber?: string | undefined;
  readonly fullName?: string | undefined;
  readonly email?: string | undefined;
  readonly country?: string | undefined;
  readonly identityType?: 'individual' | 'corporate' | undefined;
}

function conditions(filter: ClientFilter): SQL | undefined {
  const equal = equalTo([
    [clients.status, filter.status],
    [clients.clientNumber, filter.clientNumber],
    [clients.country, filter.country],
    [clients.identityType, filter.identityType],
  ]);
  return and(
    ...equal,
    ...(filter.fullName === undefined ? [] : [contains(clients.fullName, filter.fullName)]),
    ...(filter.email === undefined ? [] : [sql`lower(${clients.email}) = ${emailKey(filter.email)}`]),
  );
}

/** One page of clients in order of creation, and the total. */
export async function listClients(reader: Reader, filter: ClientFilter, page: PageRequest): Promise<PageOf<Client>> {
  const where = conditions(filter);
  const [rows, [total]] = await Promise.all([
    reader.drizzle.select().from(clients).where(where).orderBy(clients.id).limit(page.size).offset(page.offset),
    reader.drizzle.select({ total: count() }).from(clients).where(where),
  ]);
  return { rows, totalElements: total?.total ?? 0 };
}
