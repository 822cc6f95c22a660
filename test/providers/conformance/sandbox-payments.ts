import { randomUUID } from 'node:crypto';
import type { ReturnRequest } from '../../../activities/providers/port.ts';
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

/** The return of a payment in that is not credited, as the service asks the sandbox bank for it. */
export function returnInFull(serviceProviderId: string, amountMinor: bigint): ReturnRequest {
  const nowhere = { iban: null, accountNumber: null, routingCodes: {} };
  const incomingTransferId = randomUUID();
  return {
    incomingTransferId,
    paymentReference: paymentReferenceOf(incomingTransferId),
    serviceProviderId,
    amountMinor,
    currency: 'GBP',
    code: 'AC04',
    scheme: 'faster-payments',
    creditor: { ...nowhere, name: 'Ann Payer', country: null },
    receiver: nowhere,
    remittanceText: 'Return of 20270616-AAAAAA',
  };
}
