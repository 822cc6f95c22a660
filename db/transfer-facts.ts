import { eq } from 'drizzle-orm';
import type { BeneficiaryBankAccountId } from '../domain/ids.ts';
import type { PlanBankAccount } from '../domain/outgoing-transfer-plans.ts';
import type { BeneficiaryShown } from '../domain/outgoing-transfers.ts';
import type { Reader } from './client.ts';
import { beneficiaries, beneficiaryBankAccounts } from './schema.ts';

/** Where an external transfer goes: what is judged, and the beneficiary as it is kept with the transfer. */
export interface DestinationBankAccount {
  readonly judged: PlanBankAccount;
  readonly beneficiary: BeneficiaryShown;
}

/** A beneficiary's bank account with its beneficiary as of now; null when there is none. */
export async function findDestinationBankAccount(
  reader: Reader,
  id: BeneficiaryBankAccountId,
): Promise<DestinationBankAccount | null> {
  const [found] = await reader.drizzle
    .select({ bankAccount: beneficiaryBankAccounts, beneficiary: beneficiaries })
    .from(beneficiaryBankAccounts)
    .innerJoin(beneficiaries, eq(beneficiaries.id, beneficiaryBankAccounts.beneficiaryId))
    .where(eq(beneficiaryBankAccounts.id, id));
  if (found === undefined) return null;
  const { bankAccount, beneficiary } = found;
  return {
    judged: { ...bankAccount, clientId: beneficiary.clientId },
    beneficiary: {
      fullName: beneficiary.fullName,
      identity: copyOf(beneficiary.identity),
      address: copyOf(beneficiary.contact?.address ?? null),
      title: beneficiary.title,
      account: {
        accountHolderName: bankAccount.accountHolderName,
        alias: bankAccount.alias,
        ledgerNumber: null,
        accountNumber: bankAccount.accountNumber,
        iban: bankAccount.iban,
        country: bankAccount.country,
        currency: bankAccount.currency,
        routingCodes: bankAccount.routingCodes,
      },
    },
  };
}

/** What is kept with the transfer stays as it was, whatever becomes of the beneficiary. */
function copyOf(part: object | null): Readonly<Record<string, unknown>> | null {
  return part === null ? null : { ...part };
}
