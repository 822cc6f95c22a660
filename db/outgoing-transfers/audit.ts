import { type AuditedFields, appendAuditEntry, type Initiator } from '../frame/audit-entries.ts';
import type { OutgoingTransferRow, Work } from './work.ts';

/** Records who asked for a change of a transfer, before it is saved. */
export function audit({ tx, before, transfer }: Work, action: string, initiator: Initiator): void {
  const entry = { resource: 'outgoing-transfer', resourceId: transfer.id, action, initiator } as const;
  appendAuditEntry(tx, { ...entry, before: auditedFields(before), after: auditedFields(transfer) });
}

function auditedFields(transfer: OutgoingTransferRow): AuditedFields {
  const { status, failureCode: statusReasonCode, authorizationStatus, returned, incomingTransferId } = transfer;
  const { serviceProviderId, serviceProviderReference } = transfer;
  const provider = { serviceProviderId, serviceProviderReference };
  return { status, statusReasonCode, authorizationStatus, returned, incomingTransferId, ...provider };
}
