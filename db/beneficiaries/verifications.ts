import { auditOfPayment, type NamedVerification } from '../../domain/beneficiaries/payments-after-verification.ts';
import type { VerificationResult } from '../../domain/beneficiaries/verifications.ts';
import { recordNotFound, rejection } from '../../domain/common/errors.ts';
import type { BeneficiaryVerificationId, ClientId } from '../../domain/common/ids.ts';
import { findClient } from '../clients/clients.ts';
import { appendAuditEntry, type Initiator } from '../common/audit-entries.ts';
import { readClock } from '../common/clock.ts';
import { newId } from '../common/ids.ts';
import type { Keyring } from '../common/keyring.ts';
import type { Reader, Transaction } from '../query/database.ts';
import { sendInsertion } from '../query/rows.ts';
import { LISTED_IDS } from '../query/values.ts';
import { beneficiaryVerifications } from './schema.ts';

type Row = typeof beneficiaryVerifications.$inferSelect;

export type NewBeneficiaryVerification = Omit<Row, 'id' | 'createdAt' | keyof VerificationResult> & {
  readonly result: VerificationResult;
};

/** The client that pays for a verification must exist and be active. */
export async function requireVerifyingClient(reader: Reader, clientId: ClientId): Promise<void> {
  const client = await findClient(reader, clientId);
  if (client === null) throw recordNotFound('beneficiary', 'clientId', clientId);
  if (client.status !== 'active') {
    throw rejection('client.status.not_active', ['beneficiary', 'clientId', clientId], 'The client is not active.');
  }
}

/** The name of the row by which the keyring encrypts the name that a directory returned. */
export function accountHolderNameRow(id: string): string {
  return `beneficiary_verifications.account_holder_name ${id}`;
}

const NAMED = `SELECT id, client_id AS "clientId", directory, bank_account AS "bankAccount", matched, reason, scheme_reason_code AS "schemeReasonCode"
  FROM beneficiary_verifications WHERE id = ANY (${LISTED_IDS})`;

/** The verifications that payments name, by id. */
export async function readNamedVerifications(
  reader: Reader,
  ids: readonly BeneficiaryVerificationId[],
): Promise<ReadonlyMap<string, NamedVerification>> {
  if (ids.length === 0) return new Map();
  const rows = await reader.statement<NamedVerification>(NAMED, [ids]);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Records, with the payment, that it was made after this verification. */
export function auditPayment(
  tx: Transaction,
  initiator: Initiator,
  outgoingTransferId: string,
  verification: NamedVerification,
): void {
  const entry = auditOfPayment(verification);
  appendAuditEntry(tx, { initiator, resource: 'outgoing-transfer', resourceId: outgoingTransferId, ...entry });
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
