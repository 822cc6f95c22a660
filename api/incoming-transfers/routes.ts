import { findIncomingTransfer, listIncomingTransfers } from '../../db/incoming-transfers/reads.ts';
import type { Reader } from '../../db/query/database.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { AccountId, ClientId, IncomingTransferId } from '../../domain/common/ids.ts';
import { SENDER_INFORMATION_LENGTH_MAX, SHOWN_NAME_LENGTH_MAX } from '../../domain/common/parties/names.ts';
import { INCOMING_TRANSFER_STATUSES } from '../../domain/incoming-transfers/incoming-transfers.ts';
import { route } from '../http/route.ts';
import { named } from '../http/schemas/named.ts';
import { paymentReference } from '../http/schemas/payment-references.ts';
import {
  amountText,
  currency,
  date,
  fields,
  list,
  optional,
  pattern,
  picklist,
  text,
  uuid,
} from '../http/schemas/schemas.ts';
import { assignTransfer, returnTransfer } from './commands.ts';
import { INCOMING_TRANSFER_EXAMPLE, incomingTransferShown, incomingTransferWait } from './schemas.ts';

const TAG = 'Incoming transfers';

const getIncomingTransfer = route(
  {
    method: 'GET',
    path: '/incoming-transfers/{id}',
    operationId: 'getIncomingTransfer',
    summary: 'Get an incoming transfer',
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
    summary: 'List incoming transfers in order of creation',
    tag: TAG,
    paged: true,
    query: {
      'data.incomingTransfer.status': optional(named('IncomingTransferStatus', picklist(INCOMING_TRANSFER_STATUSES))),
      'data.incomingTransfer.waitingFor': optional(incomingTransferWait),
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
        waitingFor: query['data.incomingTransfer.waitingFor'],
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

export const incomingTransferRoutes = [getIncomingTransfer, getIncomingTransfers, assignTransfer, returnTransfer];
