import { CallerGone, DatabaseUnavailable, LockTimeout } from '../../db/postgres/failures.ts';
import { DomainError, type ErrorCode, type Problem, rejection } from '../../domain/common/errors.ts';
import type { SecurityRejection } from './connections/security-rejections.ts';
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

/** The commit was in progress. If it succeeded, repeating the request returns the result. */
const OUTCOME_UNKNOWN =
  'The database did not answer in time, so it is unknown whether the request took effect. Repeat it with the same Idempotency-Key to find out.';

/** A rejection with an HTTP status of its own: 404 for a path, 405, 413, 415. */
export class HttpRejection extends DomainError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** For the security log, if code and route are not specific enough. */
  readonly security: SecurityRejection | null;

  constructor(
    status: number,
    problems: Problem | readonly [Problem, ...Problem[]],
    headers: Readonly<Record<string, string>> = {},
    security: SecurityRejection | null = null,
  ) {
    super('code' in problems ? [problems] : problems);
    this.name = 'HttpRejection';
    this.status = status;
    this.headers = headers;
    this.security = security;
  }
}

/** The answer to an error that was thrown while handling a request. */
export interface ErrorAnswer {
  readonly status: number;
  /** Of the first problem; null if no caller is left to read it. */
  readonly code: ErrorCode | null;
  readonly body: string;
  /** Of the first problem. */
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
  /** True for faults of the service, which the log must record. */
  readonly internal: boolean;
}

/** How a path with its own error format shows a rejection or fault. */
export type ErrorBodyOf = (answer: Pick<ErrorAnswer, 'status' | 'message'>) => string;

export function answerError(error: unknown, now: Date): ErrorAnswer {
  if (error instanceof HttpRejection) {
    const { status, code, problems, headers } = error;
    return { status, code, body: errorBody(problems, now), message: problems[0].message, headers, internal: false };
  }
  if (error instanceof DomainError) {
    return {
      status: ERROR_STATUS[error.code],
      code: error.code,
      body: errorBody(error.problems, now),
      message: error.problems[0].message,
      headers: headersOf(error.code),
      internal: false,
    };
  }
  if (error instanceof DatabaseUnavailable || error instanceof LockTimeout) {
    const isUnknown = error instanceof DatabaseUnavailable && error.outcome === 'unknown';
    const away = rejection(
      'common.dependency.unavailable',
      ['service', 'database', ''],
      isUnknown ? OUTCOME_UNKNOWN : 'The database is not available. Nothing was done.',
    );
    return { ...answerError(away, now), internal: true };
  }
  // For log and metrics only; the caller is gone.
  if (error instanceof CallerGone)
    return { status: CLIENT_CLOSED_REQUEST, code: null, body: '', message: '', headers: {}, internal: false };
  const fault = rejection('common.internal.error', ['service', '', ''], 'The service failed to answer this request.');
  return { ...answerError(fault, now), internal: true };
}

/** The pages of the codes (api/documentation/error-pages.ts). */
export const ERROR_PAGES_PATH = '/docs/errors';

/** The header by which an answer with a code leads to the page of the code (RFC 8288). */
export function helpLink(code: ErrorCode | null): Readonly<Record<string, string>> {
  return code === null ? {} : { link: `<${ERROR_PAGES_PATH}/${code}>; rel="help"; type="text/html"` };
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
