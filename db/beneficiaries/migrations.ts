import { and, eq } from 'drizzle-orm';
import { recordNotFound, refusal } from '../../domain/frame/errors.ts';
import type { BeneficiaryId, ClientId } from '../../domain/frame/ids.ts';
import { beneficiaryConnections, clientConnections } from '../clients/connections-schema.ts';
import { isHereAlready, type MigrationOrigin, type MigrationSourceId } from '../clients/migrations.ts';
import type { Reader, Transaction } from '../driver/client.ts';
import { type Given, prepared } from '../driver/queries/queries.ts';
import { insertRowOnce } from '../driver/queries/rows.ts';
import type { Initiator } from '../frame/audit-entries.ts';
import { readClock } from '../frame/clock.ts';
import { newId } from '../frame/ids.ts';
import { clients } from '../frame/schema.ts';
import { createBeneficiary, type NewBeneficiary } from './beneficiaries.ts';

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
 * The provider's id of a client whose beneficiaries can be migrated. The client is active, and was either migrated from
 * the provider or created there with an account.
 */
export async function requireClientAtProvider(
  reader: Reader,
  clientId: ClientId,
  provider: string,
): Promise<{ readonly reference: string }> {
  const row = await reader.first(CLIENT_AT_PROVIDER, { clientId, provider });
  if (row === null) throw recordNotFound('beneficiary', 'clientId', clientId);
  if (row.status !== 'active') {
    throw refusal('client.status.not_active', ['beneficiary', 'clientId', clientId], 'The client is not active.');
  }
  if (row.state === 'completed-up-to-date' && row.reference !== null) return { reference: row.reference };
  const message = `${provider} does not know the client: migrate it first, or open an account there.`;
  throw refusal('connect.client.not_connected', ['beneficiary', 'clientId', clientId], message);
}

const FIND = prepared((db, given: Given<MigrationSourceId>) =>
  db
    .select({ beneficiaryId: beneficiaryConnections.beneficiaryId })
    .from(beneficiaryConnections)
    .where(
      and(eq(beneficiaryConnections.provider, given.provider), eq(beneficiaryConnections.sourceId, given.sourceId)),
    ),
);

/** The beneficiary already migrated from this source id. */
export async function findMigratedBeneficiary(
  reader: Reader,
  { provider, sourceId }: MigrationSourceId,
): Promise<BeneficiaryId | null> {
  const row = await reader.first(FIND, { provider, sourceId });
  return row?.beneficiaryId ?? null;
}

/** Stores a migrated beneficiary. Of concurrent requests for one source id, one succeeds. */
export async function migrateBeneficiary(
  tx: Transaction,
  beneficiary: NewBeneficiary,
  origin: MigrationOrigin,
  initiator: Initiator,
) {
  const before = await findMigratedBeneficiary(tx, origin);
  if (before !== null) throw isHereAlready('beneficiary', origin, before);
  const created = await createBeneficiary(tx, beneficiary, initiator);
  const connection = await insertRowOnce(tx, beneficiaryConnections, {
    ...origin,
    id: newId(),
    beneficiaryId: created.beneficiary.id,
    state: 'completed-up-to-date',
    createdAt: await readClock(tx),
  });
  if (connection !== null) return { ...created, connection };
  const winner = await findMigratedBeneficiary(tx, origin);
  if (winner !== null) throw isHereAlready('beneficiary', origin, winner);
  throw new Error(`the connection of beneficiary ${created.beneficiary.id} met another that is not there`);
}
