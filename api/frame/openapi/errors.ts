import { ERROR_CODES, type ErrorCode, type MessageParameters } from '../../../domain/frame/errors.ts';
import { ERROR_STATUS } from '../errors.ts';
import type { Contract } from '../route.ts';
import type { JsonSchema, ResponseObject } from './openapi.ts';

const PROBLEM_PROPERTIES = {
  timestamp: { type: 'string', description: 'UTC, with fractional seconds' },
  message: { type: 'string' },
  code: { type: 'string', enum: Object.keys(ERROR_STATUS) },
  messageParameters: { type: 'array', items: { type: 'string' }, minItems: 3, maxItems: 3 },
} as const;

const PROBLEM_REQUIRED = ['timestamp', 'message', 'code', 'messageParameters'];

/** The body of every refusal (specification 7). */
export const ERROR_SCHEMA: JsonSchema = {
  type: 'object',
  required: PROBLEM_REQUIRED,
  properties: {
    ...PROBLEM_PROPERTIES,
    errors: {
      type: 'array',
      description: 'The other problems of the same request',
      items: {
        type: 'object',
        required: PROBLEM_REQUIRED,
        properties: PROBLEM_PROPERTIES,
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
};

/** Codes that any route can return, by the frame's step that produces them. */
function errorCodesOf(contract: Contract): ErrorCode[] {
  const codes: ErrorCode[] = [
    'common.validation.field_invalid',
    'common.validation.field_unexpected',
    'common.security.unauthenticated',
    'common.security.access_denied',
    'common.rate.limited',
    'common.internal.error',
    'common.dependency.unavailable',
  ];
  if (contract.workflows !== undefined) codes.push('common.validation.field_required', 'common.workflow.unknown_code');
  if (contract.method === 'POST') codes.push('common.idempotency.key_reused', 'common.idempotency.in_progress');
  if (contract.params !== undefined || contract.workflows !== undefined) {
    codes.push('common.coding.internal.record_not_found');
  }
  return [...new Set([...codes, ...(contract.errors ?? [])])];
}

/** The refusals of a route, by status. */
export function errorResponses(contract: Contract): Record<string, ResponseObject> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorCodesOf(contract)) {
    const status = ERROR_STATUS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  if (contract.workflows !== undefined) {
    byStatus.set(413, ['common.validation.limit_exceeded']);
    byStatus.set(415, ['common.validation.field_invalid']);
  }
  const responses: Record<string, ResponseObject> = {};
  for (const [status, codes] of byStatus) {
    responses[String(status)] = {
      description: codes.join(', '),
      ...(status === 429 || status === 503 ? { headers: { 'Retry-After': { schema: { type: 'integer' } } } } : {}),
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Error' },
          examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
        },
      },
    };
  }
  return responses;
}

const ID = '0197b2a4-6f0e-7cc3-9d55-0d6b1c1f2a11';

/** What each code means to a caller. */
const EXAMPLES: Readonly<Record<ErrorCode, readonly [message: string, messageParameters: MessageParameters]>> = {
  'common.coding.internal.record_not_found': ['No account with this id exists.', ['account', 'id', ID]],
  'common.validation.field_required': ['data.account.currency is required.', ['account', 'currency', '']],
  'common.validation.field_invalid': [
    'data.account.currency must be an active ISO 4217 currency code.',
    ['account', 'currency', 'XXX'],
  ],
  'common.validation.field_unexpected': [
    'data.account.status is not a field that can be sent here.',
    ['account', 'status', 'active'],
  ],
  'common.validation.mutually_exclusive': ['Send one of the two fields.', ['client', 'relations', '']],
  'common.validation.limit_exceeded': [
    'data.client.relations must have at most 10 items.',
    ['client', 'relations', '[…]'],
  ],
  'common.workflow.unknown_code': [
    'workflow.code must be one of the codes of this path.',
    ['workflow', 'code', 'other'],
  ],
  'common.idempotency.key_reused': [
    'This Idempotency-Key was used with another body.',
    ['header', 'Idempotency-Key', 'order-17'],
  ],
  'common.idempotency.in_progress': [
    'The first request with this Idempotency-Key is still under way.',
    ['header', 'Idempotency-Key', 'order-17'],
  ],
  'common.security.unauthenticated': [
    'A valid bearer token of an active machine user is required.',
    ['header', 'Authorization', ''],
  ],
  'common.security.access_denied': ['This needs one of the roles operator.', ['machineUser', 'roles', 'viewer']],
  'common.rate.limited': ['Too many requests: retry in 1 s.', ['machineUser', 'requests', '']],
  'common.state.illegal_transition': ['The account is closed and stays so.', ['account', 'status', 'active']],
  'common.dependency.unavailable': ['The database is not available. Nothing was done.', ['service', 'database', '']],
  'common.internal.error': ['The service failed to answer this request.', ['service', '', '']],
  'account.balance.insufficient': [
    'The available balance does not cover the amount and its fee.',
    ['outgoingTransfer', 'amount', '100'],
  ],
  'account.status.not_active': ['The account is not active.', ['account', 'status', 'suspended']],
  'account.currency.mismatch': ['The account is in another currency.', ['account', 'currency', 'EUR']],
  'account.close.not_empty': ['The account still holds money.', ['account', 'status', 'closed']],
  'account.client.mismatch': ['The account belongs to another client.', ['account', 'clientId', ID]],
  'account.method.mismatch': ['The account is not managed by its caller.', ['account', 'id', ID]],
  'client.status.not_active': ['The client is suspended.', ['outgoingTransfer', 'clientId', ID]],
  'client.close.not_empty': ['The client has an open account.', ['client', 'status', 'closed']],
  'transfer.client.mismatch': ['The beneficiary belongs to another client.', ['outgoingTransfer', 'clientId', ID]],
  'transfer.scheme.unavailable': [
    'The scheme is not offered for this account.',
    ['outgoingTransfer', 'scheme', 'chaps'],
  ],
  'transfer.amount.limit_exceeded': [
    'The amount is above what the scheme carries.',
    ['outgoingTransfer', 'amount', '1000000'],
  ],
  'transfer.date.invalid': ['The transfer date is in the past.', ['outgoingTransfer', 'transferDate', '2026-03-01']],
  'transfer.roll.limit_exceeded': [
    'The transfer was moved to a later day too often.',
    ['outgoingTransfer', 'rollCount', '5'],
  ],
  'transfer.attribute.invalid': [
    'The scheme attribute is missing or wrong.',
    ['outgoingTransfer', 'schemeAttributes.trade-time', ''],
  ],
  'beneficiary.bank_account.not_active': [
    'The bank account is inactive.',
    ['outgoingTransfer', 'destination.beneficiaryBankAccountId', ID],
  ],
  'beneficiary.bank_account.update_not_allowed': [
    'Bank accounts are changed at their own path.',
    ['beneficiary', 'bankAccounts', ''],
  ],
  'compliance.external.not_enabled': [
    'Compliance checks are not managed by the caller.',
    ['complianceCheck', 'procedureResult', ''],
  ],
  'consent.status.invalid': ['The consent is not in a state for this action.', ['consent', 'status', 'revoked']],
  'connect.offer.unavailable': ['No provider offers JPY in FR.', ['account', 'currency', 'JPY']],
  'connect.provider.unavailable': ['The provider does not answer.', ['connect', 'serviceProvider', 'sandbox-bank']],
  'connect.resource.not_found': ['The provider knows no such resource.', ['connect', 'sourceId', 'A-17']],
  'connect.resource.invalid': [
    'The data of sandbox-bank cannot be imported: data.client.profile.residentialAddress is required.',
    ['client', 'profile.residentialAddress', ''],
  ],
  'connect.client.not_connected': ['The provider does not know the client.', ['beneficiary', 'clientId', ID]],
  'connect.client.mismatch': ['It belongs to another client of the provider.', ['beneficiary', 'clientId', ID]],
  'connect.method.type_mismatch': ['The method plug-in needs the type explicit.', ['connect', 'type', 'implicit']],
};

/** For `#/components/examples`. */
export const ERROR_EXAMPLES: Readonly<Record<string, { readonly value: unknown }>> = Object.fromEntries(
  ERROR_CODES.map((code) => {
    const [message, messageParameters] = EXAMPLES[code];
    return [code, { value: { timestamp: '2026-03-02T09:30:00.123', message, code, messageParameters } }];
  }),
);
