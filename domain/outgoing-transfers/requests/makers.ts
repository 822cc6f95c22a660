import { rejection } from '../../common/errors.ts';

/**
 * Every way in which an outgoing transfer is created, and its makers: every actor who caused it. None of them may authorize it
 * (four eyes). A new way joins `TRANSFER_ORIGINS`; test/outgoing-transfers/specification/makers.test.ts does not compile until it covers it.
 * No other actor changes what a transfer pays and to whom: operators only change its date or end it, and compliance decides about it.
 */
export const TRANSFER_ORIGINS = ['request', 'batch', 'consented-payment', 'return'] as const;
export type TransferOrigin = (typeof TRANSFER_ORIGINS)[number];

export const MAKERS: Readonly<Record<TransferOrigin, string>> = {
  request: 'the machine user that sent it',
  batch: 'the machine user that sent the batch in which the item was created',
  'consented-payment':
    'the third party that sent it, and the machine user that approved the consent; not the registrar of the third party',
  return: 'the machine user, or person in the console, that requested the return of money in',
};

/** Rejects the authorization of a transfer by one of its makers, or by who approved it in its review. */
export function rejectMakers(makersAndReviewer: readonly (string | null)[], actor: string): void {
  if (!makersAndReviewer.includes(actor)) return;
  throw rejection(
    'common.security.access_denied',
    ['outgoingTransfer', 'requirementConfiguration.authorizationStatus', 'fulfilled'],
    'Another person or machine user must authorize this: you created or reviewed the transfer, or approved the consent that it is under.',
  );
}
