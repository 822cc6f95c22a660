import { isDeepStrictEqual } from 'node:util';
import { ERROR_CODES, type ErrorCode } from '../../../domain/frame/errors.ts';
import { ERROR_STATUS } from '../errors.ts';
import type { Contract } from '../route.ts';
import type { Components } from './components.ts';
import type { Described, ResponseObject } from './openapi.ts';

/** The refusals of a route, by status; those that many routes share are components. */
export function errorResponses(contract: Contract, components: Components): Record<string, Described> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorCodesOf(contract)) {
    const status = ERROR_STATUS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  if (contract.workflows !== undefined) {
    byStatus.set(408, ['common.validation.field_invalid']);
    byStatus.set(413, ['common.validation.limit_exceeded']);
    byStatus.set(415, ['common.validation.field_invalid']);
  }
  const responses = [...byStatus].map(([status, codes]): [string, Described] => {
    const shared = SHARED_REFUSALS.find(
      (refusal) => refusal.status === status && isDeepStrictEqual(refusal.codes, codes),
    );
    const response = errorResponse(status, codes);
    return [String(status), shared === undefined ? response : components.add('responses', shared.name, response)];
  });
  return Object.fromEntries(responses);
}

interface SharedRefusal {
  readonly name: string;
  readonly status: number;
  readonly codes: readonly ErrorCode[];
}

const QUERY_CODES = ['common.validation.field_invalid', 'common.validation.field_unexpected'] as const;
const BODY_CODES = [...QUERY_CODES, 'common.validation.field_required', 'common.workflow.unknown_code'] as const;
const KEY_CODES = ['common.idempotency.key_reused', 'common.idempotency.in_progress'] as const;

/** Statuses that have the same codes on many routes; any other set of codes stands with its operation. */
const SHARED_REFUSALS: readonly SharedRefusal[] = [
  { name: 'InvalidQuery', status: 400, codes: QUERY_CODES },
  { name: 'InvalidBody', status: 400, codes: BODY_CODES },
  { name: 'Unauthenticated', status: 401, codes: ['common.security.unauthenticated'] },
  { name: 'AccessDenied', status: 403, codes: ['common.security.access_denied'] },
  { name: 'NotFound', status: 404, codes: ['common.coding.internal.record_not_found'] },
  { name: 'KeyTaken', status: 409, codes: KEY_CODES },
  { name: 'IllegalTransition', status: 409, codes: ['common.state.illegal_transition'] },
  { name: 'Conflict', status: 409, codes: [...KEY_CODES, 'common.state.illegal_transition'] },
  { name: 'TooSlow', status: 408, codes: ['common.validation.field_invalid'] },
  { name: 'TooLarge', status: 413, codes: ['common.validation.limit_exceeded'] },
  { name: 'WrongMediaType', status: 415, codes: ['common.validation.field_invalid'] },
  { name: 'RateLimited', status: 429, codes: ['common.rate.limited'] },
  { name: 'InternalError', status: 500, codes: ['common.internal.error'] },
  { name: 'Unavailable', status: 503, codes: ['common.dependency.unavailable'] },
];

function errorResponse(status: number, codes: readonly ErrorCode[]): ResponseObject {
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    ...(status === 429 || status === 503 ? { headers: { 'Retry-After': { schema: { type: 'integer' } } } } : {}),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
}

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

/** The body of every refusal (specification 7). */
export function addErrorSchemas(components: Components): void {
  components.add('schemas', 'ErrorCode', { type: 'string', description: catalogue(), enum: ERROR_CODES });
  const problem = components.add('schemas', 'Problem', {
    type: 'object',
    required: PROBLEM_REQUIRED,
    properties: PROBLEM_PROPERTIES,
  });
  const errors = { type: 'array', description: 'The other problems of the same request', items: problem };
  const error = components.add('schemas', 'Error', {
    type: 'object',
    required: PROBLEM_REQUIRED,
    properties: { ...PROBLEM_PROPERTIES, errors },
  });
  components.addExample(error, {
    timestamp: '2026-03-02T09:30:00.123',
    message: MESSAGES['common.validation.field_invalid'],
    code: 'common.validation.field_invalid',
    messageParameters: ['account', 'currency', 'XXX'],
  });
}

const PROBLEM_REQUIRED = ['timestamp', 'message', 'code', 'messageParameters'];

const PROBLEM_PROPERTIES = {
  timestamp: { type: 'string', description: 'UTC, with fractional seconds' },
  message: { type: 'string' },
  code: { $ref: '#/components/schemas/ErrorCode' },
  messageParameters: {
    type: 'array',
    description: 'The entity, its field, and the value at fault',
    items: { type: 'string' },
    minItems: 3,
    maxItems: 3,
  },
} as const;

/** All codes with their status and an example of a message, once for the whole document. */
function catalogue(): string {
  const rows = ERROR_CODES.map((code) => `| \`${code}\` | ${ERROR_STATUS[code]} | ${MESSAGES[code]} |`);
  return ['| Code | Status | For example |', '|---|---|---|', ...rows].join('\n');
}

/** What each code means to a caller, by an example. */
const MESSAGES: Readonly<Record<ErrorCode, string>> = {
  'common.coding.internal.record_not_found': 'No account with this id exists.',
  'common.validation.field_required': 'data.account.currency is required.',
  'common.validation.field_invalid': 'data.account.currency must be an active ISO 4217 currency code.',
  'common.validation.field_unexpected': 'data.account.status is not a field that can be sent here.',
  'common.validation.mutually_exclusive': 'Send one of the two fields.',
  'common.validation.limit_exceeded': 'data.client.relations must have at most 10 items.',
  'common.workflow.unknown_code': 'workflow.code must be one of the codes of this path.',
  'common.idempotency.key_reused': 'This Idempotency-Key was used with another request.',
  'common.idempotency.in_progress': 'The first request with this Idempotency-Key is still under way.',
  'common.security.unauthenticated': 'A valid bearer token of an active machine user is required.',
  'common.security.access_denied': 'This needs one of the roles operator.',
  'common.rate.limited': 'Too many requests: retry in 1 s.',
  'common.state.illegal_transition': 'The account is closed and stays so.',
  'common.dependency.unavailable': 'The database is not available. Nothing was done.',
  'common.internal.error': 'The service failed to answer this request.',
  'account.balance.insufficient': 'The available balance does not cover the amount and its fee.',
  'account.status.not_active': 'The account is not active.',
  'account.currency.mismatch': 'The account is in another currency.',
  'account.close.not_empty': 'The account still holds money.',
  'account.client.mismatch': 'The account belongs to another client.',
  'account.method.mismatch': 'The account is not managed by its caller.',
  'account.sub_account.nested': 'A sub-account cannot have sub-accounts.',
  'client.status.not_active': 'The client is suspended.',
  'client.close.not_empty': 'The client has an open account.',
  'user.authentication.failed': 'No active user has this e-mail address and this password.',
  'user.password.not_set': 'The user has no password: an invitation sets the first one.',
  'transfer.client.mismatch': 'The beneficiary belongs to another client.',
  'transfer.recall.unavailable': 'The provider of the transfer takes no recalls.',
  'transfer.scheme.unavailable': 'The scheme is not offered for this account.',
  'transfer.amount.limit_exceeded': 'The amount is above what the scheme carries.',
  'transfer.date.invalid': 'The transfer date is in the past.',
  'transfer.roll.limit_exceeded': 'The transfer was moved to a later day too often.',
  'transfer.attribute.invalid': 'The scheme attribute is missing or wrong.',
  'beneficiary.bank_account.not_active': 'The bank account is inactive.',
  'beneficiary.bank_account.update_not_allowed': 'Bank accounts are changed at their own path.',
  'compliance.external.not_enabled': 'Compliance checks are not managed by the caller.',
  'consent.status.invalid': 'The consent is not in a state for this action.',
  'consent.content.mismatch': 'data.payment.instructedAmount is not what the account holder has consented to.',
  'consent.country.not_supported': 'Open banking consents exist in GB alone.',
  'consent.accounts.limit_exceeded': 'A payment is made from exactly one account.',
  'user.status.not_active': 'The user is not active.',
  'user.client_relation.not_allowed': 'The user has no allowed relation to the client of this account.',
  'third_party_provider.status.not_active': 'The third-party provider is not active.',
  'third_party_provider.redirect_uri.not_registered':
    'The redirect address of the request is no longer one that the third-party provider has registered.',
  'connect.offer.unavailable': 'No provider offers JPY in FR.',
  'connect.provider.unavailable': 'The provider does not answer.',
  'connect.resource.not_found': 'The provider knows no such resource.',
  'connect.resource.invalid':
    'The data of sandbox-bank cannot be imported: data.client.profile.residentialAddress is required.',
  'connect.client.not_connected': 'The provider does not know the client.',
  'connect.client.mismatch': 'It belongs to another client of the provider.',
  'connect.method.type_mismatch': 'The method plug-in needs the type explicit.',
};
