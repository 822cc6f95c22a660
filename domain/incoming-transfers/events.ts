import { presentOnly } from '../frame/events.ts';
import type { IncomingTransfer, IncomingTransferRecord } from './incoming-transfers.ts';

/** What no change may touch, and no event repeats: an event shows it as the row has it. */
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
] as const satisfies readonly (keyof IncomingTransfer)[];

export type UnchangingIncomingField = (typeof UNCHANGING_INCOMING_FIELDS)[number];
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
