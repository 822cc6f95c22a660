import type { IncomingTransferRecord } from '../../domain/incoming-transfers/incoming-transfers.ts';
import type { OutgoingTransferRecord } from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import { presentOnly } from '../frame/events.ts';
import type { outgoingTransfers } from '../frame/schema.ts';

/**
 * An event shows what held when it was appended: it repeats every field that a transfer shows and that may change, and what
 * it does not repeat is read from the row. A field that is shown and stands in neither list does not compile.
 */
type OutgoingTransferRow = typeof outgoingTransfers.$inferSelect;

/** What never changes of a transfer: no transition writes it, and no event repeats it. */
export const UNCHANGING_OUTGOING_FIELDS = [
  'id',
  'transactionNumber',
  'clientId',
  'accountId',
  'scope',
  'scheme',
  'currency',
  'amountMinor',
  'feeMinor',
  'originalTransferDate',
  'description',
  'transferReasonId',
  'transferCustomReason',
  'schemeAttributes',
  'destinationAccountId',
  'destinationPartyAccountId',
  'beneficiaryId',
  'beneficiaryBankAccountId',
  'beneficiary',
  'method',
  'provider',
  'createdBy',
  'createdAt',
] as const satisfies readonly (keyof OutgoingTransferRow)[];

/** All that a transfer shows and that may change: each event repeats it, as it was. */
export type ChangingOutgoingField = Exclude<keyof OutgoingTransferRecord, (typeof UNCHANGING_OUTGOING_FIELDS)[number]>;

/** What an event shows of a transfer's changing fields. */
export function outgoingTransferEventData(transfer: OutgoingTransferRow): Readonly<Record<string, unknown>> {
  const later = {
    serviceProviderId: transfer.serviceProviderId,
    serviceProviderReference: transfer.serviceProviderReference,
    failureCode: transfer.failureCode,
    failureMessage: transfer.failureMessage,
  };
  const shown = {
    status: transfer.status,
    transferDate: transfer.transferDate,
    rollCount: transfer.rollCount,
    cutOffAt: transfer.cutOffAt?.toISOString() ?? null,
    returned: transfer.returned,
    incomingTransferId: transfer.incomingTransferId,
    authorizationStatus: transfer.authorizationStatus,
    complianceCheckStatus: transfer.complianceCheckStatus,
    transferDateStatus: transfer.transferDateStatus,
    balanceCheckStatus: transfer.balanceCheckStatus,
  } satisfies Record<Exclude<ChangingOutgoingField, keyof typeof later>, unknown>;
  return { ...shown, ...presentOnly(later) };
}

/** What no change may touch, and no event repeats: an event shows it as the row has it. */
export type UnchangingIncomingField =
  | 'id'
  | 'transactionNumber'
  | 'currency'
  | 'amountMinor'
  | 'scope'
  | 'scheme'
  | 'outgoingTransferId'
  | 'provisionedAccountCreditId'
  | 'provider'
  | 'serviceProviderId'
  | 'serviceProviderReference'
  | 'senderInformation'
  | 'senderName'
  | 'senderAccount'
  | 'senderAccountId'
  | 'senderPartyAccountId'
  | 'receiverAccount';
/** All that a transfer shows and that may change: each event repeats it, as it was. */
export type ChangingIncomingField = Exclude<keyof IncomingTransferRecord, UnchangingIncomingField>;

/** What an event shows of a transfer's changing fields. */
export function incomingTransferEventData(
  transfer: Pick<IncomingTransferRecord, ChangingIncomingField>,
): Readonly<Record<string, unknown>> {
  const { status, transferDate, accountId, clientId, feeMinor, holdReason, failureCode } = transfer;
  const later = { holdReason, failureCode };
  const shown = { status, transferDate, accountId, clientId, feeMinor } satisfies Record<
    Exclude<ChangingIncomingField, keyof typeof later>,
    unknown
  >;
  return { ...shown, ...presentOnly(later) };
}
