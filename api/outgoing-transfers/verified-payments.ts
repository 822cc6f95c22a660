import { auditPayment, readNamedVerifications } from '../../db/beneficiaries/verifications.ts';
import type { Initiator } from '../../db/common/audit-entries.ts';
import type { Reader, Transaction } from '../../db/query/database.ts';
import { type NamedVerification, requireSameAccount } from '../../domain/beneficiaries/payments-after-verification.ts';
import type { DecidedTransfer, TransferOrder } from './validation.ts';

/** Finds the verification that an order names, if any; throws the rejection of one that says nothing about the payment. */
export async function verificationsOf(
  reader: Reader,
  orders: readonly TransferOrder[],
): Promise<(order: TransferOrder, decided: DecidedTransfer) => NamedVerification | null> {
  const verifications = await readNamedVerifications(
    reader,
    orders.flatMap(({ request }) => request.beneficiaryVerificationId ?? []),
  );
  return ({ request: { beneficiaryVerificationId: id, clientId } }, { to }) => {
    if (id === undefined) return null;
    const found = verifications.get(id) ?? null;
    return requireSameAccount(id, found, { clientId, bankAccount: to?.account ?? null });
  };
}

/** The same, for orders that are to be created: what it returns records the payment after its verification, with the payment. */
export async function paymentRecorders(
  tx: Transaction,
  initiator: Initiator,
  orders: readonly TransferOrder[],
): Promise<(order: TransferOrder, decided: DecidedTransfer) => (outgoingTransferId: string) => void> {
  const verificationOf = await verificationsOf(tx, orders);
  return (order, decided) => {
    const verification = verificationOf(order, decided);
    return (id) => {
      if (verification !== null) auditPayment(tx, initiator, id, verification);
    };
  };
}
