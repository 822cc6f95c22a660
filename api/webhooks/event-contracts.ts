import type { FURTHER_EVENT_TYPES, SPECIFIED_EVENT_TYPES } from '../../domain/webhooks/subscriptions.ts';
import { accountShown } from '../accounts/schemas.ts';
import { beneficiaryShown } from '../beneficiaries/schemas.ts';
import { clientShown } from '../clients/schemas.ts';
import type { Schema } from '../http/schemas/schemas.ts';
import {
  approvedConsent,
  authorisedConsent,
  consumedConsent,
  expiredConsent,
  rejectedConsent,
  requestedConsent,
  revokedConsent,
} from '../open-banking/event-schemas.ts';
import { pascalCase } from '../openapi/bodies.ts';
import type { WebhookContract } from '../openapi/webhooks.ts';
import { userShown } from '../users/schemas.ts';
import {
  accountConnect,
  accountInCreation,
  accountInUpdate,
  accountNotCreated,
  accountOutdated,
  accountUpToDate,
  activeAccount,
  beneficiaryWithBankAccount,
  cancelledOutgoing,
  clientConnect,
  closedAccount,
  completedIncoming,
  completedOutgoing,
  complianceCheckInReview,
  declinedAccount,
  failedIncoming,
  failedOutgoing,
  heldIncoming,
  inactiveAccount,
  pendingIncoming,
  pendingOutgoing,
  pingData,
  pingMetadata,
  processingOutgoing,
  recallRejectedOutgoing,
  releasedOutgoing,
  returnedOutgoing,
  suspendedAccount,
} from './event-schemas.ts';
import { eventMetadataShown } from './events.ts';
import { TAG } from './subscription-schemas.ts';

type Types = { [Module in keyof typeof SPECIFIED_EVENT_TYPES]: (typeof SPECIFIED_EVENT_TYPES)[Module][number] };
type FurtherTypes = { [Module in keyof typeof FURTHER_EVENT_TYPES]: (typeof FURTHER_EVENT_TYPES)[Module][number] };
type TypeOf<Module> =
  | (Module extends keyof Types ? Types[Module] : never)
  | (Module extends keyof FurtherTypes ? FurtherTypes[Module] : never);

/** The resource as the type shows it, when the event occurs, and what is sent with the resource. */
type Row = readonly [
  resource: Schema<unknown, unknown>,
  summary: string,
  extra?: { readonly complianceCheck?: Schema<unknown, unknown>; readonly connect?: Schema<unknown, unknown> },
];

type Events = {
  readonly [Module in keyof Types | keyof FurtherTypes]: {
    /** The resource's key in `data`. */
    readonly resource: string;
    readonly types: Readonly<Record<TypeOf<Module>, Row>>;
  };
};

const inReview = { complianceCheck: complianceCheckInReview };
const connect = { connect: accountConnect };

const EVENTS: Events = {
  'incoming-transfers': {
    resource: 'incomingTransfer',
    types: {
      'incoming-transfer-pending': [pendingIncoming, 'Money has arrived and is not credited yet'],
      'incoming-transfer-compliance-in-review': [
        pendingIncoming,
        'The compliance check of an incoming transfer is in review',
        inReview,
      ],
      'incoming-transfer-completed': [completedIncoming, 'Money is credited'],
      'incoming-transfer-failed': [failedIncoming, 'Money is not credited and is returned to its payer'],
      'incoming-transfer-on-hold': [heldIncoming, 'Money is on hold; only for subscribers that name this type'],
    },
  },
  'outgoing-transfers': {
    resource: 'outgoingTransfer',
    types: {
      'outgoing-transfer-created': [pendingOutgoing, 'A transfer is accepted'],
      'outgoing-transfer-compliance-in-review': [
        pendingOutgoing,
        'The compliance check of an outgoing transfer is in review',
        inReview,
      ],
      'outgoing-transfer-processing': [processingOutgoing, 'All requirements are met; the money is reserved'],
      'outgoing-transfer-released': [releasedOutgoing, 'The transfer has been sent and cannot be cancelled'],
      'outgoing-transfer-completed': [completedOutgoing, 'The money has arrived'],
      'outgoing-transfer-cancelled': [cancelledOutgoing, 'The transfer is cancelled before its release'],
      'outgoing-transfer-failed': [failedOutgoing, 'The transfer has failed; the money is available again'],
      'outgoing-transfer-returned': [returnedOutgoing, 'The bank of the beneficiary has sent the money back'],
      'outgoing-transfer-recall-rejected': [
        recallRejectedOutgoing,
        'The bank of the beneficiary has rejected a recall; only for subscribers that name this type',
      ],
    },
  },
  accounts: {
    resource: 'account',
    types: {
      'account-activated': [activeAccount, 'An account is active', connect],
      'account-inactivated': [inactiveAccount, 'An account is inactive', connect],
      'account-suspended': [suspendedAccount, 'An account is suspended', connect],
      'account-closed': [closedAccount, 'An account is closed permanently', connect],
      'account-declined': [declinedAccount, 'An account is declined permanently', connect],
      'account-information-updated': [
        accountShown,
        'The alias, country or bank details of an account have changed',
        connect,
      ],
      'connection-creation-instructed': [accountInCreation, 'An account is to be opened at its provider', connect],
      'connection-created': [accountUpToDate, 'The provider has opened the account', connect],
      'connection-creation-failed': [accountNotCreated, 'The provider has not opened the account', connect],
      'connection-update-instructed': [accountInUpdate, 'The provider has been asked to change the account', connect],
      'connection-updated': [accountUpToDate, 'The provider has changed the account', connect],
      'connection-update-failed': [accountOutdated, 'The provider has not changed the account', connect],
    },
  },
  clients: {
    resource: 'client',
    types: {
      created: [clientShown, 'A client is created'],
      'connection-created': [clientShown, 'A client is known to a provider', { connect: clientConnect }],
      'status-changed': [clientShown, 'The status of a client has changed; only for subscribers that name this type'],
    },
  },
  'open-banking-consents': {
    resource: 'consent',
    types: {
      'consent-requested': [requestedConsent, 'A third party has requested a consent'],
      'consent-approved': [
        approvedConsent,
        'The account holder has approved the consent; its code has not been exchanged yet',
      ],
      'consent-authorised': [authorisedConsent, 'The third party has exchanged its code for access'],
      'consent-rejected': [rejectedConsent, 'The account holder has rejected the consent'],
      'consent-revoked': [
        revokedConsent,
        'The consent is revoked, by a caller or because something that it depends on has ended',
      ],
      'consent-expired': [expiredConsent, 'The request, the code or the grant was not used in time'],
      'consent-consumed': [consumedConsent, 'The payment is instructed'],
    },
  },
  users: {
    resource: 'user',
    types: {
      'user-created': [userShown, 'A user is created'],
      'user-updated': [userShown, 'A user is changed'],
    },
  },
  beneficiaries: {
    resource: 'beneficiary',
    types: {
      'beneficiary-created': [beneficiaryShown, 'A beneficiary is created'],
      'beneficiary-updated': [beneficiaryShown, 'A beneficiary is changed'],
      'beneficiary-bank-account-created': [
        beneficiaryWithBankAccount,
        'A bank account has been added to a beneficiary',
      ],
      'beneficiary-bank-account-updated': [beneficiaryWithBankAccount, 'A bank account of a beneficiary is changed'],
    },
  },
};

const PING: WebhookContract = {
  module: 'webhook-subscriptions',
  type: 'ping',
  name: 'Ping',
  summary: 'A test that an administrator requested; not an event',
  tag: TAG,
  data: pingData,
  metadata: pingMetadata,
};

/** Everything that the service sends to receivers. */
export const WEBHOOKS: readonly WebhookContract[] = [
  ...Object.entries(EVENTS).flatMap(([module, { resource, types }]) =>
    Object.entries<Row>(types).map((row) => contractOf(module, resource, row)),
  ),
  PING,
];

function contractOf(module: string, resource: string, [type, row]: [string, Row]): WebhookContract {
  const [shown, summary, extra = {}] = row;
  const { complianceCheck, connect: container } = extra;
  const isTransfer = module.endsWith('-transfers');
  return {
    module,
    type,
    name: nameOf(resource, type),
    summary,
    tag: TAG,
    data: { [resource]: shown, ...(complianceCheck === undefined ? {} : { complianceCheck }) },
    ...(container === undefined ? {} : { connect: container }),
    metadata: eventMetadataShown,
    ...(isTransfer && complianceCheck === undefined ? { never: ['complianceCheck'] } : {}),
  };
}

/** `AccountActivated`, `AccountConnectionCreated`, `ClientCreated`. */
function nameOf(resource: string, type: string): string {
  const [name, own] = [pascalCase(type), pascalCase(resource.replaceAll(/[A-Z]/g, '-$&'))];
  return name.startsWith(own) ? name : `${own}${name}`;
}
