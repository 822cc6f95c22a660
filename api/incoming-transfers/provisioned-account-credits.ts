import * as v from 'valibot';
import { decideReport, recordReport } from '../../db/incoming-transfers/arrivals.ts';
import {
  findProvisionedAccountCredit,
  listProvisionedAccountCredits,
} from '../../db/incoming-transfers/provisioned-account-credit-reads.ts';
import { reportCredit } from '../../db/incoming-transfers/provisioned-account-credits.ts';
import { recordNotFound } from '../../domain/common/errors.ts';
import type { AccountId, ClientId, ProvisionedAccountCreditId } from '../../domain/common/ids.ts';
import { SENDER_INFORMATION_LENGTH_MAX, SHOWN_NAME_LENGTH_MAX } from '../../domain/common/parties/names.ts';
import type { ReportedCredit } from '../../domain/incoming-transfers/arrivals.ts';
import {
  type ProvisionedAccountCredit,
  presentProvisionedAccountCredit,
} from '../../domain/incoming-transfers/provisioned-account-credits.ts';
import { claimedKey } from '../http/requests/idempotency.ts';
import { route } from '../http/route.ts';
import { rejectConflicts } from '../http/schemas/cross-checks.ts';
import { named } from '../http/schemas/named.ts';
import { addressSent, addressShown, partyName } from '../http/schemas/parties.ts';
import {
  amount,
  amountText,
  country,
  currency,
  fields,
  list,
  map,
  moneyFields,
  nullable,
  optional,
  pattern,
  picklist,
  text,
  uuid,
} from '../http/schemas/schemas.ts';
import { partyAccountShown } from '../outgoing-transfers/schemas.ts';

const TAG = 'Provisioned account credits';
const SCHEME_CODE = /^[a-z0-9-]{1,40}$/;

/** A payer's bank account as the caller knows it: only its shape is checked. */
const senderAccountSent = v.pipe(
  named(
    'SenderBankAccount',
    fields({
      accountHolderName: optional(partyName()),
      alias: optional(text(140)),
      ledgerNumber: optional(text(34)),
      accountNumber: optional(text(34)),
      iban: optional(text(34)),
      country: optional(country()),
      currency: optional(currency()),
      routingCodes: optional(map(SCHEME_CODE, text(34), 20)),
    }),
  ),
  v.transform((sent) => ({
    accountHolderName: sent.accountHolderName ?? null,
    alias: sent.alias ?? null,
    ledgerNumber: sent.ledgerNumber ?? null,
    accountNumber: sent.accountNumber ?? null,
    iban: sent.iban ?? null,
    country: sent.country ?? null,
    currency: sent.currency ?? null,
    routingCodes: sent.routingCodes ?? null,
  })),
);

const creditSent = v.pipe(
  named(
    'ProvisionedAccountCredit',
    moneyFields({
      clientId: optional(uuid<ClientId>()),
      accountId: uuid<AccountId>(),
      amount: amount(),
      currency: currency(),
      scope: picklist(['internal', 'external']),
      scheme: optional(pattern(SCHEME_CODE, 'a scheme code')),
      senderBankAccount: optional(senderAccountSent),
      senderName: optional(partyName()),
      senderAddress: optional(addressSent),
      senderToReceiverInformation: optional(text(140)),
      serviceProviderId: optional(text(140)),
    }),
  ),
  rejectConflicts(({ scope, scheme }) => {
    if (scope === 'external' && scheme === undefined) {
      const message = 'common.validation.field_required: is required for an external credit';
      return [{ path: ['scheme'], value: scheme, message }];
    }
    if (scope !== 'internal' || scheme === undefined) return [];
    return [{ path: ['scheme'], value: scheme, message: 'must be null for an internal credit' }];
  }),
);

const creditShown = named(
  'ProvisionedAccountCredit',
  fields({
    id: uuid(),
    clientId: nullable(uuid()),
    accountId: nullable(uuid()),
    amount: amount(),
    currency: currency(),
    scope: picklist(['internal', 'external']),
    scheme: nullable(text(40)),
    senderBankAccount: nullable(partyAccountShown),
    senderName: nullable(text(SHOWN_NAME_LENGTH_MAX)),
    senderAddress: nullable(addressShown),
    senderToReceiverInformation: nullable(text(SENDER_INFORMATION_LENGTH_MAX)),
    serviceProviderId: nullable(text(140)),
    serviceProvider: text(64),
    receiverAccount: nullable(partyAccountShown),
  }),
);

const CREDIT_SENT_EXAMPLE = {
  accountId: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b02',
  amount: 250,
  currency: 'GBP',
  scope: 'external',
  scheme: 'faster-payments',
  senderName: 'Grace Hopper',
  senderToReceiverInformation: 'Invoice 2026-118',
  serviceProviderId: 'custom-000001',
};

const CREDIT_EXAMPLE = {
  ...CREDIT_SENT_EXAMPLE,
  id: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b07',
  clientId: '0199c4a0-5b1e-7c3a-9d42-0c2f6f3a1b01',
  senderBankAccount: null,
  senderAddress: null,
  serviceProvider: 'custom-bank',
  receiverAccount: {
    accountHolderName: 'Ada Lovelace',
    alias: 'GBP Account',
    ledgerNumber: '0000000000195',
    accountNumber: null,
    iban: null,
    country: 'GB',
    currency: 'GBP',
    routingCodes: null,
  },
};

const postCredit = route(
  {
    method: 'POST',
    path: '/provisioned-account-credits',
    operationId: 'createProvisionedAccountCredit',
    summary: 'Report money that arrived on a plug-in account',
    description:
      'Creates the credit and its incoming transfer. A repeated `serviceProviderId` with the same content returns the first credit with 200; with different content it is rejected with 409.',
    tag: TAG,
    roles: ['operator'],
    workflows: { 'client.direct': { data: fields({ provisionedAccountCredit: creditSent }) } },
    response: fields({ provisionedAccountCredit: creditShown }),
    errors: [
      'common.coding.internal.record_not_found',
      'account.client.mismatch',
      'account.currency.mismatch',
      'account.method.mismatch',
      'common.idempotency.key_reused',
    ],
    examples: {
      requests: { 'client.direct': { data: { provisionedAccountCredit: CREDIT_SENT_EXAMPLE } } },
      response: { provisionedAccountCredit: CREDIT_EXAMPLE },
    },
  },
  async ({ body, initiator, services, idempotency, render, transaction }) => {
    const { database, configuration } = services;
    const reported = reportedBy(body.data.provisionedAccountCredit);
    const decided = await decideReport(database, reported, configuration);
    if (decided !== null) {
      const answer = render(answerWith(decided.credit, 201));
      if (await recordReport(database, decided, initiator, claimedKey(idempotency, answer))) return answer;
    }
    return transaction(async (tx) => {
      const { credit, repeated } = await reportCredit(tx, reported, initiator, configuration);
      return answerWith(credit, repeated ? 200 : 201);
    });
  },
);

function reportedBy(sent: v.InferOutput<typeof creditSent>): ReportedCredit {
  return {
    clientId: sent.clientId ?? null,
    accountId: sent.accountId,
    amountMinor: sent.amountMinor,
    currency: sent.currency,
    scope: sent.scope,
    scheme: sent.scheme ?? null,
    senderBankAccount: sent.senderBankAccount ?? null,
    senderName: sent.senderName ?? null,
    senderAddress: sent.senderAddress ?? null,
    senderToReceiverInformation: sent.senderToReceiverInformation ?? null,
    serviceProviderId: sent.serviceProviderId ?? null,
  };
}

function answerWith(credit: ProvisionedAccountCredit, status: 200 | 201) {
  return { status, data: { provisionedAccountCredit: presentProvisionedAccountCredit(credit) } };
}

const getCredit = route(
  {
    method: 'GET',
    path: '/provisioned-account-credits/{id}',
    operationId: 'getProvisionedAccountCredit',
    summary: 'Get a provisioned account credit',
    tag: TAG,
    params: { id: uuid<ProvisionedAccountCreditId>() },
    response: fields({ provisionedAccountCredit: creditShown }),
    errors: ['common.coding.internal.record_not_found'],
    examples: { response: { provisionedAccountCredit: CREDIT_EXAMPLE } },
  },
  async ({ params, services }) => {
    const credit = await findProvisionedAccountCredit(services.database.reader, params.id);
    if (credit === null) throw recordNotFound('provisionedAccountCredit', 'id', params.id);
    return { data: { provisionedAccountCredit: credit } };
  },
);

const getCredits = route(
  {
    method: 'GET',
    path: '/provisioned-account-credits',
    operationId: 'listProvisionedAccountCredits',
    summary: 'List provisioned account credits in order of creation',
    tag: TAG,
    paged: true,
    query: {
      'data.provisionedAccountCredit.accountId': optional(uuid<AccountId>()),
      'data.provisionedAccountCredit.currency': optional(currency()),
      'data.provisionedAccountCredit.amountFrom': optional(amountText()),
      'data.provisionedAccountCredit.amountTo': optional(amountText()),
    },
    response: fields({ provisionedAccountCredits: list(creditShown, 0, 100) }),
    examples: { response: { provisionedAccountCredits: [CREDIT_EXAMPLE] } },
  },
  async ({ query, page, services }) => {
    const found = await listProvisionedAccountCredits(
      services.database.reader,
      {
        accountId: query['data.provisionedAccountCredit.accountId'],
        currency: query['data.provisionedAccountCredit.currency'],
        amountFrom: query['data.provisionedAccountCredit.amountFrom'],
        amountTo: query['data.provisionedAccountCredit.amountTo'],
      },
      page,
    );
    return { data: { provisionedAccountCredits: [...found.rows] }, totalElements: found.totalElements };
  },
);

export const provisionedAccountCreditRoutes = [postCredit, getCredit, getCredits];
