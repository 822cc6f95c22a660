import { refusal } from '../../frame/errors.ts';

/**
 * Every way in which an outgoing transfer comes about, and who its makers are: everybody who caused it. None of them authorizes it
 * (four eyes). A new way joins `TRANSFER_ORIGINS`, and test/outgoing-transfers/specification/makers.test.ts does not compile until it tries it.
 * Nobody else changes what a transfer pays and to whom: operators only move its date or end it, and compliance decides about it.
 */
export const TRANSFER_ORIGINS = ['request', 'batch', 'consented-payment'] as const;
export type TransferOrigin = (typeof TRANSFER_ORIGINS)[number];

export const MAKERS: Readonly<Record<TransferOrigin, string>> = {
  request: 'the machine user that sent it',
  batch: 'the machine user that sent the batch in which the item was created',
  'consented-payment':
    'the third party that sent it, and the machine user that approved the consent; not the registrar of the third party',
};

/** Refuses the authorization of a transfer by one of its makers. */
export function requireAnother(makers: readonly (string | null)[], actor: string): void {
  if (!makers.includes(actor)) return;
  throw refusal(
    'common.security.access_denied',
    ['outgoingTransfer', 'requirementConfiguration.authorizationStatus', 'fulfilled'],
    'A machine user never authorizes a transfer that it caused: its own, or one of a consent that it approved.',
  );
}
