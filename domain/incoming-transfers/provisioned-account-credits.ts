import type { AccountId, ClientId, ProvisionedAccountCreditId } from '../common/ids.ts';
import { amountNumber } from '../common/money.ts';
import type { Address } from '../common/parties/addresses.ts';
import { type PartyAccount, presentPartyAccount } from './incoming-transfers.ts';

/** A credit as stored. */
export interface ProvisionedAccountCredit extends ProvisionedAccountCreditRecord {
  readonly id: ProvisionedAccountCreditId;
  readonly clientId: ClientId | null;
  readonly accountId: AccountId | null;
  readonly createdAt: Date;
}

/** Money announced for an account by its provider or a plug-in caller. Amounts in minor units of `currency`. */
export interface ProvisionedAccountCreditRecord {
  readonly id: string;
  readonly clientId: string | null;
  readonly accountId: string | null;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly scope: 'internal' | 'external';
  readonly scheme: string | null;
  readonly senderBankAccount: PartyAccount | null;
  readonly senderName: string | null;
  readonly senderAddress: Address | null;
  readonly senderToReceiverInformation: string | null;
  readonly serviceProviderId: string | null;
  readonly provider: string;
  readonly receiverAccount: PartyAccount | null;
}

/** A credit as answers show it (specification 2.6). */
export function presentProvisionedAccountCredit(credit: ProvisionedAccountCreditRecord) {
  return {
    id: credit.id,
    clientId: credit.clientId,
    accountId: credit.accountId,
    amount: amountNumber(credit.amountMinor, credit.currency),
    currency: credit.currency,
    scope: credit.scope,
    scheme: credit.scheme,
    senderBankAccount: credit.senderBankAccount === null ? null : presentPartyAccount(credit.senderBankAccount),
    senderName: credit.senderName,
    senderAddress: credit.senderAddress,
    senderToReceiverInformation: credit.senderToReceiverInformation,
    serviceProviderId: credit.serviceProviderId,
    serviceProvider: credit.provider,
    receiverAccount: credit.receiverAccount === null ? null : presentPartyAccount(credit.receiverAccount),
  };
}
