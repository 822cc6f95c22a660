import { and, eq, sql } from 'drizzle-orm';
import type { ClientConnectionOutcome } from '../../domain/accounts/connections.ts';
import { presentClientWithRelations } from '../../domain/clients/relations.ts';
import type { ClientId } from '../../domain/frame/ids.ts';
import type { Transaction } from '../driver/client.ts';
import { readClock } from '../frame/clock.ts';
import { appendEvents } from '../frame/events.ts';
import { newId } from '../frame/ids.ts';
import { clients } from '../frame/schema.ts';
import { clientConnections } from './connections-schema.ts';
import { readClientRelations } from './relations.ts';

export type ClientConnectionRow = typeof clientConnections.$inferSelect;

/** Notes that the client must be known to the provider. One that failed before is tried again with the next account. */
export async function requireClientConnection(
  tx: Transaction,
  clientId: ClientId,
  provider: string,
  now: Date,
): Promise<void> {
  await tx.execute(sql`
    INSERT INTO client_connections (id, client_id, provider, state, created_at)
    VALUES (${newId()}, ${clientId}, ${provider}, 'creation-in-progress', ${now})
    ON CONFLICT (client_id, provider) DO UPDATE SET state = 'creation-in-progress', error = NULL
      WHERE client_connections.state = 'creation-failed'`);
}

export async function findClientConnection(
  tx: Transaction,
  clientId: ClientId,
  provider: string,
): Promise<ClientConnectionRow | null> {
  const [row] = await tx.drizzle
    .select()
    .from(clientConnections)
    .where(and(eq(clientConnections.clientId, clientId), eq(clientConnections.provider, provider)));
  return row ?? null;
}

/**
 * Records what the provider said of the client. Safe to repeat; several accounts may wait for one client. The client is
 * locked before its connections, as everywhere.
 */
export async function recordClientConnection(
  tx: Transaction,
  recorded: { readonly clientId: ClientId; readonly provider: string; readonly outcome: ClientConnectionOutcome },
): Promise<void> {
  const { clientId, provider, outcome } = recorded;
  const connected = outcome.outcome === 'connected';
  const client = await lockClient(tx, clientId);
  const [changed] = await tx.drizzle
    .update(clientConnections)
    .set({
      state: connected ? 'completed-up-to-date' : 'creation-failed',
      reference: connected ? outcome.reference : null,
      error: connected ? null : outcome.error,
    })
    .where(
      and(
        eq(clientConnections.clientId, clientId),
        eq(clientConnections.provider, provider),
        eq(clientConnections.state, 'creation-in-progress'),
      ),
    )
    .returning();
  if (changed !== undefined && connected) await appendConnectionCreated(tx, client, changed, await readClock(tx));
}

/** A plug-in caller has connected the client's account, and with the first one at a provider the client. */
export async function recordPlugInClient(
  tx: Transaction,
  clientId: ClientId,
  provider: string,
  now: Date,
): Promise<void> {
  const client = await lockClient(tx, clientId);
  const [made] = await tx.drizzle
    .insert(clientConnections)
    .values({ id: newId(), clientId, provider, state: 'completed-up-to-date', createdAt: now })
    .onConflictDoNothing()
    .returning();
  if (made !== undefined) await appendConnectionCreated(tx, client, made, now);
}

/**
 * The provider had the client before it came here, so no account makes it there again. Null where a client was taken over
 * from this source id before.
 */
export async function recordExistingClient(
  tx: Transaction,
  clientId: ClientId,
  origin: { readonly provider: string; readonly sourceId: string; readonly reference: string },
): Promise<ClientConnectionRow | null> {
  const client = await lockClient(tx, clientId);
  const now = await readClock(tx);
  const [made] = await tx.drizzle
    .insert(clientConnections)
    .values({ ...origin, id: newId(), clientId, state: 'completed-up-to-date', createdAt: now })
    .onConflictDoNothing()
    .returning();
  if (made === undefined) return null;
  await appendConnectionCreated(tx, client, made, now);
  return made;
}

type ClientRow = typeof clients.$inferSelect;

// Not `update`: a row of accounts that is written twice in a transaction shares its client's key, and two of those would
// each wait for the other here.
async function lockClient(tx: Transaction, id: ClientId): Promise<ClientRow> {
  const [client] = await tx.drizzle.select().from(clients).where(eq(clients.id, id)).for('no key update');
  if (client === undefined) throw new Error(`client ${id} of an account does not exist`);
  return client;
}

/** The client's event carries the new connection beside the client, as `connect.connection` (specification 6). */
async function appendConnectionCreated(
  tx: Transaction,
  client: ClientRow,
  connection: ClientConnectionRow,
  occurredAt: Date,
): Promise<void> {
  const { id, provider } = connection;
  const relations = await readClientRelations(tx, client.id);
  const data = { ...presentClientWithRelations(client, relations), connection: { id, serviceProvider: provider } };
  await appendEvents(tx, {
    module: 'clients',
    resourceId: client.id,
    occurredAt,
    entries: [{ type: 'connection-created', data }],
  });
}
