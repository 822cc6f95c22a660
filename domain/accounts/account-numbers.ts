import { ukAccountNumber } from './identifiers/uk-account-numbers.ts';

/** An account number to look for, in the forms in which accounts store it (`normalNumber`). */
export interface AccountNumberForms {
  readonly accountNumber?: string | undefined;
  /** As a sterling account in Britain stores it. */
  readonly sterlingAccountNumber?: string | undefined;
}

export function accountNumberForms(written: string | undefined): AccountNumberForms {
  if (written === undefined) return {};
  const accountNumber = written.replaceAll(' ', '');
  const sterling = ukAccountNumber(accountNumber, null);
  return { accountNumber, sterlingAccountNumber: sterling?.accountNumber ?? accountNumber };
}
