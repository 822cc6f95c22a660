import { findOutgoingTransfer, listOutgoingTransfers } from '../../db/outgoing-transfers/reads.ts';
import { recordNotFound } from '../../domain/frame/errors.ts';
import type { AccountId, ClientId, OutgoingTransferId } from '../../domain/frame/ids.ts';
import { feeMinor } from '../../domain/ledger/fees.ts';
import { OUTGOING_TRANSFER_STATUSES } from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import { isStraightThrough } from '../../domain/outgoing-transfers/requirement-rules.ts';
import { presentOutgoingTransfer } from '../../domain/outgoing-transfers/rows.ts';
import { route } from '../frame/route.ts';
import { named } from '../frame/schemas/named.ts';
import { paymentReference } from '../frame/schemas/payment-references.ts';
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
} from '../frame/schemas/schemas.ts';
import { answerBatch } from './batch-creation.ts';
import { batchResponse, batchWorkflow } from './batch-schemas.ts';
import { changeTransfer, patchTransferWorkflow } from './changes.ts';
import { settleStraightThrough } from './creation.ts';
import {
  BATCH_EXAMPLE,
  BATCH_RESULTS_EXAMPLE,
  OUTGOING_TRANSFER_EXAMPLE,
  PLANNED_TRANSFER_EXAMPLE,
  TRANSFER_WITH_BENEFICIARY_EXAMPLE,
} from './examples.ts';
import { makeTransfer } from './plans.ts';
import { recallOutgoingTransferRoute } from './recalls.ts';
import { outgoingTransferShown, postTransferWorkflow, shownTransferWithBeneficiary } from './schemas.ts';

const TAG = 'Outgoing transfers';

const CREATION_ERRORS = [
  'common.coding.internal.record_not_found',
  'account.balance.insufficient',
  'account.status.not_active',
  'account.currency.mismatch',
  'account.client.mismatch',
  'client.status.not_active',
  'beneficiary.bank_account.not_active',
  'transfer.client.mismatch',
  'transfer.scheme.unavailable',
  'transfer.amount.limit_exceeded',
  'transfer.date.invalid',
  'transfer.attribute.invalid',
] as const;

/** A thousand of the largest transfers. */
const BATCH_BODY_LIMIT = { bytes: 4 * 1024 * 1024, nodes: 50_000 };

const postOutgoingTransfer = route(
  {
    method: 'POST',
    path: '/outgoing-transfers',
    operationId: 'createOutgoingTransfer',
    summary: 'Send money',
    description:
      'An internal transfer that can settle at once is settled before the answer, which shows it as created. A workflow processes every other transfer. With `workflow.dryRun` nothing is created: the request is validated, its fee calculated, and each requirement shown as it would come out now.',
    tag: TAG,
    roles: ['operator'],
    workflows: { 'client.direct': postTransferWorkflow },
    response: fields({ outgoingTransfer: outgoingTransferShown }),
    errors: CREATION_ERRORS,
    examples: {
      requests: {
        'client.direct': {
          workflow: { dryRun: false, pricing: { sourcingMethod: 'implicit' } },
          data: { outgoingTransfer: PLANNED_TRANSFER_EXAMPLE },
        },
      },
      response: { outgoingTransfer: OUTGOING_TRANSFER_EXAMPLE },
    },
  },
  async (context) => {
    const { outgoingTransfer, pricing: terms } = context.body.data;
    const { dryRun, pricing } = context.body.workflow;
    const { configuration } = context.services;
    const fee = feeMinor(outgoingTransfer, { pricing, terms }, configuration.prices);
    const isSettledAtOnce = dryRun !== true && isStraightThrough(configuration, outgoingTransfer);
    const settled = isSettledAtOnce ? await settleStraightThrough(context, fee) : null;
    return settled ?? makeTransfer(context, fee);
  },
);

const postOutgoingTransferBatch = route(
  {
    method: 'POST',
    path: '/outgoing-transfers/batch',
    operationId: 'createOutgoingTransferBatch',
    summary: 'Send money in many transfers at once',
    description:
      'With `workflow.mode` `each`, the default, each transfer is created or refused as if sent alone, in the order of the items. With `all`, the first refusal refuses the batch with 422 and nothing is created. An item’s `reference` is its idempotency key for 30 days, among the references of its machine user: a batch that is sent again creates only what is missing, and shows the rest as first answered. `workflow.pricing` applies to every item.',
    tag: TAG,
    roles: ['operator'],
    workflows: { 'client.direct': batchWorkflow },
    bodyLimit: BATCH_BODY_LIMIT,
    response: batchResponse,
    errors: CREATION_ERRORS,
    examples: {
      requests: { 'client.direct': { workflow: { mode: 'each' }, data: BATCH_EXAMPLE } },
      moreRequests: { 'all or none': { code: 'client.direct', workflow: { mode: 'all' }, data: BATCH_EXAMPLE } },
      response: BATCH_RESULTS_EXAMPLE,
    },
  },
  answerBatch,
);

const patchOutgoingTransfer = route(
  {
    method: 'PATCH',
    path: '/outgoing-transfers/{id}',
    operationId: 'updateOutgoingTransfer',
    summary: 'Cancel or authorize a transfer, or report the outcome of a plug-in payment',
    description:
      'Exactly one of `status`, `requirementConfiguration` and `returned`. `released` and `completed` accept `serviceProviderId` and `serviceProviderReference`, `failed` and `returned` accept `statusReason`. The answer to an authorization shows the transfer as authorized, `pending`, even where it has gone on by then. A repeated report gets the present transfer; a contradictory one is 409.',
    tag: TAG,
    roles: ['operator', 'approver'],
    params: { id: uuid<OutgoingTransferId>() },
    workflows: { 'client.direct': patchTransferWorkflow },
    response: fields({ outgoingTransfer: shownTransferWithBeneficiary }),
    errors: [
      'common.coding.internal.record_not_found',
      'common.state.illegal_transition',
      'common.security.access_denied',
    ],
    examples: {
      requests: { 'client.direct': { data: { outgoingTransfer: { status: 'cancelled' } } } },
      response: { outgoingTransfer: { ...TRANSFER_WITH_BENEFICIARY_EXAMPLE, status: 'cancelled' } },
    },
  },
  async (context) =>
    context.write(async (tx) => {
      // What is shown beside a transfer's own fields never changes.
      const [changed, shown] = await Promise.all([
        changeTransfer(tx, context),
        findOutgoingTransfer(tx, context.params.id),
      ]);
      if (shown === null) throw recordNotFound('outgoingTransfer', 'id', context.params.id);
      return { data: { outgoingTransfer: { ...shown, ...presentOutgoingTransfer(changed) } } };
    }),
);

const getOutgoingTransfer = route(
  {
    method: 'GET',
    path: '/outgoing-transfers/{id}',
    operationId: 'getOutgoingTransfer',
    summary: 'An outgoing transfer',
    tag: TAG,
    params: { id: uuid<OutgoingTransferId>() },
    response: fields({ outgoingTransfer: shownTransferWithBeneficiary }),
    errors: ['common.coding.internal.record_not_found'],
    examples: { response: { outgoingTransfer: TRANSFER_WITH_BENEFICIARY_EXAMPLE } },
  },
  async ({ params, services }) => {
    const outgoingTransfer = await findOutgoingTransfer(services.database.reader, params.id);
    if (outgoingTransfer === null) throw recordNotFound('outgoingTransfer', 'id', params.id);
    return { data: { outgoingTransfer } };
  },
);

const getOutgoingTransfers = route(
  {
    method: 'GET',
    path: '/outgoing-transfers',
    operationId: 'listOutgoingTransfers',
    summary: 'Outgoing transfers, in the order of their creation',
    tag: TAG,
    paged: true,
    query: {
      'data.outgoingTransfer.status': optional(named('OutgoingTransferStatus', picklist(OUTGOING_TRANSFER_STATUSES))),
      'data.outgoingTransfer.transactionNumber': optional(pattern(/^\d{8}-[0-9A-Z]{6}$/, 'a transaction number')),
      'data.outgoingTransfer.paymentReference': optional(paymentReference()),
      'data.outgoingTransfer.amountFrom': optional(amountText()),
      'data.outgoingTransfer.amountTo': optional(amountText()),
      'data.outgoingTransfer.currency': optional(currency()),
      'data.outgoingTransfer.clientId': optional(uuid<ClientId>()),
      'data.outgoingTransfer.accountId': optional(uuid<AccountId>()),
      'data.outgoingTransfer.serviceProvider': optional(text(64)),
      'data.outgoingTransfer.serviceProviderId': optional(text(140)),
      'data.outgoingTransfer.serviceProviderReference': optional(text(140)),
      'data.outgoingTransfer.transferDateFrom': optional(date()),
      'data.outgoingTransfer.transferDateTo': optional(date()),
      'data.outgoingTransfer.description': optional(text(140)),
    },
    response: fields({ outgoingTransfers: list(shownTransferWithBeneficiary, 0, 100) }),
    examples: { response: { outgoingTransfers: [TRANSFER_WITH_BENEFICIARY_EXAMPLE] } },
  },
  async ({ query, page, services }) => {
    const found = await listOutgoingTransfers(
      services.database.reader,
      {
        status: query['data.outgoingTransfer.status'],
        transactionNumber: query['data.outgoingTransfer.transactionNumber'],
        paymentOf: query['data.outgoingTransfer.paymentReference'],
        amountFrom: query['data.outgoingTransfer.amountFrom'],
        amountTo: query['data.outgoingTransfer.amountTo'],
        currency: query['data.outgoingTransfer.currency'],
        clientId: query['data.outgoingTransfer.clientId'],
        accountId: query['data.outgoingTransfer.accountId'],
        serviceProvider: query['data.outgoingTransfer.serviceProvider'],
        serviceProviderId: query['data.outgoingTransfer.serviceProviderId'],
        serviceProviderReference: query['data.outgoingTransfer.serviceProviderReference'],
        transferDateFrom: query['data.outgoingTransfer.transferDateFrom'],
        transferDateTo: query['data.outgoingTransfer.transferDateTo'],
        description: query['data.outgoingTransfer.description'],
      },
      page,
    );
    return { data: { outgoingTransfers: [...found.rows] }, totalElements: found.totalElements };
  },
);

export const outgoingTransferRoutes = [
  postOutgoingTransfer,
  postOutgoingTransferBatch,
  patchOutgoingTransfer,
  recallOutgoingTransferRoute,
  getOutgoingTransfer,
  getOutgoingTransfers,
];
