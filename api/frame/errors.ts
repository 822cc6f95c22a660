import { CallerGone, DatabaseUnavailable, LockTimeout } from '../../db/driver/client.ts';
import { DomainError, type ErrorCode, type Problem, refusal } from '../../domain/frame/errors.ts';
import type { SecurityRefusal } from './connections/security-refusals.ts';
import { shownText } from './requests/json.ts';

/** HTTP status by error code. A new code does not compile without one. */
export const ERROR_STATUS: Readonly<Record<ErrorCode, number>> = {
  'common.coding.internal.record_not_found': 404,
  'common.validation.field_required': 400,
  'common.validation.field_invalid': 400,
  'common.validation.field_unexpected': 400,
  'common.validation.mutually_exclusive': 400,
  'common.validation.limit_exceeded': 400,
  'common.workflow.unknown_code': 400,
  'common.idempotency.key_reused': 409,
  'common.idempotency.in_progress': 409,
  'common.security.unauthenticated': 401,
  'common.security.access_denied': 403,
  'common.rate.limited': 429,
  'common.state.illegal_transition': 409,
  'common.dependency.unavailable': 503,
  'common.internal.error': 500,
  'account.balance.insufficient': 422,
  'account.status.not_active': 422,
  'account.currency.mismatch': 422,
  'account.close.not_empty': 422,
  'account.client.mismatch': 422,
  'account.method.mismatch': 422,
  'account.sub_account.nested': 422,
  'client.status.not_active': 422,
  'client.close.not_empty': 422,
  'user.authentication.failed': 422,
  'user.password.not_set': 422,
  'transfer.client.mismatch': 422,
  'transfer.recall.unavailable': 422,
  'transfer.scheme.unavailable': 422,
  'transfer.amount.limit_exceeded': 422,
  'transfer.date.invalid': 400,
  'transfer.roll.limit_exceeded': 422,
  'transfer.attribute.invalid': 400,
  'beneficiary.bank_account.not_active': 422,
  'beneficiary.bank_account.update_not_allowed': 400,
  'compliance.external.not_enabled': 403,
  'consent.status.invalid': 409,
  'consent.content.mismatch': 422,
  'consent.country.not_supported': 422,
  'consent.accounts.limit_exceeded': 422,
  'user.status.not_active': 422,
  'user.client_relation.not_allowed': 422,
  'third_party_provider.status.not_active': 422,
  'third_party_provider.redirect_uri.not_registered': 422,
  'connect.offer.unavailable': 422,
  'connect.provider.unavailable': 503,
  'connect.resource.not_found': 404,
  'connect.resource.invalid': 422,
  'connect.client.not_connected': 422,
  'connect.client.mismatch': 422,
  'connect.method.type_mismatch': 400,
};

/** Retry-After in seconds while a required system is unavailable. */
export const RETRY_AFTER_SECONDS = 2;

/** Proxies' status for a caller that hangs up before the answer. */
export const CLIENT_CLOSED_REQUEST = 499;

/** The commit was under way: the work was done before this answer, and repeating the request shows it. */
const OUTCOME_UNKNOWN =
  'The database did not answer in time, so it is unknown whether the request took effect. Repeat it with the same Idempotency-Key to find out.';

/** A refusal with an HTTP status of its own: 404 for a path, 405, 413, 415. */
export class HttpRefusal extends DomainError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** For the security log, where code and route do not tell. */
  readonly security: SecurityRefusal | null;

  constructor(
    status: number,
    problems: Problem | readonly [Problem, ...Problem[]],
    headers: Readonly<Record<string, string>> = {},
    security: SecurityRefusal | null = null,
  ) {
    super('code' in problems ? [problems] : problems);
    this.name = 'HttpRefusal';
    this.status = status;
    this.headers = headers;
    this.security = security;
  }
}

/** The answer to an error that a handler or the frame threw. */
export interface ErrorAnswer {
  readonly status: number;
  readonly body: string;
  /** Of the first problem. */
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
  /** True for faults of the service, which the log must record. */
  readonly internal: boolean;
}

export function answerError(error: unknown, now: Date): ErrorAnswer {
  if (error instanceof HttpRefusal) {
    const { status, problems, headers } = error;
    return { status, body: errorBody(problems, now), message: problems[0].message, headers, internal: false };
  }
  if (error instanceof DomainError) {
    return {
      status: ERROR_STATUS[error.code],
      body: errorBody(error.problems, now),
      message: error.problems[0].message,
      headers: headersOf(error.code),
      internal: false,
    };
  }
  if (error instanceof DatabaseUnavailable || error instanceof LockTimeout) {
    const isUnknown = error instanceof DatabaseUnavailable && error.outcome === 'unknown';
    const away = refusal(
      'common.dependency.unavailable',
      ['service', 'database', ''],
      isUnknown ? OUTCOME_UNKNOWN : 'The database is not available. Nothing was done.',
    );
    return { ...answerError(away, now), internal: true };
  }
  // For log and metrics only; the caller is gone.
  if (error instanceof CallerGone)
    return { status: CLIENT_CLOSED_REQUEST, body: '', message: '', headers: {}, internal: false };
  const fault = refusal('common.internal.error', ['service', '', ''], 'The service failed to answer this request.');
  return { ...answerError(fault, now), internal: true };
}

function headersOf(code: ErrorCode): Record<string, string> {
  if (ERROR_STATUS[code] === 503) return { 'retry-after': String(RETRY_AFTER_SECONDS) };
  if (code === 'common.security.unauthenticated') return { 'www-authenticate': 'Bearer' };
  return {};
}

export function errorBody(problems: readonly [Problem, ...Problem[]], now: Date): string {
  return JSON.stringify(showError(problems, now));
}

/** Specification 7: the first problem is the error, `errors` lists the rest. */
export function showError(problems: readonly [Problem, ...Problem[]], now: Date) {
  const timestamp = now.toISOString().slice(0, 23);
  const shape = ({ message, code, messageParameters: [entity, field, value] }: Problem) => ({
    timestamp,
    message,
    code,
    messageParameters: [entity, field, shownText(value)],
  });
  const [first, ...rest] = problems;
  return rest.length === 0 ? shape(first) : { ...shape(first), errors: rest.map(shape) };
}
