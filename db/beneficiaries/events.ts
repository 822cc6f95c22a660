import {
  type Beneficiary,
  type BeneficiaryBankAccount,
  type BeneficiaryEventType,
  presentBeneficiary,
  presentBeneficiaryBankAccount,
} from '../../domain/beneficiaries/beneficiaries.ts';
import { appendEvents } from '../common/events.ts';
import type { Transaction } from '../query/database.ts';

/**
 * Appends a beneficiary's event under its lock, with the one bank account that the event concerns. These events are beyond
 * the specification: only subscriptions that name the module or the type receive them.
 */
export function appendBeneficiaryEvent(
  tx: Transaction,
  event: {
    readonly type: BeneficiaryEventType;
    readonly beneficiary: Beneficiary;
    readonly bankAccount?: BeneficiaryBankAccount;
    readonly occurredAt: Date;
  },
): void {
  const { type, beneficiary, bankAccount, occurredAt } = event;
  const bankAccounts = bankAccount === undefined ? {} : { bankAccounts: [presentBeneficiaryBankAccount(bankAccount)] };
  const entries = [{ type, data: { ...presentBeneficiary(beneficiary), ...bankAccounts } }];
  appendEvents(tx, { module: 'beneficiaries', resourceId: beneficiary.id, occurredAt, entries });
}
