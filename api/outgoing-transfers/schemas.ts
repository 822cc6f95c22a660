import * as v from 'valibot';
import type {
  AccountId,
  BeneficiaryBankAccountId,
  BeneficiaryVerificationId,
  ClientId,
  TransferReasonId,
} from '../../domain/common/ids.ts';
import { SHOWN_NAME_LENGTH_MAX } from '../../domain/common/parties/names.ts';
import { OUTGOING_TRANSFER_STATUSES, OUTGOING_TRANSFER_WAITS } from '../../domain/outgoing-transfers/statuses.ts';
import { routingCodesShown } from '../accounts/schemas.ts';
import { type FieldConflict, isSent, rejectConflicts, type Sent } from '../http/schemas/cross-checks.ts';
import { named } from '../http/schemas/named.ts';
import { oneOf } from '../http/schemas/one-of.ts';
import { paymentReferenceShown } from '../http/schemas/payment-references.ts';
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
import { dataPricing, pricingContradictions, termsConflicts, workflowPricing } from './pricing.ts';

/** Free text sent with a payment: the length that most schemes carry. */
const DESCRIPTION_LENGTH_MAX = 140;
const SCHEME_CODE = /^[a-z0-9-]{1,40}$/;
/** The longest of all scheme attributes. */
const ATTRIBUTE_LENGTH_MAX = 128;
/** Text that is invalid in general has the same error code as text that is invalid for its attribute. */
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

const VERIFICATION_DESCRIPTION =
  'The verification whose result the payer saw before the decision to pay this account. The audit log keeps who paid after which result.';

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
      beneficiaryVerificationId: v.pipe(
        optional(uuid<BeneficiaryVerificationId>()),
        v.description(VERIFICATION_DESCRIPTION),
      ),
    }),
  ),
  rejectConflicts(conflictsIn),
);

function conflictsIn(sent: Sent): FieldConflict[] {
  const { scope, scheme, schemeAttributes, beneficiaryVerificationId, source: from, destination: to } = sent;
  if (scope !== 'internal' && scope !== 'external') return [];
  const internal = scope === 'internal';
  const found: FieldConflict[] = [];
  if (internal && scheme !== undefined) found.push(blame('scheme', scheme, 'must be null for an internal transfer'));
  if (!internal && scheme === undefined) {
    found.push(blame('scheme', scheme, 'common.validation.field_required: is required for an external transfer'));
  }
  const type = isSent(to) ? to.type : undefined;
  if (type === (internal ? 'beneficiary-bank-account' : 'client-account')) {
    found.push(blame('destination', to, `must be a ${internal ? 'client-account' : 'beneficiary-bank-account'}`));
  }
  const isSame = isSent(to) && isSent(from) && typeof to.accountId === 'string' && to.accountId === from.accountId;
  if (isSame) found.push(blame('destination', to, 'must be a different account than the source'));
  if (internal && isSent(schemeAttributes) && Object.keys(schemeAttributes).length > 0) {
    found.push(blame('schemeAttributes', schemeAttributes, 'is allowed only for external transfers'));
  }
  if (internal && beneficiaryVerificationId !== undefined) {
    const message = 'is allowed only for external transfers';
    found.push(blame('beneficiaryVerificationId', beneficiaryVerificationId, message));
  }
  return found;
}

function blame(key: string, value: unknown, message: string): FieldConflict {
  return { path: [key], value, message };
}

export const postTransferWorkflow = {
  workflow: { dryRun: optional(boolean()), pricing: optional(workflowPricing) },
  data: v.pipe(
    fields({ outgoingTransfer: requestedTransfer, pricing: optional(dataPricing) }),
    rejectConflicts(termsConflicts),
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

const requirementConfiguration = named(
  'RequirementConfiguration',
  fields({
    transferDateStatus: picklist(checked),
    complianceCheckStatus: picklist([...checked, 'not-required']),
    balanceCheckStatus: picklist(checked),
    authorizationStatus: picklist([...checked, 'not-required']),
  }),
);

/** What a dry run shows: the transfer that would be created, which has no id, number or status. */
export const plannedTransferShown = named(
  'PlannedOutgoingTransfer',
  fields({ ...plannedShown, requirementConfiguration }),
);

/** A transfer as POST shows it. */
export const outgoingTransferShown = named(
  'CreatedOutgoingTransfer',
  fields({
    id: uuid(),
    transactionNumber: text(15),
    paymentReference: paymentReferenceShown,
    status: named('OutgoingTransferStatus', picklist(OUTGOING_TRANSFER_STATUSES)),
    statusReason: nullable(statusReasonShown),
    ...plannedShown,
    returned: boolean(),
    incomingTransferId: nullable(uuid()),
    serviceProviderId: nullable(text(140)),
    serviceProviderReference: nullable(text(140)),
    requirementConfiguration,
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

/** Snapshots of other resources, stored with the transfer. */
const kept = v.pipe(
  v.custom<Readonly<Record<string, unknown>>>(
    (value) => typeof value === 'object' && value !== null,
    'must be an object',
  ),
  hint<Readonly<Record<string, unknown>>>({ type: 'object' }),
);

const RETURNED_DESCRIPTION =
  'For a return to a payer: the incoming transfer whose money, all or a part, goes back. Such a transfer has no beneficiary’s bank account, and `beneficiary` is the payer.';

/** As events show it: as it was, without what holds only now. */
export const outgoingTransferOfEvents = named(
  'OutgoingTransferOfEvents',
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
    returnedIncomingTransferId: v.pipe(nullable(uuid()), v.description(RETURNED_DESCRIPTION)),
    returnReason: nullable(statusReasonShown),
  }),
);

export const outgoingTransferWait = named('OutgoingTransferWait', picklist(OUTGOING_TRANSFER_WAITS));

const RETURNING_DESCRIPTION =
  'The incoming transfers by which a returned payment came back, oldest first: one for each part. Each names the payment in `returnedOutgoingTransferId`.';
/** A part is at least one minor unit, but no bank returns a payment in this many. */
const PARTS_MAX = 1_000;

export const shownTransferWithBeneficiary = named(
  'OutgoingTransfer',
  fields({
    ...outgoingTransferOfEvents.entries,
    waitingFor: nullable(outgoingTransferWait),
    returningIncomingTransferIds: v.pipe(list(uuid(), 0, PARTS_MAX), v.description(RETURNING_DESCRIPTION)),
  }),
);
