import type { OutgoingTransferId } from '../../domain/common/ids.ts';
import type { BeneficiaryShown } from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import type { Reader } from '../query/database.ts';

/** A transfer that waits for a second signature. */
export interface PendingAuthorization {
  readonly id: OutgoingTransferId;
  readonly transactionNumber: string;
  readonly currency: string;
  readonly amountMinor: bigint;
  readonly scope: 'internal' | 'external';
  readonly scheme: string | null;
  readonly transferDate: string;
  readonly accountId: string;
  readonly destinationAccountId: string | null;
  readonly beneficiary: BeneficiaryShown | null;
  readonly destinationHolder: string | null;
  readonly createdBy: string | null;
  readonly createdAt: Date;
  readonly waitingUntil: Date | null;
  /** Who decided its review, and that of the receiver's side. */
  readonly reviewedBy: readonly string[];
  /** Who approved the consent that it is under. */
  readonly consentedBy: readonly string[];
}

// The index of waits finds them in the order of their creation.
const PENDING = `
  SELECT transfer.id, transfer.transaction_number AS "transactionNumber", transfer.currency, transfer.amount_minor AS "amountMinor",
    transfer.scope, transfer.scheme, transfer.transfer_date AS "transferDate", transfer.account_id AS "accountId",
    transfer.destination_account_id AS "destinationAccountId", transfer.beneficiary,
    destination.account_holder_name AS "destinationHolder", transfer.created_by AS "createdBy", transfer.created_at AS "createdAt",
    array_remove(ARRAY[transfer.compliance_decided_by, incoming.compliance_decided_by], NULL) AS "reviewedBy", transfer.waiting_until AS "waitingUntil",
    ARRAY(SELECT approved_by::text FROM open_banking_consents consent
      WHERE consent.outgoing_transfer_id = transfer.id AND approved_by IS NOT NULL) AS "consentedBy"
  FROM outgoing_transfers transfer LEFT JOIN accounts destination ON destination.id = transfer.destination_account_id
    LEFT JOIN incoming_transfers incoming ON incoming.id = transfer.incoming_transfer_id
  WHERE transfer.waiting_for = 'authorization' AND transfer.status = 'pending' AND ($1::uuid IS NULL OR transfer.id > $1::uuid)
  ORDER BY transfer.id LIMIT $2`;

/** Transfers after an id that wait for a second signature, the oldest first. */
export function listPendingAuthorizations(
  reader: Reader,
  { after, size }: { readonly after: string | null; readonly size: number },
): Promise<PendingAuthorization[]> {
  return reader.statement<PendingAuthorization>(PENDING, [after, size]);
}
