import { findMigratedBeneficiary } from '../../db/beneficiaries/migrations.ts';
import { alreadyMigrated, type MigrationOrigin, requireClientAtProvider } from '../../db/clients/migrations.ts';
import { DomainError, rejection } from '../../domain/common/errors.ts';
import type { ClientId } from '../../domain/common/ids.ts';
import type { RenderedAnswer } from '../http/route.ts';
import { type LookUp, lookUp, migrationSource, rejectProblems, validateFound } from '../providers/migrations.ts';
import { type BeneficiarySent, beneficiarySent } from './schemas.ts';
import { type BankAccountAtPath, modulusMetadata } from './uk-modulus-check.ts';

export interface BeneficiaryToMigrate {
  readonly beneficiary: BeneficiarySent;
  readonly origin: MigrationOrigin;
}

/**
 * `workflow.code` `migration` (specification 4.3): imports the beneficiary from its client's provider, validated like
 * a direct creation, or replays the stored answer. It must belong to the same client at the provider.
 */
export async function findBeneficiaryToMigrate(
  asked: Omit<LookUp, 'entity'>,
  clientId: ClientId,
  storedAnswer: () => Promise<RenderedAnswer | null>,
): Promise<BeneficiaryToMigrate | RenderedAnswer> {
  const { services, provider, sourceId } = asked;
  const { reader } = services.database;
  const here = await findMigratedBeneficiary(reader, asked);
  // Read after the idempotency key: the second of two requests with one key gets the first one's answer, not a conflict.
  const earlier = await storedAnswer();
  if (earlier !== null) return earlier;
  const source = migrationSource(services, provider);
  const client = await requireClientAtProvider(reader, 'beneficiary', { clientId, provider });
  if (here !== null) throw alreadyMigrated('beneficiary', asked, here);
  const of: LookUp = { ...asked, entity: 'beneficiary' };
  const found = await lookUp(of, (call) => source.lookUpBeneficiary(sourceId, call));
  if (found.clientReference !== client.reference) {
    const message = `At ${provider} this beneficiary belongs to another client.`;
    throw rejection('connect.client.mismatch', ['beneficiary', 'clientId', clientId], message);
  }
  return {
    beneficiary: validateFound(of, beneficiarySent, { ...found.beneficiary, clientId }),
    origin: { provider, sourceId, reference: found.reference },
  };
}

/** As `modulusMetadata`, but a rejected number is the provider's, not the caller's. */
export function modulusMetadataOfMigration(asked: Omit<LookUp, 'entity'>, accounts: readonly BankAccountAtPath[]) {
  try {
    return modulusMetadata(asked.services, accounts);
  } catch (error) {
    if (error instanceof DomainError)
      rejectProblems({ provider: asked.provider, entity: 'beneficiary' }, error.problems);
    throw error;
  }
}
