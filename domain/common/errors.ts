/**
 * Every way to reject a request, as one closed union. api/ maps each code to its HTTP status in one exhaustive table, so a
 * new code does not compile without a status.
 */
export const ERROR_CODES = [
  'common.coding.internal.record_not_found',
  'common.validation.field_required',
  'common.validation.field_invalid',
  'common.validation.field_unexpected',
  'common.validation.mutually_exclusive',
  'common.validation.limit_exceeded',
  'common.workflow.unknown_code',
  'common.idempotency.key_reused',
  'common.idempotency.in_progress',
  'common.security.unauthenticated',
  'common.security.access_denied',
  'common.rate.limited',
  'common.state.illegal_transition',
  'common.dependency.unavailable',
  'common.internal.error',
  'account.balance.insufficient',
  'account.status.not_active',
  'account.currency.mismatch',
  'account.close.not_empty',
  'account.client.mismatch',
  'account.method.mismatch',
  'account.sub_account.nested',
  'client.status.not_active',
  'client.close.not_empty',
  'user.authentication.failed',
  'user.password.not_set',
  'transfer.client.mismatch',
  'transfer.recall.unavailable',
  'transfer.scheme.unavailable',
  'transfer.amount.limit_exceeded',
  'transfer.date.invalid',
  'transfer.roll.limit_exceeded',
  'transfer.attribute.invalid',
  'beneficiary.bank_account.not_active',
  'beneficiary.bank_account.update_not_allowed',
  'compliance.external.not_enabled',
  'consent.status.invalid',
  'consent.content.mismatch',
  'consent.country.not_supported',
  'consent.accounts.limit_exceeded',
  'user.status.not_active',
  'user.client_relation.not_allowed',
  'third_party_provider.status.not_active',
  'third_party_provider.redirect_uri.not_registered',
  'connect.offer.unavailable',
  'connect.provider.unavailable',
  'connect.resource.not_found',
  'connect.resource.invalid',
  'connect.client.not_connected',
  'connect.client.mismatch',
  'connect.method.type_mismatch',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** Entity label, field name and offending value (specification 7). The value is never a secret. */
export type MessageParameters = readonly [entity: string, field: string, value: string];

export interface Problem {
  readonly code: ErrorCode;
  readonly message: string;
  readonly messageParameters: MessageParameters;
}

/** A rejection that the caller sees. `problems[0]` is the error; the others are listed with it. */
export class DomainError extends Error {
  readonly problems: readonly [Problem, ...Problem[]];

  constructor(problems: readonly [Problem, ...Problem[]]) {
    super(`${problems[0].code}: ${problems[0].message}`);
    this.name = 'DomainError';
    this.problems = problems;
  }

  get code(): ErrorCode {
    return this.problems[0].code;
  }
}

/** A rejection for a single problem. */
export function rejection(code: ErrorCode, messageParameters: MessageParameters, message: string): DomainError {
  return new DomainError([{ code, message, messageParameters }]);
}

export function recordNotFound(entity: string, field: string, value: string): DomainError {
  return rejection(
    'common.coding.internal.record_not_found',
    [entity, field, value],
    field === 'id' ? `No ${entity} with id ${value} exists.` : `${entity}.${field}: ${value} does not exist.`,
  );
}

/** What a log may hold of an error: its type and stack. A driver's message can quote a statement's values, which may be personal data. */
export function withoutValues(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, stack = '', cause } = error;
  const lines = stack.split('\n').filter((line) => line.startsWith('    at '));
  return {
    type: name,
    ...('code' in error && typeof error.code === 'string' ? { code: error.code } : {}),
    stack: lines.slice(0, 12).join('\n'),
    ...(cause === undefined ? {} : { cause: withoutValues(cause) }),
  };
}
