import * as v from 'valibot';
import type { AccountId, BeneficiaryBankAccountId, ClientId, TransferReasonId } from '../../domain/frame/ids.ts';
import { SHOWN_NAME_LENGTH_MAX } from '../../domain/frame/parties/names.ts';
import { OUTGOING_TRANSFER_STATUSES } from '../../domain/outgoing-transfers/outgoing-transfers.ts';
import { routingCodesShown } from '../accounts/schemas.ts';
import { oneOf } from '../frame/schemas/alternatives.ts';
import { crossCheck, type Disagreement, isSent, type Sent } from '../frame/schemas/cross-checks.ts';
import { named } from '../frame/schemas/named.ts';
import { paymentReferenceShown } from '../frame/schemas/payment-references.ts';
import {
  amount,
  boolean,
  country,
  currency,
  date,
  dateTime,
  fields,
  hint,
  integer,
  map,
  moneyFields,
  nullable,
  optional,
  pattern,
  picklist,
  text,
  uuid,
} from '../frame/schemas/schemas.ts';
import { dataPricing, pricingContradictions, termsDisagreements, workflowPricing } from './pricing.ts';

/** Free text sent with a payment: the length that most schemes carry. */
const DESCRIPTION_LENGTH_MAX = 140;
const SCHEME_CODE = /^[a-z0-9-]{1,40}$/;
/** The longest of all scheme attributes. */
const ATTRIBUTE_LENGTH_MAX = 128;
/** Refused by the same code as text that is wrong for its own attribute. */
const attributeSent = text(ATTRIBUTE_LENGTH_MAX, 'transfer.attribute.invalid: ');
const ATTRIBUTES_MAX = 20;

const source = named('TransferSource', fields({ type: picklist(['client-account']), accountId: uuid<AccountId>() }));

const destination = named(
  'TransferDestination',
  oneOf(
    'type',
    [
      named('ClientAccountDestination', fields({ type: v.literal('client-account'), accountId: uuid<AccountId>() })),
      named(
        'BeneficiaryBankAccountDestination',
        fields({
          type: v.literal('beneficiary-bank-account'),
          beneficiaryBankAccountId: uuid<BeneficiaryBankAccountId>(),
        }),
      ),
    ],
    'type client-account or beneficiary-bank-account',
  ),
);

const requestedTransfer = v.pipe(
  named(
    'OutgoingTransfer',
    moneyFields({
      clientId: uuid<ClientId>(),
      transferDate: optional(date()),
      currency: currency(),
      amount: amount(),
      scope: picklist(['internal', 'external']),
      scheme: optional(pattern(SCHEME_CODE, 'a scheme code')),
      description: optional(text(DESCRIPTION_LENGTH_MAX)),
      transferReasonId: optional(uuid<TransferReasonId>()),
      transferCustomReason: optional(text(DESCRIPTION_LENGTH_MAX)),
      source,
      destination,
      schemeAttributes: optional(map(SCHEME_CODE, attributeSent, ATTRIBUTES_MAX)),
    }),
  ),
  crossCheck(disagreementsOf),
);

function disagreementsOf({ scope, scheme, schemeAttributes, source: from, destination: to }: Sent): Disagreement[] {
  if (scope !== 'internal' && scope !== 'external') return [];
  const internal = scope === 'internal';
  const found: Disagreement[] = [];
  if (internal && scheme !== undefined) found.push(blame('scheme', scheme, 'must be null for an internal transfer'));
  if (!internal && scheme === undefined) {
    found.push(blame('scheme', scheme, 'common.validation.field_required: is required for an external transfer'));
  }
  const type = isSent(to) ? to.type : undefined;
  if (type === (internal ? 'beneficiary-bank-account' : 'client-account')) {
    found.push(blame('destination', to, `must be a ${internal ? 'client-account' : 'beneficiary-bank-account'}`));
  }
  const isSame = isSent(to) && isSent(from) && typeof to.accountId === 'string' && to.accountId === from.accountId;
  if (isSame) found.push(blame('destination', to, 'must be another account than the source'));
  if (internal && isSent(schemeAttributes) && Object.keys(schemeAttributes).length > 0) {
    found.push(blame('schemeAttributes', schemeAttributes, 'belongs to external transfers'));
  }
  return found;
}

function blame(key: string, value: unknown, message: string): Disagreement {
  return { path: [key], value, message };
}

export const postTransferWorkflow = {
  workflow: { dryRun: optional(boolean()), pricing: optional(workflowPricing) },
  data: v.pipe(
    fields({ outgoingTransfer: requestedTransfer, pricing: optional(dataPricing) }),
    crossCheck(termsDisagreements),
  ),
  across: ({ pricing }: Sent, data: Sent) => pricingContradictions(pricing, data.pricing),
};

export type PostedTransfer = v.InferOutput<typeof requestedTransfer>;

const checked = ['not-checked', 'fulfilled', 'not-fulfilled'] as const;

const plannedShown = {
  clientId: uuid(),
  transferDate: date(),
  originalTransferDate: date(),
  rollCount: integer(0, 1_000),
  cutOffDateTime: nullable(dateTime()),
  currency: currency(),
  amount: amount(),
  feeCurrency: currency(),
  feeAmount: amount(),
  totalAmount: amount(),
  description: nullable(text(DESCRIPTION_LENGTH_MAX)),
  transferReasonId: nullable(uuid()),
  transferCustomReason: nullable(text(DESCRIPTION_LENGTH_MAX)),
  scope: picklist(['internal', 'external']),
  scheme: nullable(pattern(SCHEME_CODE, 'a scheme code')),
  ownerType: picklist(['client']),
  source,
  destination: named(
    'TransferDestination',
    v.variant('type', [
      named('ClientAccountDestination', fields({ type: v.literal('client-account'), accountId: uuid() })),
      named(
        'BeneficiaryBankAccountDestination',
        fields({
          type: v.literal('beneficiary-bank-account'),
          beneficiaryBankAccountId: nullable(uuid()),
          beneficiaryId: nullable(uuid()),
        }),
      ),
    ]),
  ),
};

/** Why a transfer failed, was returned or is held. */
export const statusReasonShown = named('StatusReason', fields({ code: text(140), message: text(200) }));

/** A transfer as a POST shows it; a dry run omits fields that it does not have. */
export const outgoingTransferShown = named(
  'CreatedOutgoingTransfer',
  fields({
    id: optional(uuid()),
    transactionNumber: optional(text(15)),
    paymentReference: optional(paymentReferenceShown),
    status: optional(named('OutgoingTransferStatus', picklist(OUTGOING_TRANSFER_STATUSES))),
    statusReason: optional(nullable(statusReasonShown)),
    ...plannedShown,
    returned: optional(boolean()),
    incomingTransferId: optional(nullable(uuid())),
    serviceProviderId: optional(nullable(text(140))),
    serviceProviderReference: optional(nullable(text(140))),
    requirementConfiguration: named(
      'RequirementConfiguration',
      fields({
        transferDateStatus: picklist(checked),
        complianceCheckStatus: picklist([...checked, 'not-required']),
        balanceCheckStatus: picklist(checked),
        authorizationStatus: picklist([...checked, 'not-required']),
      }),
    ),
  }),
);

/** A bank account of a party (specification 2.1). */
export const partyAccountShown = named(
  'PartyAccount',
  fields({
    accountHolderName: nullable(text(SHOWN_NAME_LENGTH_MAX)),
    alias: nullable(text(140)),
    ledgerNumber: nullable(text(34)),
    accountNumber: nullable(text(34)),
    iban: nullable(text(34)),
    country: nullable(country()),
    currency: nullable(currency()),
    routingCodes: routingCodesShown,
  }),
);

/** Other resources, as stored with the transfer. */
const kept = v.pipe(
  v.custom<Readonly<Record<string, unknown>>>(
    (value) => typeof value === 'object' && value !== null,
    'must be an object',
  ),
  hint<Readonly<Record<string, unknown>>>({ type: 'object' }),
);

export const shownTransferWithBeneficiary = named(
  'OutgoingTransfer',
  fields({
    ...outgoingTransferShown.entries,
    beneficiary: nullable(
      named(
        'OutgoingTransferBeneficiary',
        fields({
          fullName: text(SHOWN_NAME_LENGTH_MAX),
          identity: nullable(kept),
          address: nullable(kept),
          account: nullable(partyAccountShown),
          title: nullable(text(140)),
        }),
      ),
    ),
  }),
);
