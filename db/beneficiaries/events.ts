import {
  type Beneficiary,
  type BeneficiaryBankAccount,
  type BeneficiaryEventType,
  presentBeneficiary,
  presentBeneficiaryBankAccount,
} from '../../domain/beneficiaries/beneficiaries.ts';
import type { Transaction } from '../driver/client.ts';
import { appendEvents } from '../frame/events.ts';

/**
 * Appends what happened to a beneficiary, under its lock; of its bank accounts the event shows the one that it is about.
 * Beyond the specification: told to those alone who subscribe to the module or the type by name.
 */
export async function appendBeneficiaryEvent(
  tx: Transaction,
  event: {
    readonly type: BeneficiaryEventType;
    readonly beneficiary: Beneficiary;
    readonly bankAccount?: BeneficiaryBankAccount;
    readonly occurredAt: Date;
  },
): Promise<void> {
  const { type, beneficiary, bankAccount, occurredAt } = event;
  const bankAccounts = bankAccount === undefined ? {} : { bankAccounts: [presentBeneficiaryBankAccount(bankAccount)] };
  const entries = [{ type, data: { ...presentBeneficiary(beneficiary), ...bankAccounts } }];
  await appendEvents(tx, { module: 'beneficiaries', resourceId: beneficiary.id, occurredAt, entries });
}
