import { BENEFICIARY_EVENT_TYPES } from '../beneficiaries/beneficiaries.ts';
import { CONSENT_EVENT_TYPES } from '../open-banking/consents.ts';
import { USER_EVENT_TYPES } from '../users/users.ts';

/** The events of specification 6, which a subscription without filters receives. */
export const SPECIFIED_EVENT_TYPES = {
  'incoming-transfers': [
    'incoming-transfer-pending',
    'incoming-transfer-compliance-in-review',
    'incoming-transfer-completed',
    'incoming-transfer-failed',
  ],
  'outgoing-transfers': [
    'outgoing-transfer-created',
    'outgoing-transfer-compliance-in-review',
    'outgoing-transfer-processing',
    'outgoing-transfer-released',
    'outgoing-transfer-completed',
    'outgoing-transfer-cancelled',
    'outgoing-transfer-failed',
    'outgoing-transfer-returned',
  ],
  accounts: [
    'account-activated',
    'account-inactivated',
    'account-suspended',
    'account-closed',
    'account-declined',
    'account-information-updated',
    'connection-creation-instructed',
    'connection-created',
    'connection-creation-failed',
    'connection-update-instructed',
    'connection-updated',
    'connection-update-failed',
  ],
  clients: ['created', 'connection-created'],
} as const;

/** Events beyond the specification, for subscriptions that name the type, or a module that is not in the specification. */
export const FURTHER_EVENT_TYPES = {
  'incoming-transfers': ['incoming-transfer-on-hold'],
  'outgoing-transfers': ['outgoing-transfer-recall-rejected'],
  clients: ['status-changed'],
  'open-banking-consents': CONSENT_EVENT_TYPES,
  users: USER_EVENT_TYPES,
  beneficiaries: BENEFICIARY_EVENT_TYPES,
} as const;

const BOTH = [SPECIFIED_EVENT_TYPES, FURTHER_EVENT_TYPES];

export const WEBHOOK_TYPES: readonly string[] = [...new Set(BOTH.flatMap((types) => Object.values(types).flat()))];

export const WEBHOOK_MODULES: readonly string[] = [...new Set(BOTH.flatMap((types) => Object.keys(types)))];

/** `paused` holds deliveries for later; `disabled` creates none, and the service itself may also set it. */
export const WEBHOOK_SUBSCRIPTION_STATUSES = ['active', 'paused', 'disabled'] as const;

/** Why the service disabled a subscription: a 410, or days of failures only. */
export const WEBHOOK_STATUS_REASONS = ['gone', 'failing'] as const;

export const WEBHOOK_DELIVERY_STATUSES = ['pending', 'succeeded', 'failed'] as const;
