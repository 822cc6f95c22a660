import { amountNumber } from '../common/money.ts';
import { paymentReferenceOf } from '../common/payment-references.ts';
import { statusReason } from '../common/texts/status-reasons.ts';
import {
  type HoldReason,
  type IncomingTransferRecord,
  type PartyAccount,
  presentPartyAccount,
} from './incoming-transfers.ts';

/** The hold reasons as callers see them. */
const HOLD_REASON_CODES: Readonly<Record<HoldReason, string>> = {
  'account-not-active': 'account.status.not_active',
  'client-not-active': 'account.status.not_active',
  'no-match': 'incoming.match.none',
  'ambiguous-match': 'incoming.match.ambiguous',
  'held-by-provider': 'provider.held',
};

export function holdReasonCode(reason: HoldReason): string {
  return HOLD_REASON_CODES[reason];
}

function reasonCodeOf({ failureCode, holdReason }: IncomingTransferRecord): string | null {
  return failureCode ?? (holdReason === null ? null : holdReasonCode(holdReason));
}

/** A transfer as answers and events show it (specification 2.7). */
export function presentIncomingTransfer(
  transfer: IncomingTransferRecord,
  senderAccount: PartyAccount | null,
  receiverAccount: PartyAccount | null,
) {
  const { currency, amountMinor, feeMinor } = transfer;
  return {
    id: transfer.id,
    clientId: transfer.clientId,
    accountId: transfer.accountId,
    transactionNumber: transfer.transactionNumber,
    paymentReference: paymentReferenceOf(transfer.id),
    status: transfer.status,
    statusReason: statusReason(reasonCodeOf(transfer), null),
    currency,
    amount: amountNumber(amountMinor, currency),
    feeAmount: amountNumber(feeMinor, currency),
    feeCurrency: currency,
    totalAmount: amountNumber(amountMinor - feeMinor, currency),
    scope: transfer.scope,
    scheme: transfer.scheme,
    outgoingTransferId: transfer.outgoingTransferId,
    returnedOutgoingTransferId: transfer.returnOf,
    provisionedAccountCreditId: transfer.provisionedAccountCreditId,
    serviceProvider: transfer.provider,
    serviceProviderId: transfer.serviceProviderId,
    serviceProviderReference: transfer.serviceProviderReference,
    senderInformation: transfer.senderInformation,
    senderName: transfer.senderName ?? senderAccount?.accountHolderName ?? null,
    transferDate: transfer.transferDate,
    senderAccount: senderAccount === null ? null : presentPartyAccount(senderAccount),
    receiverAccount: receiverAccount === null ? null : presentPartyAccount(receiverAccount),
  };
}
