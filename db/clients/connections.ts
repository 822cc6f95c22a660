import { and, eq, sql } from 'drizzle-orm';
import type { ClientConnectionOutcome } from '../../domain/accounts/connections.ts';
import { presentClientWithRelations } from '../../domain/clients/relations.ts';
import type { ClientId } from '../../domain/common/ids.ts';
import { readClock } from '../common/clock.ts';
import { appendEvents } from '../common/events.ts';
import { newId } from '../common/ids.ts';
import type { clients } from '../common/schema.ts';
import type { Transaction } from '../query/database.ts';
import { type Given, prepared, preparedChange } from '../query/queries.ts';
import { writing } from '../query/row-writers.ts';
import { insertRowOnce } from '../query/rows.ts';
import { LOCK_CLIENT } from './locks.ts';
import { readClientRelations } from './relations.ts';
import { clientConnections } from './schema.ts';

export type ClientConnectionRow = typeof clientConnections.$inferSelect;

interface ClientAtProvider {
  readonly clientId: ClientId;
  readonly provider: string;
}

const REQUIRE = writing<ClientAtProvider & { readonly now: Date }>({
  name: 'required client connections',
  stage: 'rows',
  columns: 'id uuid, client_id uuid, provider text, now timestamptz',
  recordOf: ({ clientId, provider, now }) => JSON.stringify({ id: newId(), client_id: clientId, provider, now }),
  // Each once, in one lock order.
  textOf: (rows) => `INSERT INTO client_connections (id, client_id, provider, state, created_at)
    SELECT DISTINCT ON (client_id, provider) id, client_id, provider, 'creation-in-progress', now FROM ${rows}
    ORDER BY client_id, provider
    ON CONFLICT (client_id, provider) DO UPDATE SET state = 'creation-in-progress', error = NULL
      WHERE client_connections.state = 'creation-failed'`,
});

/** Ensures that the client will be connected to the provider. A failed connection is tried again with the next account. */
export function requireClientConnection(tx: Transaction, clientId: ClientId, provider: string, now: Date): void {
  tx.sendEach(REQUIRE, [{ clientId, provider, now }]);
}

function ofClientAt(given: Given<ClientAtProvider>) {
  return and(eq(clientConnections.clientId, given.clientId), eq(clientConnections.provider, given.provider));
}

const FIND = prepared((db, given: Given<ClientAtProvider>) =>
  db.select().from(clientConnections).where(ofClientAt(given)),
);

export function findClientConnection(
  tx: Transaction,
  clientId: ClientId,
  provider: string,
): Promise<ClientConnectionRow | null> {
  return tx.first(FIND, { clientId, provider });
}

const RECORD = preparedChange(
  (db, given: Given<ClientAtProvider & Pick<ClientConnectionRow, 'state' | 'reference' | 'error'>>) =>
    db
      .update(clientConnections)
      .set({ state: sql`${given.state}`, reference: sql`${given.reference}`, error: sql`${given.error}` })
      .where(and(ofClientAt(given), eq(clientConnections.state, 'creation-in-progress')))
      .returning(),
);

/**
 * Records the provider's answer about the client. Safe to repeat; several accounts may wait for one client. Locks the
 * client before its connections, as everywhere.
 */
export async function recordClientConnection(
  tx: Transaction,
  recorded: { readonly clientId: ClientId; readonly provider: string; readonly outcome: ClientConnectionOutcome },
): Promise<void> {
  const { clientId, provider, outcome } = recorded;
  const connected = outcome.outcome === 'connected';
  const client = await lockClient(tx, clientId);
  const changed = await tx.first(RECORD, {
    clientId,
    provider,
    state: connected ? 'completed-up-to-date' : 'creation-failed',
    reference: connected ? outcome.reference : null,
    error: connected ? null : outcome.error,
  });
  if (changed !== null && connected) await appendConnectionCreated(tx, client, changed, await readClock(tx));
}

/** A plug-in caller that connects a client's first account at a provider connects the client too. */
export async function recordPlugInClient(
  tx: Transaction,
  clientId: ClientId,
  provider: string,
  now: Date,
): Promise<void> {
  const client = await lockClient(tx, clientId);
  const own = { id: newId(), clientId, provider, state: 'completed-up-to-date', createdAt: now } as const;
  const made = await insertRowOnce(tx, clientConnections, own);
  if (made !== null) await appendConnectionCreated(tx, client, made, now);
}

/**
 * Records a client that already exists at the provider, so that opening an account does not create it again. Null where
 * a client was already migrated from this source id.
 */
export async function recordExistingClient(
  tx: Transaction,
  clientId: ClientId,
  origin: { readonly provider: string; readonly sourceId: string; readonly reference: string },
): Promise<ClientConnectionRow | null> {
  const client = await lockClient(tx, clientId);
  const now = await readClock(tx);
  const own = { ...origin, id: newId(), clientId, state: 'completed-up-to-date', createdAt: now } as const;
  const made = await insertRowOnce(tx, clientConnections, own);
  if (made === null) return null;
  await appendConnectionCreated(tx, client, made, now);
  return made;
}

type ClientRow = typeof clients.$inferSelect;

async function lockClient(tx: Transaction, id: ClientId): Promise<ClientRow> {
  const client = await tx.lock(LOCK_CLIENT, id);
  if (client === null) throw new Error(`client ${id} of an account does not exist`);
  return client;
}

/** The client's event carries the new connection next to the client, as `connect.connection` (specification 6). */
async function appendConnectionCreated(
  tx: Transaction,
  client: ClientRow,
  connection: ClientConnectionRow,
  occurredAt: Date,
): Promise<void> {
  const { id, provider } = connection;
  const relations = await readClientRelations(tx, client.id);
  const data = { ...presentClientWithRelations(client, relations), connection: { id, serviceProvider: provider } };
  appendEvents(tx, {
    module: 'clients',
    resourceId: client.id,
    occurredAt,
    entries: [{ type: 'connection-created', data }],
  });
}
