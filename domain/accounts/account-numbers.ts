import { normalAccountNumber } from './bank-accounts.ts';

/** An account number to look for, in the forms in which accounts store it (`normalAccountNumber`). */
export interface AccountNumberForms {
  readonly accountNumber?: string | undefined;
  /** As a sterling account in Britain stores it. */
  readonly sterlingAccountNumber?: string | undefined;
}

export function accountNumberForms(written: string | undefined): AccountNumberForms {
  if (written === undefined) return {};
  const accountNumber = written.replaceAll(' ', '');
  const sterling = normalAccountNumber(accountNumber, { currency: 'GBP', country: 'GB' });
  return { accountNumber, sterlingAccountNumber: sterling ?? accountNumber };
}
