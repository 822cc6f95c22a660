import * as v from 'valibot';
import type { Reader } from '../../db/driver/client.ts';
import { assignIncomingTransfer, returnIncomingTransfer } from '../../db/incoming-transfers/incoming-transfers.ts';
import {
  findIncomingTransfer,
  type IncomingTransferShown,
  listIncomingTransfers,
} from '../../db/incoming-transfers/reads.ts';
import { recordNotFound } from '../../domain/frame/errors.ts';
import type { AccountId, ClientId, IncomingTransferId } from '../../domain/frame/ids.ts';
import { SENDER_INFORMATION_LENGTH_MAX, SHOWN_NAME_LENGTH_MAX } from '../../domain/frame/parties/names.ts';
import {
  INCOMING_TRANSFER_STATUSES,
  type IncomingTransfer,
  type PartyAccount,
} from '../../domain/incoming-transfers/incoming-transfers.ts';
import { presentIncomingTransfer } from '../../domain/incoming-transfers/presentation.ts';
import { route } from '../frame/route.ts';
import { named } from '../frame/schemas/named.ts';
import { paymentReference, paymentReferenceShown } from '../frame/schemas/payment-references.ts';
import {
  amount,
  amountText,
  currency,
  date,
  fields,
  list,
  nullable,
  optional,
  pattern,
  picklist,
  text,
  uuid,
} from '../frame/schemas/schemas.ts';
import { partyAccountShown, statusReasonShown } from '../outgoing-transfers/schemas.ts';

const TAG = 'Incoming transfers';

const RETURNED_DESCRIPTION =
  'Of money that came back: the outgoing transfer that it was paid by. One that came back in parts has an incoming transfer for each.';

export const incomingTransferShown = named(
  'IncomingTransfer',
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

const INCOMING_TRANSFER_EXAMPLE = {
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
};

const getIncomingTransfer = route(
  {
    method: 'GET',
    path: '/incoming-transfers/{id}',
    operationId: 'getIncomingTransfer',
    summary: 'An incoming transfer',
    tag: TAG,
    params: { id: uuid<IncomingTransferId>() },
    response: fields({ incomingTransfer: incomingTransferShown }),
    errors: ['common.coding.internal.record_not_found'],
    examples: { response: { incomingTransfer: INCOMING_TRANSFER_EXAMPLE } },
  },
  async ({ params, services }) => ({
    data: { incomingTransfer: await readTransfer(services.database.reader, params.id) },
  }),
);

async function readTransfer(reader: Reader, id: IncomingTransferId) {
  const incomingTransfer = await findIncomingTransfer(reader, id);
  if (incomingTransfer === null) throw recordNotFound('incomingTransfer', 'id', id);
  return incomingTransfer;
}

const getIncomingTransfers = route(
  {
    method: 'GET',
    path: '/incoming-transfers',
    operationId: 'listIncomingTransfers',
    summary: 'Incoming transfers, in the order of their creation',
    tag: TAG,
    paged: true,
    query: {
      'data.incomingTransfer.status': optional(named('IncomingTransferStatus', picklist(INCOMING_TRANSFER_STATUSES))),
      'data.incomingTransfer.transactionNumber': optional(pattern(/^\d{8}-[0-9A-Z]{6}$/, 'a transaction number')),
      'data.incomingTransfer.paymentReference': optional(paymentReference()),
      'data.incomingTransfer.amountFrom': optional(amountText()),
      'data.incomingTransfer.amountTo': optional(amountText()),
      'data.incomingTransfer.currency': optional(currency()),
      'data.incomingTransfer.serviceProvider': optional(text(64)),
      'data.incomingTransfer.clientId': optional(uuid<ClientId>()),
      'data.incomingTransfer.accountId': optional(uuid<AccountId>()),
      'data.incomingTransfer.senderInformation': optional(text(SENDER_INFORMATION_LENGTH_MAX)),
      'data.incomingTransfer.senderName': optional(text(SHOWN_NAME_LENGTH_MAX)),
      'data.incomingTransfer.serviceProviderId': optional(text(140)),
      'data.incomingTransfer.serviceProviderReference': optional(text(140)),
      'data.incomingTransfer.transferDateFrom': optional(date()),
      'data.incomingTransfer.transferDateTo': optional(date()),
    },
    response: fields({ incomingTransfers: list(incomingTransferShown, 0, 100) }),
    examples: { response: { incomingTransfers: [INCOMING_TRANSFER_EXAMPLE] } },
  },
  async ({ query, page, services }) => {
    const found = await listIncomingTransfers(
      services.database.reader,
      {
        status: query['data.incomingTransfer.status'],
        transactionNumber: query['data.incomingTransfer.transactionNumber'],
        paymentOf: query['data.incomingTransfer.paymentReference'],
        amountFrom: query['data.incomingTransfer.amountFrom'],
        amountTo: query['data.incomingTransfer.amountTo'],
        currency: query['data.incomingTransfer.currency'],
        serviceProvider: query['data.incomingTransfer.serviceProvider'],
        clientId: query['data.incomingTransfer.clientId'],
        accountId: query['data.incomingTransfer.accountId'],
        senderInformation: query['data.incomingTransfer.senderInformation'],
        senderName: query['data.incomingTransfer.senderName'],
        serviceProviderId: query['data.incomingTransfer.serviceProviderId'],
        serviceProviderReference: query['data.incomingTransfer.serviceProviderReference'],
        transferDateFrom: query['data.incomingTransfer.transferDateFrom'],
        transferDateTo: query['data.incomingTransfer.transferDateTo'],
      },
      page,
    );
    return { data: { incomingTransfers: [...found.rows] }, totalElements: found.totalElements };
  },
);

const assignTransfer = route(
  {
    method: 'POST',
    path: '/incoming-transfers/{id}/assign',
    operationId: 'assignIncomingTransfer',
    summary: 'Assign held money to an account',
    description:
      'For a transfer that is `on-hold` because its payer named no account or several. The account must be active, with the same provider and currency. Money that the provider holds is credited once released.',
    tag: TAG,
    roles: ['operator'],
    params: { id: uuid<IncomingTransferId>() },
    workflows: {
      direct: {
        data: fields({
          incomingTransfer: named('IncomingTransferAssignment', fields({ accountId: uuid<AccountId>() })),
        }),
      },
    },
    status: 200,
    response: fields({ incomingTransfer: incomingTransferShown }),
    errors: [
      'common.coding.internal.record_not_found',
      'common.state.illegal_transition',
      'account.method.mismatch',
      'account.currency.mismatch',
      'account.status.not_active',
    ],
    examples: {
      requests: { direct: { data: { incomingTransfer: { accountId: INCOMING_TRANSFER_EXAMPLE.accountId } } } },
      response: { incomingTransfer: INCOMING_TRANSFER_EXAMPLE },
    },
  },
  async ({ params, body, initiator, write }) => {
    const { accountId } = body.data.incomingTransfer;
    return write(async (tx) => {
      const [{ transfer, receiver }, before] = await Promise.all([
        assignIncomingTransfer(tx, params.id, accountId, initiator),
        findIncomingTransfer(tx, params.id),
      ]);
      return { data: { incomingTransfer: showMoved(before, transfer, receiver) } };
    });
  },
);

const returnTransfer = route(
  {
    method: 'POST',
    path: '/incoming-transfers/{id}/return',
    operationId: 'returnIncomingTransfer',
    summary: 'Return held money to its payer',
    description:
      'For a transfer that is `on-hold`. For built-in accounts the provider returns the money; callers of plug-in accounts return it themselves.',
    tag: TAG,
    roles: ['operator'],
    params: { id: uuid<IncomingTransferId>() },
    workflows: { direct: { data: fields({}) } },
    status: 200,
    response: fields({ incomingTransfer: incomingTransferShown }),
    errors: ['common.coding.internal.record_not_found', 'common.state.illegal_transition'],
    examples: {
      requests: { direct: { data: {} } },
      response: { incomingTransfer: { ...INCOMING_TRANSFER_EXAMPLE, status: 'failed', transferDate: null } },
    },
  },
  async ({ params, initiator, write }) => {
    return write(async (tx) => {
      const [transfer, before] = await Promise.all([
        returnIncomingTransfer(tx, params.id, initiator),
        findIncomingTransfer(tx, params.id),
      ]);
      return { data: { incomingTransfer: showMoved(before, transfer, null) } };
    });
  },
);

/** The transfer after its change. Who sent it, and whom the payer named, never changes; an account that received it is its own. */
function showMoved(
  before: IncomingTransferShown | null,
  transfer: IncomingTransfer,
  receiver: PartyAccount | null,
): IncomingTransferShown {
  if (before === null) throw recordNotFound('incomingTransfer', 'id', transfer.id);
  const { senderName, senderAccount, receiverAccount } = before;
  const moved = presentIncomingTransfer(transfer, null, receiver);
  return { ...moved, senderName, senderAccount, receiverAccount: receiverAccount ?? moved.receiverAccount };
}

export const incomingTransferRoutes = [getIncomingTransfer, getIncomingTransfers, assignTransfer, returnTransfer];
