import { isDeepStrictEqual } from 'node:util';
import { ERROR_EXPLANATIONS } from '../../domain/common/error-explanations.ts';
import { ERROR_CODES, type ErrorCode } from '../../domain/common/errors.ts';
import { ERROR_STATUS, helpLink } from '../http/errors.ts';
import type { Contract } from '../http/route.ts';
import type { Components } from './components.ts';
import type { Described, ResponseObject } from './document.ts';

/** The rejections of a route by status; rejections that many routes share are components. */
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
    const shared = SHARED_REJECTIONS.find(
      (rejection) => rejection.status === status && isDeepStrictEqual(rejection.codes, codes),
    );
    const response = errorResponse(status, codes, components);
    return [String(status), shared === undefined ? response : components.add('responses', shared.name, response)];
  });
  return Object.fromEntries(responses);
}

interface SharedRejection {
  readonly name: string;
  readonly status: number;
  readonly codes: readonly ErrorCode[];
}

const QUERY_CODES = ['common.validation.field_invalid', 'common.validation.field_unexpected'] as const;
const BODY_CODES = [...QUERY_CODES, 'common.validation.field_required', 'common.workflow.unknown_code'] as const;
const KEY_CODES = ['common.idempotency.key_reused', 'common.idempotency.in_progress'] as const;

/** Statuses that have the same codes on many routes; any other set of codes is listed at its operation. */
const SHARED_REJECTIONS: readonly SharedRejection[] = [
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

function errorResponse(status: number, codes: readonly ErrorCode[], components: Components): ResponseObject {
  const isTemporary = status === 429 || status === 503;
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    headers: {
      Link: components.add('headers', 'ErrorPage', ERROR_PAGE),
      ...(isTemporary ? { 'Retry-After': { schema: { type: 'integer' } } } : {}),
    },
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
}

const ERROR_PAGE = {
  description: 'The page of the code: what happened, and what to do',
  schema: { type: 'string', examples: [helpLink('common.validation.field_invalid').link] },
};

/** Codes that any route can return, in the order of the steps that produce them. */
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

/** The body of every rejection (specification 7). */
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
    message: ERROR_EXPLANATIONS['common.validation.field_invalid'].example,
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
    description: 'The entity, its field, and the invalid value',
    items: { type: 'string' },
    minItems: 3,
    maxItems: 3,
  },
} as const;

/** All codes with their status and an example of a message, once for the whole document. */
function catalogue(): string {
  const rows = ERROR_CODES.map(
    (code) => `| \`${code}\` | ${ERROR_STATUS[code]} | ${ERROR_EXPLANATIONS[code].example} |`,
  );
  return ['| Code | Status | For example |', '|---|---|---|', ...rows].join('\n');
}
