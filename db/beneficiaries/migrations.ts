import { and, eq } from 'drizzle-orm';
import type { BeneficiaryId } from '../../domain/common/ids.ts';
import { alreadyMigrated, type MigrationOrigin, type MigrationSourceId } from '../clients/migrations.ts';
import { beneficiaryConnections } from '../clients/schema.ts';
import type { Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { newId } from '../common/ids.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { type Given, prepared } from '../query/queries.ts';
import { insertRowOnce } from '../query/rows.ts';
import { createBeneficiary, type NewBeneficiary } from './beneficiaries.ts';

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
  if (before !== null) throw alreadyMigrated('beneficiary', origin, before);
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
  if (winner !== null) throw alreadyMigrated('beneficiary', origin, winner);
  throw new Error(`the connection of beneficiary ${created.beneficiary.id} met another that is not there`);
}
