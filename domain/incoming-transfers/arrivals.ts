import { refusal } from '../frame/errors.ts';
import type { AccountId, ClientId, ProvisionedAccountCreditId } from '../frame/ids.ts';
import type { Address } from '../frame/parties/addresses.ts';
import type { AccountGuard } from '../ledger/changes.ts';
import type { LockedAccount } from '../ledger/ledger.ts';
import { type IncomingChange, type IncomingTransferName, receiveMoney } from './changes.ts';
import type { HoldReason, PartyAccount } from './incoming-transfers.ts';
import type { ProvisionedAccountCredit } from './provisioned-account-credits.ts';

/** Money reported by a plug-in caller (specification 2.6). Amounts in minor units. */
export interface ReportedCredit {
  readonly clientId: ClientId | null;
  readonly accountId: AccountId;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly scope: 'internal' | 'external';
  readonly scheme: string | null;
  readonly senderBankAccount: PartyAccount | null;
  readonly senderName: string | null;
  readonly senderAddress: Address | null;
  readonly senderToReceiverInformation: string | null;
  readonly serviceProviderId: string | null;
}

const ENTITY = 'provisionedAccountCredit';

/** Refuses a report that does not fit its account. */
export function checkReported(reported: ReportedCredit, account: LockedAccount): void {
  if (reported.clientId !== null && reported.clientId !== account.clientId) {
    const message = 'The account belongs to another client.';
    throw refusal('account.client.mismatch', [ENTITY, 'clientId', reported.clientId], message);
  }
  if (account.method !== 'plug-in') {
    const message = 'Money on a built-in account is reported by its provider.';
    throw refusal('account.method.mismatch', [ENTITY, 'accountId', account.id], message);
  }
  if (account.currency !== reported.currency) {
    const message = `The account holds ${account.currency}.`;
    throw refusal('account.currency.mismatch', [ENTITY, 'currency', reported.currency], message);
  }
}

/** Money that has arrived, before its credit has an id. Amounts in minor units. */
export interface ArrivedMoney extends Omit<ReportedCredit, 'accountId' | 'clientId'> {
  readonly provider: string;
  readonly receiverAccount: PartyAccount | null;
  readonly serviceProviderReference: string | null;
}

export function moneyOfReport(
  reported: ReportedCredit,
  { provider }: LockedAccount,
  receiverAccount: PartyAccount | null,
): ArrivedMoney {
  const { clientId: _, accountId: __, ...own } = reported;
  return { ...own, provider, receiverAccount, serviceProviderReference: null };
}

/** The payer's description of the receiver. Any part may be missing or wrong. */
export interface NamedReceiver {
  readonly provider: string;
  readonly currency: string;
  readonly receiver: {
    readonly iban: string | null;
    readonly accountNumber: string | null;
    readonly routingCodes: Readonly<Record<string, string>>;
  };
  readonly remittanceText: string | null;
}

/** A payment reported by a built-in provider. The receiver's details may be missing or unknown. */
export interface ReceivedPayment extends NamedReceiver {
  readonly amountMinor: bigint;
  readonly scheme: string;
  readonly senderName: string | null;
  readonly senderAccount: PartyAccount | null;
  readonly serviceProviderId: string;
  readonly serviceProviderReference: string | null;
  /** The provider has received the money and is still holding it. */
  readonly held: boolean;
}

/** Without an account of ours, the receiver is what the payer named. */
export function moneyOfPayment(payment: ReceivedPayment, receiverAccount: PartyAccount | null): ArrivedMoney {
  const { provider, currency, amountMinor, scheme, senderName, serviceProviderId, serviceProviderReference } = payment;
  const { iban, accountNumber, routingCodes } = payment.receiver;
  const unknown = { accountHolderName: null, alias: null, ledgerNumber: null, country: null };
  return {
    provider,
    currency,
    amountMinor,
    scope: 'external',
    scheme,
    senderName,
    senderBankAccount: payment.senderAccount,
    senderAddress: null,
    senderToReceiverInformation: payment.remittanceText,
    serviceProviderId,
    serviceProviderReference,
    receiverAccount: receiverAccount ?? { ...unknown, iban, accountNumber, routingCodes, currency },
  };
}

/** The account of money that has arrived. `hold`: why it is held whatever the account allows. */
export interface MatchedReceiver {
  readonly account: LockedAccount | null;
  readonly hold: HoldReason | null;
}

/** What the configuration says of the money. The fee is in minor units of its currency. */
export interface ArrivalTerms {
  readonly isReviewed: boolean;
  readonly feeMinor: bigint;
}

/** Drawn by the caller. */
export interface ArrivalNames {
  readonly creditId: ProvisionedAccountCreditId;
  readonly incoming: IncomingTransferName;
}

export type ArrivalChange = IncomingChange & {
  readonly credit: ProvisionedAccountCredit;
  readonly guards: readonly AccountGuard[];
};

/** Decides what money that has arrived becomes: its credit, and a transfer with its postings. */
export function recordArrival(
  { creditId, incoming }: ArrivalNames,
  money: ArrivedMoney,
  { account, hold }: MatchedReceiver,
  terms: ArrivalTerms,
  now: Date,
): ArrivalChange {
  const { serviceProviderReference, ...own } = money;
  const owner = { clientId: account?.clientId ?? null, accountId: account?.id ?? null };
  const credit = { ...own, ...owner, id: creditId, createdAt: now };
  const arrival = {
    provider: credit.provider,
    method: account?.method ?? ('built-in' as const),
    account,
    hold,
    ...terms,
    amountMinor: credit.amountMinor,
    currency: credit.currency,
    scope: credit.scope,
    scheme: credit.scheme,
    provisionedAccountCreditId: credit.id,
    serviceProviderId: credit.serviceProviderId,
    serviceProviderReference,
    senderInformation: credit.senderToReceiverInformation,
    senderName: credit.senderName,
    senderAccount: credit.senderBankAccount,
    receiverAccount: credit.receiverAccount,
  };
  return { ...receiveMoney(incoming, arrival, now), credit, guards: account === null ? [] : [guardOf(account)] };
}

/** Whatever its balance, the account must still be what the decision was made from. */
function guardOf({ id, status, clientStatus, closing }: LockedAccount): AccountGuard {
  return { accountId: id, status, clientStatus, closing, availableMinor: 'any' };
}
