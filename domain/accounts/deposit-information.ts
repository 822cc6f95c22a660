import { depositSchemes, type ProviderBank, type ProviderOffer } from '../providers/providers.ts';
import { INTERNAL_SCHEME, type Schemes } from '../providers/schemes.ts';
import type { Account } from './accounts.ts';

/** How to pay into an account by one scheme (specification 2.5). */
export interface DepositDetails {
  readonly accountHolderName: string;
  readonly country: string;
  readonly currency: string;
  readonly routingCodes: Readonly<Record<string, string>> | null;
  readonly accountNumber: string | null;
  readonly iban: string | null;
  readonly ledgerNumber: string | null;
  readonly reference: string | null;
  readonly bankName: string | null;
  readonly bankAddress: string | null;
  readonly intermediaryAccount: null;
}

export type DepositInformation = Readonly<Record<string, DepositDetails>>;

/**
 * One entry per scheme that the provider offers for the currency, plus `internal`. Payments to a sub-account use its main
 * account's details with the sub-account's ledger number as the reference.
 */
export function depositInformation(
  account: Account,
  mainAccount: Account | null,
  offer: ProviderOffer | null,
  schemes: Schemes,
): DepositInformation {
  const codes = offer === null ? [INTERNAL_SCHEME] : depositSchemes(offer, account.currency, schemes);
  const funded = mainAccount ?? account;
  const reference = mainAccount === null ? null : account.ledgerNumber;
  return Object.fromEntries(
    codes.map((scheme) => [
      scheme,
      scheme === INTERNAL_SCHEME
        ? internalDetails(account)
        : { ...externalDetails(funded, scheme, offer?.bank ?? null), reference },
    ]),
  );
}

function internalDetails(account: Account): DepositDetails {
  return { ...blank(account), ledgerNumber: account.ledgerNumber };
}

/** SWIFT uses the BIC; local schemes use a local routing code, or any code if the account has no local one. */
function externalDetails(account: Account, scheme: string, bank: ProviderBank | null): DepositDetails {
  const all = { ...bank?.routingCodes, ...account.routingCodes };
  const { bic, ...local } = all;
  const swift: Record<string, string> = bic === undefined ? {} : { bic };
  const fitting = scheme === 'swift' || Object.keys(local).length === 0 ? swift : local;
  return {
    ...blank(account),
    routingCodes: Object.keys(fitting).length === 0 ? null : fitting,
    accountNumber: account.accountNumber,
    iban: account.iban,
    bankName: bank?.name ?? null,
    bankAddress: bank?.address ?? null,
  };
}

function blank(account: Account): DepositDetails {
  return {
    accountHolderName: account.accountHolderName,
    country: account.country,
    currency: account.currency,
    routingCodes: null,
    accountNumber: null,
    iban: null,
    ledgerNumber: null,
    reference: null,
    bankName: null,
    bankAddress: null,
    intermediaryAccount: null,
  };
}
