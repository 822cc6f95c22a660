import { presentOnly } from '../common/events.ts';
import type { IncomingTransfer, IncomingTransferRecord } from './incoming-transfers.ts';

/** Fields that never change. Events do not repeat them; the row has them. */
export const UNCHANGING_INCOMING_FIELDS = [
  'id',
  'transactionNumber',
  'currency',
  'amountMinor',
  'scope',
  'scheme',
  'outgoingTransferId',
  'provisionedAccountCreditId',
  'provider',
  'serviceProviderId',
  'serviceProviderReference',
  'senderInformation',
  'senderName',
  'senderAccount',
  'senderAccountId',
  'senderPartyAccountId',
  'receiverAccount',
  'returnOf',
  'returnReference',
] as const satisfies readonly (keyof IncomingTransfer)[];

export type UnchangingIncomingField = (typeof UNCHANGING_INCOMING_FIELDS)[number];
/** The shown fields that may change. Each event repeats them as they were. */
export type ChangingIncomingField = Exclude<keyof IncomingTransferRecord, UnchangingIncomingField>;

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
