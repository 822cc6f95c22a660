import type { VerificationResult } from '../../domain/beneficiaries/verifications.ts';
import { recordNotFound, refusal } from '../../domain/frame/errors.ts';
import type { BeneficiaryVerificationId, ClientId } from '../../domain/frame/ids.ts';
import { findClient } from '../clients/clients.ts';
import type { Reader, Transaction } from '../driver/client.ts';
import { sendInsertion } from '../driver/queries/rows.ts';
import { appendAuditEntry, type Initiator } from '../frame/audit-entries.ts';
import { readClock } from '../frame/clock.ts';
import { newId } from '../frame/ids.ts';
import type { Keyring } from '../frame/keyring.ts';
import { beneficiaryVerifications } from './verifications-schema.ts';

type Row = typeof beneficiaryVerifications.$inferSelect;

export type NewBeneficiaryVerification = Omit<Row, 'id' | 'createdAt' | keyof VerificationResult> & {
  readonly result: VerificationResult;
};

/** The client that pays for a verification must exist and be active. */
export async function requireVerifyingClient(reader: Reader, clientId: ClientId): Promise<void> {
  const client = await findClient(reader, clientId);
  if (client === null) throw recordNotFound('beneficiary', 'clientId', clientId);
  if (client.status !== 'active') {
    throw refusal('client.status.not_active', ['beneficiary', 'clientId', clientId], 'The client is not active.');
  }
}

/** The keyring's row name for the encrypted name that a directory returned. */
export function accountHolderNameRow(id: string): string {
  return `beneficiary_verifications.account_holder_name ${id}`;
}

/** Stores a directory's answer. The row is also the billing record. */
export async function createBeneficiaryVerification(
  tx: Transaction,
  keyring: Keyring,
  { result, ...asked }: NewBeneficiaryVerification,
  initiator: Initiator,
): Promise<Row> {
  const createdAt = await readClock(tx);
  const id = newId<BeneficiaryVerificationId>();
  const name = result.accountHolderName;
  const accountHolderName = name === null ? null : keyring.encrypt(name, accountHolderNameRow(id));
  const row = sendInsertion(tx, beneficiaryVerifications, { id, ...asked, ...result, accountHolderName, createdAt });
  const after = { clientId: row.clientId, serviceProvider: row.provider, matched: row.matched };
  appendAuditEntry(tx, { initiator, resource: 'beneficiary-verification', resourceId: id, action: 'created', after });
  return { ...row, accountHolderName: name };
}
