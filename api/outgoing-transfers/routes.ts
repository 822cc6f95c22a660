import { findOutgoingTransfer, listOutgoingTransfers } from '../../db/outgoing-transfers/reads.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { AccountId, ClientId, OutgoingTransferId } from '../../domain/common/ids.ts';
import { feeMinor } from '../../domain/ledger/fees.ts';
import { isStraightThrough } from '../../domain/outgoing-transfers/requirement-rules.ts';
import { OUTGOING_TRANSFER_STATUSES } from '../../domain/outgoing-transfers/statuses.ts';
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
import { answerBatch } from './batch-creation.ts';
import { batchResponse, batchWorkflow } from './batch-schemas.ts';
import { changedTransferOf, patchTransferWorkflow, requestedChange } from './changes.ts';
import { makeTransfer, planTransfer } from './creation.ts';
import {
  BATCH_EXAMPLE,
  BATCH_RESULTS_EXAMPLE,
  DRY_RUN_EXAMPLE,
  OUTGOING_TRANSFER_EXAMPLE,
  PLANNED_TRANSFER_EXAMPLE,
  TRANSFER_WITH_BENEFICIARY_EXAMPLE,
} from './examples.ts';
import { recallOutgoingTransferRoute } from './recalls.ts';
import {
  outgoingTransferShown,
  outgoingTransferWait,
  plannedTransferShown,
  postTransferWorkflow,
  shownTransferWithBeneficiary,
} from './schemas.ts';
import { settleStraightThrough } from './straight-through.ts';

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
      'An internal transfer that can settle immediately is settled before the response, which shows it as created. Every other transfer is processed afterwards. With `workflow.dryRun` nothing is written, an `Idempotency-Key` stays free, and the answer has the status 200: the request is validated, its fee is calculated, and each requirement is shown with the result that it would have now.',
    tag: TAG,
    roles: ['operator'],
    workflows: { 'client.direct': postTransferWorkflow },
    response: fields({ outgoingTransfer: outgoingTransferShown }),
    dryRun: fields({ outgoingTransfer: plannedTransferShown }),
    errors: CREATION_ERRORS,
    examples: {
      requests: {
        'client.direct': {
          workflow: { dryRun: false, pricing: { sourcingMethod: 'implicit' } },
          data: { outgoingTransfer: PLANNED_TRANSFER_EXAMPLE },
        },
      },
      response: { outgoingTransfer: OUTGOING_TRANSFER_EXAMPLE },
      dryRun: { outgoingTransfer: DRY_RUN_EXAMPLE },
    },
  },
  async (context) => {
    const { outgoingTransfer, pricing: terms } = context.body.data;
    const { dryRun, pricing } = context.body.workflow;
    const { configuration } = context.services;
    const fee = feeMinor(outgoingTransfer, { pricing, terms }, configuration.prices);
    if (dryRun === true) return planTransfer(context, fee);
    const isSettledAtOnce = isStraightThrough(configuration, outgoingTransfer);
    const settled = isSettledAtOnce ? await settleStraightThrough(context, fee) : null;
    return settled ?? makeTransfer(context, fee);
  },
);

const postOutgoingTransferBatch = route(
  {
    method: 'POST',
    path: '/outgoing-transfers/batch',
    operationId: 'createOutgoingTransferBatch',
    summary: 'Send money in a batch of transfers',
    description:
      'With `workflow.mode` `each`, the default, each transfer is created or rejected on its own, in the order of the items. With `all`, the first rejection rejects the batch with 422 and nothing is created. An item’s `reference` is its idempotency key for 30 days, among the references of its machine user: a batch that is sent again creates only the missing transfers and returns the first results for the others. `workflow.pricing` applies to every item.',
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
      'Send exactly one of `status`, `requirementConfiguration` and `returned`. `released` and `completed` accept `serviceProviderId` and `serviceProviderReference`, `failed` and `returned` accept `statusReason`. The response to an authorization shows the transfer as authorized and `pending`, even if processing has already moved it on. A repeated report returns the current transfer; a contradictory one is rejected with 409.',
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
      response: { outgoingTransfer: { ...TRANSFER_WITH_BENEFICIARY_EXAMPLE, status: 'cancelled', waitingFor: null } },
    },
  },
  async (context) => context.change(requestedChange(context), changedTransferOf(context.params.id)),
);

const getOutgoingTransfer = route(
  {
    method: 'GET',
    path: '/outgoing-transfers/{id}',
    operationId: 'getOutgoingTransfer',
    summary: 'Get an outgoing transfer',
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
    summary: 'List outgoing transfers in order of creation',
    tag: TAG,
    paged: true,
    query: {
      'data.outgoingTransfer.status': optional(named('OutgoingTransferStatus', picklist(OUTGOING_TRANSFER_STATUSES))),
      'data.outgoingTransfer.waitingFor': optional(outgoingTransferWait),
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
        waitingFor: query['data.outgoingTransfer.waitingFor'],
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
