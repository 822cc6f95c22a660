import type { IncomingTransferId, OutgoingTransferId, ProvisionedAccountCreditId } from '../../domain/common/ids.ts';
import { leastIdAbout } from '../common/ids.ts';
import type { Reader } from '../query/database.ts';

/** A checked transfer, and what caused it. */
export interface CheckedPayment {
  readonly id: IncomingTransferId | OutgoingTransferId;
  /** The outgoing transfer itself, or the sender's side of an internal one. */
  readonly outgoingTransferId: OutgoingTransferId | null;
  readonly provisionedAccountCreditId: ProvisionedAccountCreditId | null;
}

// A transfer has some dozens of audit entries. Its creation has none: the row names its maker.
const INVOLVED = `
  SELECT actor FROM audit_entries WHERE resource_id IN ($1, $2) AND id >= $4::uuid AND action IN ('authorized', 'assigned')
  UNION SELECT actor FROM audit_entries WHERE resource_id = $3 AND id >= $4::uuid AND action = 'created'
  UNION SELECT created_by::text FROM outgoing_transfers WHERE id = $2::uuid AND created_by IS NOT NULL
  UNION SELECT approved_by FROM open_banking_consents WHERE outgoing_transfer_id = $2::uuid AND approved_by IS NOT NULL`;

/**
 * Everybody who made, authorized or assigned a payment (domain/outgoing-transfers/requests/makers.ts): its creator, the approver of its
 * consent, the reporter of a credit. Read after the transfer's lock, so that no one authorizes it meanwhile.
 */
export async function readInvolved(
  reader: Reader,
  { id, outgoingTransferId, provisionedAccountCreditId }: CheckedPayment,
): Promise<readonly string[]> {
  const rows = await reader.statement<{ actor: string }>(INVOLVED, [
    id,
    outgoingTransferId,
    provisionedAccountCreditId,
    leastIdAbout(id, ...[outgoingTransferId, provisionedAccountCreditId].filter((one) => one !== null)),
  ]);
  return rows.map(({ actor }) => actor);
}
