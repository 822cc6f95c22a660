import { recordNotFound, rejection } from '../common/errors.ts';
import type { BeneficiaryVerificationId, ClientId } from '../common/ids.ts';
import type { DirectoryCode, VerificationBankAccount, VerificationReason } from './verifications.ts';

/** A verification that a payment names: the payer saw its result and pays all the same. */
export interface NamedVerification {
  readonly id: BeneficiaryVerificationId;
  readonly clientId: ClientId;
  readonly directory: DirectoryCode;
  readonly bankAccount: VerificationBankAccount;
  readonly matched: boolean;
  readonly reason: VerificationReason | null;
  readonly schemeReasonCode: string | null;
}

interface PaidAccount {
  readonly accountNumber: string | null;
  readonly iban: string | null;
  readonly routingCodes: Readonly<Record<string, string>> | null;
}

/** Rejects a verification that says nothing about the payment: of another client, or of another account than is paid. */
export function requireSameAccount(
  id: BeneficiaryVerificationId,
  verification: NamedVerification | null,
  payment: { readonly clientId: ClientId; readonly bankAccount: PaidAccount | null },
): NamedVerification {
  const field = ['outgoingTransfer', 'beneficiaryVerificationId', id] as const;
  if (verification === null || verification.clientId !== payment.clientId) throw recordNotFound(...field);
  if (payment.bankAccount !== null && namesAccount(verification.bankAccount, payment.bankAccount)) return verification;
  throw rejection('common.validation.field_invalid', field, 'The verification is of another bank account.');
}

function namesAccount({ iban, accountNumber, routingCodes }: VerificationBankAccount, paid: PaidAccount): boolean {
  if (iban !== undefined) return paid.iban === iban;
  const [sortCode, number] = ukAccountOf(paid);
  return number !== null && number === accountNumber && sortCode === routingCodes['sort-code'];
}

/** Sort code and number, which a British IBAN contains too. */
function ukAccountOf({
  accountNumber,
  iban,
  routingCodes,
}: PaidAccount): [sortCode: string | null, number: string | null] {
  const sortCode = routingCodes?.['sort-code'] ?? null;
  if (sortCode !== null && accountNumber !== null) return [sortCode, accountNumber];
  return iban?.startsWith('GB') === true ? [iban.slice(8, 14), iban.slice(14)] : [null, null];
}

/** What the audit log keeps of a payment after a verification: the liability for one without a match is the payer's. */
export function auditOfPayment({ id, directory, matched, reason, schemeReasonCode }: NamedVerification) {
  return {
    action: matched ? 'paid-after-match' : 'paid-without-match',
    after: { beneficiaryVerificationId: id, directory, matched, reason, schemeReasonCode },
  };
}
