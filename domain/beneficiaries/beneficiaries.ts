import { presentRoutingCodes } from '../accounts/identifiers/routing-codes.ts';
import type { Address } from '../common/parties/addresses.ts';
import type { Identification } from '../common/parties/identifications.ts';

/** People or companies to whom a client sends money (specification 2.4). */
export type BeneficiaryIdentity =
  | {
      readonly type: 'individual';
      readonly givenName: string;
      readonly familyName: string;
      readonly birthDate: string | null;
      readonly country: string | null;
      readonly identifications: readonly Identification[];
    }
  | { readonly type: 'corporate'; readonly legalName: string; readonly identifications: readonly Identification[] };

export interface BeneficiaryContact {
  readonly phone: string | null;
  readonly email: string | null;
  readonly address: Address | null;
}

/** `identity` is null if only the full name is known. */
export interface Beneficiary {
  readonly id: string;
  readonly clientId: string;
  readonly identity: BeneficiaryIdentity | null;
  readonly fullName: string;
  readonly title: string | null;
  readonly contact: BeneficiaryContact | null;
}

/** Event types of beneficiaries, beyond the specification. */
export const BENEFICIARY_EVENT_TYPES = [
  'beneficiary-created',
  'beneficiary-updated',
  'beneficiary-bank-account-created',
  'beneficiary-bank-account-updated',
] as const;
export type BeneficiaryEventType = (typeof BENEFICIARY_EVENT_TYPES)[number];

export const BANK_ACCOUNT_STATUSES = ['active', 'inactive'] as const;

export interface BeneficiaryBankAccount {
  readonly id: string;
  readonly beneficiaryId: string;
  readonly accountHolderName: string;
  readonly accountHolderType: 'individual' | 'corporate' | null;
  readonly bankName: string | null;
  readonly alias: string | null;
  readonly country: string;
  readonly currency: string;
  readonly accountNumber: string | null;
  readonly iban: string | null;
  readonly routingCodes: Readonly<Record<string, string>>;
  readonly status: (typeof BANK_ACCOUNT_STATUSES)[number];
}

export function presentBeneficiary({ id, clientId, identity, fullName, title, contact }: Beneficiary) {
  return { id, clientId, identity, fullName, title, contact, address: contact?.address ?? null };
}

export function presentBeneficiaryBankAccount(account: BeneficiaryBankAccount) {
  return {
    id: account.id,
    beneficiaryId: account.beneficiaryId,
    accountHolderName: account.accountHolderName,
    accountHolderType: account.accountHolderType,
    bankName: account.bankName,
    alias: account.alias,
    country: account.country,
    currency: account.currency,
    accountNumber: account.accountNumber,
    iban: account.iban,
    routingCodes: presentRoutingCodes(account.routingCodes),
    status: account.status,
  };
}
