import { randomUUID } from 'node:crypto';
import type { PaymentRequest } from '../../../activities/providers/ports/payment-port.ts';
import { paymentReferenceOf } from '../../../domain/common/payment-references.ts';

/** A payment as the service submits it to the sandbox bank. */
export function payment(amountMinor: bigint): PaymentRequest {
  const party = { country: 'GB', iban: null, routingCodes: { 'sort-code': '200000' } };
  const ourReference = randomUUID();
  return {
    ourReference,
    paymentReference: paymentReferenceOf(ourReference),
    attempt: 1,
    amountMinor,
    currency: 'GBP',
    scheme: 'faster-payments',
    debtor: { ...party, accountId: randomUUID(), name: 'Payroll Ltd', accountNumber: '12345678' },
    creditor: { ...party, name: 'Zoë Payee', accountNumber: '87654321' },
    remittanceText: 'invoice 17',
    attributes: {},
  };
}
