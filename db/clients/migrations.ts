import { and, eq, or } from 'drizzle-orm';
import { recordNotFound, rejection } from '../../domain/common/errors.ts';
import { type AccountId, asId, type BeneficiaryId, type ClientId } from '../../domain/common/ids.ts';
import type { Initiator } from '../common/audit-entries.ts';
import { clients } from '../common/schema.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type Given, prepared } from '../query/queries.ts';
import { createClient, type NewClient } from './clients.ts';
import { recordExistingClient } from './connections.ts';
import { clientConnections } from './schema.ts';

/** The origin of a migrated client, beneficiary or account: the requested id, and the provider's own. */
export interface MigrationOrigin {
  readonly provider: string;
  readonly sourceId: string;
  readonly reference: string;
}

/** The id by which a request names what to migrate. */
export type MigrationSourceId = Omit<MigrationOrigin, 'reference'>;

const FIND = prepared((db, given: Given<MigrationSourceId & { readonly reference: string | null }>) =>
  db
    .select({ clientId: clientConnections.clientId })
    .from(clientConnections)
    .where(
      and(
        eq(clientConnections.provider, given.provider),
        // No reference equals a null one.
        or(eq(clientConnections.sourceId, given.sourceId), eq(clientConnections.reference, given.reference)),
      ),
    )
    .limit(1),
);

/** The client already migrated from this source id, or, given a reference, already known to the provider by it. */
export async function findMigratedClient(
  reader: Reader,
  { provider, sourceId, reference = null }: MigrationSourceId & { readonly reference?: string | null },
): Promise<ClientId | null> {
  const row = await reader.first(FIND, { provider, sourceId, reference });
  return row?.clientId ?? null;
}

const CLIENT_AT_PROVIDER = prepared((db, given: Given<{ clientId: ClientId; provider: string }>) =>
  db
    .select({ status: clients.status, state: clientConnections.state, reference: clientConnections.reference })
    .from(clients)
    .leftJoin(
      clientConnections,
      and(eq(clientConnections.clientId, clients.id), eq(clientConnections.provider, given.provider)),
    )
    .where(eq(clients.id, given.clientId)),
);

/**
 * The provider's id of a client whose beneficiaries and accounts can be migrated. The client is active, and was either
 * migrated from the provider or created there with an account.
 */
export async function requireClientAtProvider(
  reader: Reader,
  kind: 'beneficiary' | 'account',
  { clientId, provider }: { readonly clientId: ClientId; readonly provider: string },
): Promise<{ readonly reference: string }> {
  const row = await reader.first(CLIENT_AT_PROVIDER, { clientId, provider });
  if (row === null) throw recordNotFound(kind, 'clientId', clientId);
  if (row.status !== 'active') {
    throw rejection('client.status.not_active', [kind, 'clientId', clientId], 'The client is not active.');
  }
  if (row.state === 'completed-up-to-date' && row.reference !== null) return { reference: row.reference };
  const message = `${provider} does not know the client: migrate it first, or open an account there.`;
  throw rejection('connect.client.not_connected', [kind, 'clientId', clientId], message);
}

/** The rejection of a second migration; `id` is the existing record. */
export function alreadyMigrated(
  kind: 'client' | 'beneficiary' | 'account',
  { provider, sourceId }: MigrationSourceId,
  id: ClientId | BeneficiaryId | AccountId,
) {
  return rejection(
    'common.state.illegal_transition',
    [kind, 'sourceId', sourceId],
    `This ${kind} of ${provider} has already been migrated: it is the ${kind} ${id}.`,
  );
}

/**
 * Stores a migrated client with its provider connection. Of concurrent requests for one source id, one succeeds; the
 * others wait for it and get 409.
 */
export async function migrateClient(tx: Transaction, client: NewClient, origin: MigrationOrigin, initiator: Initiator) {
  const before = await findMigratedClient(tx, origin);
  if (before !== null) throw alreadyMigrated('client', origin, before);
  const created = await createClient(tx, client, initiator);
  const connection = await recordExistingClient(tx, asId<ClientId>(created.client.id), origin);
  if (connection !== null) return { ...created, connection };
  const winner = await findMigratedClient(tx, origin);
  if (winner !== null) throw alreadyMigrated('client', origin, winner);
  throw new Error(`the connection of client ${created.client.id} met another that is not there`);
}
