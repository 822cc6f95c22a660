import * as v from 'valibot';
import { SENDER_INFORMATION_LENGTH_MAX, SHOWN_NAME_LENGTH_MAX } from '../../domain/common/parties/names.ts';
import {
  INCOMING_TRANSFER_STATUSES,
  INCOMING_TRANSFER_WAITS,
} from '../../domain/incoming-transfers/incoming-transfers.ts';
import { RETURNS_MAX } from '../../domain/outgoing-transfers/requests/return-terms.ts';
import { OUTGOING_TRANSFER_STATUSES } from '../../domain/outgoing-transfers/statuses.ts';
import { named } from '../http/schemas/named.ts';
import { paymentReferenceShown } from '../http/schemas/payment-references.ts';
import { amount, currency, date, fields, list, nullable, picklist, text, uuid } from '../http/schemas/schemas.ts';
import { partyAccountShown, statusReasonShown } from '../outgoing-transfers/schemas.ts';

const RETURNED_DESCRIPTION =
  'For returned money: the outgoing transfer that paid it. A payment that is returned in parts has one incoming transfer for each part.';

/** As events show it: as it was, without what holds only now. */
export const incomingTransferOfEvents = named(
  'IncomingTransferOfEvents',
  fields({
    id: uuid(),
    clientId: nullable(uuid()),
    accountId: nullable(uuid()),
    transactionNumber: text(15),
    paymentReference: paymentReferenceShown,
    status: named('IncomingTransferStatus', picklist(INCOMING_TRANSFER_STATUSES)),
    statusReason: nullable(statusReasonShown),
    currency: currency(),
    amount: amount(),
    feeAmount: amount(),
    feeCurrency: currency(),
    totalAmount: amount(),
    scope: picklist(['internal', 'external']),
    scheme: nullable(text(40)),
    outgoingTransferId: nullable(uuid()),
    returnedOutgoingTransferId: v.pipe(nullable(uuid()), v.description(RETURNED_DESCRIPTION)),
    provisionedAccountCreditId: nullable(uuid()),
    serviceProvider: text(64),
    serviceProviderId: nullable(text(140)),
    serviceProviderReference: nullable(text(140)),
    senderInformation: nullable(text(SENDER_INFORMATION_LENGTH_MAX)),
    senderName: nullable(text(SHOWN_NAME_LENGTH_MAX)),
    transferDate: nullable(date()),
    senderAccount: nullable(partyAccountShown),
    receiverAccount: nullable(partyAccountShown),
  }),
);

export const incomingTransferWait = named('IncomingTransferWait', picklist(INCOMING_TRANSFER_WAITS));

const RETURNS_DESCRIPTION =
  'The outgoing transfers by which completed money goes back to its payer, oldest first: `code` says why, and `status` is the outgoing transfer’s.';

const returnShown = named(
  'IncomingTransferReturnShown',
  fields({
    outgoingTransferId: uuid(),
    amount: amount(),
    code: text(140),
    status: named('OutgoingTransferStatus', picklist(OUTGOING_TRANSFER_STATUSES)),
  }),
);

export const incomingTransferShown = named(
  'IncomingTransfer',
  fields({
    ...incomingTransferOfEvents.entries,
    waitingFor: nullable(incomingTransferWait),
    returns: v.pipe(list(returnShown, 0, RETURNS_MAX), v.description(RETURNS_DESCRIPTION)),
  }),
);

export const INCOMING_TRANSFER_EXAMPLE = {
  id: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b06',
  clientId: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b01',
  accountId: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b02',
  transactionNumber: '20261121-M4T9RC',
  paymentReference: '0199c4a05b1e7c3a9d420c2f6f3a1b06',
  status: 'completed',
  statusReason: null,
  currency: 'GBP',
  amount: 250,
  feeAmount: 0,
  feeCurrency: 'GBP',
  totalAmount: 250,
  scope: 'external',
  scheme: 'faster-payments',
  outgoingTransferId: null,
  returnedOutgoingTransferId: null,
  provisionedAccountCreditId: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b07',
  serviceProvider: 'sandbox-bank',
  serviceProviderId: 'pin-000001',
  serviceProviderReference: null,
  senderInformation: 'Salary November',
  senderName: 'Grace Hopper',
  transferDate: '2026-11-21',
  senderAccount: null,
  receiverAccount: {
    accountHolderName: 'Ada Lovelace',
    alias: 'GBP Account',
    ledgerNumber: '0000000000195',
    accountNumber: '31926819',
    iban: 'GB29NWBK60161331926819',
    country: 'GB',
    currency: 'GBP',
    routingCodes: { 'sort-code': '601613' },
  },
  waitingFor: null,
  returns: [],
};
