import type { ErrorCodes } from './generated/contract.ts';
import type { ErrorCode } from './generated/types.ts';

/** What went wrong on this side of the service. */
export type ClientErrorCode =
  | 'client.token.failed'
  | 'client.connection.failed'
  | 'client.deadline.exceeded'
  | 'client.aborted'
  | 'client.answer.invalid'
  | 'client.answer.inexact'
  | 'client.wait.failed';

/** One reason of a rejection. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  /** The entity, its field, and the invalid value. */
  readonly messageParameters: readonly string[];
}

interface ErrorDetails<Code> {
  readonly code: Code;
  readonly message: string;
  readonly operation: string;
  /** Of a list, which page could not be read. */
  readonly place?: string | undefined;
  readonly status?: number | undefined;
  readonly requestId?: string | null | undefined;
  readonly problems?: readonly Problem[];
  readonly idempotencyKey?: string | undefined;
  readonly help?: string | undefined;
  readonly isOutcomeUnknown?: boolean;
  readonly retryAfterMs?: number | null;
  readonly cause?: unknown;
}

/** Why a call failed: the service rejected it, or no answer came. */
export class ApiError<Code extends string = ErrorCode | ClientErrorCode> extends Error {
  override readonly name = 'ApiError';
  readonly code: Code;
  /** The operation's id in the OpenAPI document. */
  readonly operation: string;
  /** Null if no answer came. */
  readonly status: number | null;
  /** By which the service's operator finds it. */
  readonly requestId: string | null;
  /** All reasons of a rejection, the first first. */
  readonly problems: readonly Problem[];
  /** Repeat a write under it to learn its outcome, or to have its effect after all: there is one effect only. */
  readonly idempotencyKey: string | null;
  /** The path of the service's page on the code. */
  readonly help: string | null;
  /** Whether a write may have taken effect all the same. Under its key it may be sent again; without one, look first. */
  readonly isOutcomeUnknown: boolean;
  /** For how long the service wants no such request; null if it said nothing. */
  readonly retryAfterMs: number | null;

  constructor(details: ErrorDetails<Code>) {
    const { code, message, operation, place, status, requestId, problems, idempotencyKey, help, cause } = details;
    const where = place === undefined ? '' : ` ${place}`;
    const answered = status === undefined ? '' : ` with ${status}`;
    const request = requestId == null ? '' : ` (request ${requestId})`;
    super(
      `${operation} failed${where}${answered}, ${code}: ${message}${request}`,
      cause === undefined ? {} : { cause },
    );
    this.code = code;
    this.operation = operation;
    this.status = status ?? null;
    this.requestId = requestId ?? null;
    this.problems = problems ?? [];
    this.idempotencyKey = idempotencyKey ?? null;
    this.help = help ?? null;
    this.isOutcomeUnknown = details.isOutcomeUnknown ?? false;
    this.retryAfterMs = details.retryAfterMs ?? null;
  }
}

/**
 * Whether the service rejected this operation; `code` is then one of its codes, as far as this release knows them:
 * `if (isRejection(error, 'createOutgoingTransfer') && error.code === 'account.balance.insufficient') …`
 */
export function isRejection<Operation extends keyof ErrorCodes>(
  error: unknown,
  operation: Operation,
): error is ApiError<ErrorCodes[Operation]> {
  return error instanceof ApiError && error.operation === operation && !error.code.startsWith('client.');
}
