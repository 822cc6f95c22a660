import { depositSchemes, type ProviderBank, type ProviderOffer } from '../providers/providers.ts';
import { INTERNAL_SCHEME, type Schemes } from '../providers/schemes.ts';
import type { Account } from './accounts.ts';
import { presentRoutingCodes } from './identifiers/routing-codes.ts';

const SWIFT = 'swift';

/** How to pay into an account by one scheme (specification 2.5). */
export interface DepositDetails extends DepositAccount {
  /** The account of the provider's bank at its correspondent: of the same shape, with no further intermediary. */
  readonly intermediaryAccount: IntermediaryAccount | null;
}

interface IntermediaryAccount extends DepositAccount {
  readonly intermediaryAccount: null;
}

interface DepositAccount {
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
}

export type DepositInformation = Readonly<Record<string, DepositDetails>>;

/**
 * One entry per scheme that the provider offers for the currency, plus `internal`. Payments to a sub-account use the details of its main
 * account's details, those of a pooled offer its pooled account's, with the account's ledger number as the reference.
 */
export function depositInformation(
  account: Account,
  mainAccount: Account | null,
  offer: ProviderOffer | null,
  schemes: Schemes,
): DepositInformation {
  const codes = offer === null ? [INTERNAL_SCHEME] : depositSchemes(offer, account.currency, schemes);
  const bank = offer?.bank ?? null;
  const funded = mainAccount ?? account;
  const isShared = mainAccount !== null || bank?.pooledAccount != null;
  const reference = isShared ? account.ledgerNumber : null;
  return Object.fromEntries(
    codes.map((scheme) => [
      scheme,
      scheme === INTERNAL_SCHEME ? internalDetails(account) : { ...externalDetails(funded, scheme, bank), reference },
    ]),
  );
}

function internalDetails(account: Account): DepositDetails {
  return { ...blank(account), ledgerNumber: account.ledgerNumber };
}

/** SWIFT uses the BIC; local schemes use a local routing code, or any code if the account has no local one. */
function externalDetails(account: Account, scheme: string, bank: ProviderBank | null): DepositDetails {
  const pooled = bank?.pooledAccount ?? null;
  const all = { ...bank?.routingCodes, ...(pooled === null ? account.routingCodes : {}) };
  const { bic, ...local } = all;
  const swift: Record<string, string> = bic === undefined ? {} : { bic };
  const fitting = scheme === SWIFT || Object.keys(local).length === 0 ? swift : local;
  return {
    ...blank(account),
    ...(bank === null || pooled === null
      ? { accountNumber: account.accountNumber, iban: account.iban }
      : { ...pooled, country: bank.country }),
    routingCodes: presentRoutingCodes(fitting),
    bankName: bank?.name ?? null,
    bankAddress: bank?.address ?? null,
    intermediaryAccount: scheme === SWIFT && bank !== null ? intermediaryAccount(bank, account.currency) : null,
  };
}

function intermediaryAccount({ name, intermediary }: ProviderBank, currency: string): IntermediaryAccount | null {
  if (intermediary === null) return null;
  const { accountNumber, iban, country, routingCodes } = intermediary;
  return {
    accountHolderName: name,
    country,
    currency,
    routingCodes: presentRoutingCodes(routingCodes),
    accountNumber,
    iban,
    ledgerNumber: null,
    reference: null,
    bankName: intermediary.name,
    bankAddress: intermediary.address,
    intermediaryAccount: null,
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
