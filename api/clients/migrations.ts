import { alreadyMigrated, findMigratedClient, type MigrationOrigin } from '../../db/clients/migrations.ts';
import type { RenderedAnswer } from '../http/route.ts';
import { type LookUp, lookUp, migrationSource, validateFound } from '../providers/migrations.ts';
import { type ClientSent, clientSent } from './schemas.ts';

export interface ClientToMigrate {
  readonly client: ClientSent;
  readonly origin: MigrationOrigin;
}

/**
 * `workflow.code` `migration` (specification 4.1): imports the client from its provider, validated like a direct
 * creation, or replays the stored answer. Calls the provider, so it runs before the transaction.
 */
export async function findClientToMigrate(
  asked: Omit<LookUp, 'entity'>,
  storedAnswer: () => Promise<RenderedAnswer | null>,
): Promise<ClientToMigrate | RenderedAnswer> {
  const { services, provider, sourceId } = asked;
  const here = await findMigratedClient(services.database.reader, asked);
  // Read after the idempotency key: the second of two requests with one key gets the first one's answer, not a conflict.
  const earlier = await storedAnswer();
  if (earlier !== null) return earlier;
  const source = migrationSource(services, provider);
  if (here !== null) throw alreadyMigrated('client', asked, here);
  const of: LookUp = { ...asked, entity: 'client' };
  const found = await lookUp(of, (call) => source.lookUpClient(sourceId, call));
  return {
    client: validateFound(of, clientSent, found.client),
    origin: { provider, sourceId, reference: found.reference },
  };
}
